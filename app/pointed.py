"""What the reader points at on the traces: a span that is selected, or the place of the cursor, in the recording."""

from __future__ import annotations

from viewers.trace_view import TraceView


def selected_span(traces: TraceView, duration: float) -> tuple[float, float] | None:
    """Onset and end of the selection in seconds, as exact as pixels are and no longer than a recording of `duration`.

    None where nothing is selected, or nothing of the recording.
    """
    selection = traces.canvas.selection
    if selection is None:
        return None
    onset = max(0.0, traces.editor.rounded(selection.start))
    stop = min(duration, traces.editor.rounded(selection.stop))
    return (onset, stop) if onset < stop else None


def pointed_place(traces: TraceView, duration: float) -> tuple[float, int | None] | None:
    """Time in seconds and row of the cursor, be it moved by the mouse or by keys; None where it is on no signal."""
    place = traces.keys.place()
    if place is None or traces.rows is None or not 0 <= place[0] <= duration:
        return None
    return min(duration, traces.editor.rounded(place[0])), place[1]


def looked_at(traces: TraceView) -> float | None:
    """The time on the page that the reader is at: where the chosen mark begins, else of the selection or the cursor.

    None where none of them is on the page.
    """
    window, mark, selection = traces.canvas.scale_px.window, traces.editor.selected, traces.canvas.selection
    if mark is not None and mark.onset <= window.stop and mark.stop >= window.start:
        return max(window.start, mark.onset)
    if selection is not None and selection.start < window.stop and selection.stop > window.start:
        return (max(window.start, selection.start) + min(window.stop, selection.stop)) / 2
    place = traces.keys.place()
    return place[0] if place is not None and window.start <= place[0] <= window.stop else None
