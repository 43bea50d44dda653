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
