"""What a window shows, told so that it can be drawn for print: rows, marks, heat, arcs and lanes, as they are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.analyses import Analysis
from analysis.annotation import Annotation
from analysis.figures import layers
from analysis.time_words import elapsed
from app.figure_layers import KINDS_DRAWN, arcs_of, lanes_of
from app.figure_request import RANDOM_WORDS, ShownPage
from viewers.analysis_lane import LaneCurve
from viewers.heat_scales import HeatScale, above, amount, below, tints
from viewers.overlays.heat import MEAN, AnalysisHeat, HeatOverlay
from viewers.overlays.lag_arcs import LagArcs
from viewers.overlays.token_maps import TokenMaps
from viewers.rows import Rows
from viewers.theme import LIGHT

if TYPE_CHECKING:
    from app.shown_window import ShownWindow

_FLAT = 1e-6
_STOPS = 33  # of a scale of colours
_ROW_SHARE = 0.8  # of a row's room, that the range of a fitted row takes on the screen


def shown_page(window: ShownWindow, panels: Sequence[Analysis] = ()) -> ShownPage | None:
    """The page of a window, with panels of these analyses; None without a recording or before its first page."""
    from analysis.analysis_files import describe_analysis

    session, rows = window.session, window.view.trace_view.rows
    if session.recording is None or session.montage is None or rows is None:
        return None
    hidden = window.actions_by_id["hide_overlays"].isChecked()
    drawn = [] if hidden else window.analysing.drawing.drawn()
    results = [overlay.result for _, overlay, _ in drawn if overlay.result is not None]
    lanes, lane_words = _lanes(window, hidden)
    return ShownPage(
        session.window,
        rows.montage,
        session.view.filters,
        session.view.uv_per_mm,
        () if hidden else _marks(window),
        [heat for _, overlay, _ in drawn for heat in _heats(overlay)],
        lanes,
        [arcs for kind, overlay, _ in drawn for arcs in _arcs(kind, overlay)],
        row_looks(rows),
        window.is_clock_shown(),
        _foot(window, results, lane_words, [overlay for _, overlay, _ in drawn]),
        panels,
        tuple(sorted(session.bad_channels)),
        {
            "recording_id": session.recording.id,
            "analyses": [describe_analysis(result) for result in {id(r): r for r in (*results, *panels)}.values()],
            "prediction": dict(session.prediction.provenance) if session.prediction is not None else None,
        },
    )


def page_words(window: ShownWindow) -> str:
    """What an exported page holds, in a sentence for the reader."""
    session, on = window.session, window.overlay_panel.states()
    drawn = [] if window.actions_by_id["hide_overlays"].isChecked() else window.analysing.drawing.drawn()
    parts = [name for name, key in (("marks", "annotations"), ("model events", "model-events")) if on[key]]
    parts += [overlay.title for _, overlay, _ in drawn]
    with_what = f", with {', '.join(parts)}" if parts else ""
    start, stop = elapsed(session.window.start, 1), elapsed(session.window.stop, 1)
    return f"{start} to {stop} as on the screen: {session.view.montage}, {session.view.uv_per_mm:g} µV/mm{with_what}."


def row_looks(rows: Rows) -> list[layers.RowLook]:
    """Scale, sense and colour of every row, in units a millimetre."""
    bands = rows.bands()
    looks = []
    for i, name in enumerate(rows.names):
        cut = bands is not None and bool(bands[0][i] > 0.0 or bands[1][i] < rows.height)
        gain, colour, note = float(rows.gain[i]), getattr(LIGHT, rows.inks[i]), rows.notes[i]
        zero, unit = float(rows.offset[i]), rows.units[i]
        if rows.is_fitted(i):
            span = _ROW_SHARE * rows.pitch / abs(gain)
            if span <= _FLAT * max(1.0, abs(zero)):
                span, note = 0.0, ""  # nothing but rounding; it is drawn, and told, as flat
            looks.append(layers.RowLook(name, None, zero, span, unit, note, colour, cut))
        else:
            looks.append(layers.RowLook(name, -rows.px_per_mm / gain, zero, 0.0, unit, note, colour, cut))
    return looks


def _marks(window: ShownWindow) -> list[Annotation]:
    """The marks and model events of the page that are drawn."""
    session, on = window.session, window.overlay_panel.states()
    marks: list[Annotation] = [*session.marks.items] if on["annotations"] else []
    marks += window.queue.live if on["model-events"] else []
    page = session.window
    return [
        replace(mark, extras=())
        for mark in marks
        if mark.onset < page.stop and mark.stop >= page.start and mark.title not in session.hidden_types
    ]


def _heats(overlay: AnalysisHeat) -> list[layers.Heat]:
    """What an overlay draws behind the traces, in its colours and as strong as it is on the screen."""
    if overlay.heat is None:
        return []
    if isinstance(overlay, TokenMaps):
        title = overlay.heat.title
        halves = ((overlay, (0.0, 0.5)), (overlay.lower, (0.5, 1.0)))
        return [replace(_heat(part), title=title, band=band) for part, band in halves if part.heat is not None]
    return [_heat(overlay)]


def _heat(overlay: HeatOverlay) -> layers.Heat:
    heat, key = overlay.heat, overlay.key()
    assert heat is not None
    starts, stops = heat.cells()
    strength = key.strength if key is not None else overlay.state.opacity
    scale = heat.scale
    unit = ", ".join(part for part in (scale.unit, _ends(scale.low_word, scale.high_word)) if part)
    step = float(np.median(heat.widths)) if heat.widths.size else 1.0
    return layers.Heat(
        heat.ch_names, starts, step, heat.values, heat.title, unit, scale.middle, scale.low, scale.high, stops,
        colours_of(overlay), strength,
    )  # fmt: skip


def _ends(low: str, high: str) -> str:
    return f"low: {low}, high: {high}" if low and high else ""


def colours_of(overlay: HeatOverlay) -> tuple[str, ...]:
    """The colours of an overlay's scale on white paper, from its lower end up."""
    assert overlay.heat is not None
    table = tints(LIGHT, overlay.heat.scale, 1.0)
    chosen = table[np.linspace(0, len(table) - 1, _STOPS).round().astype(int)].astype(np.int64)
    alpha, parts = chosen >> 24, [(chosen >> shift) & 255 for shift in (16, 8, 0)]
    on_white = np.clip(np.stack(parts, 1) + (255 - alpha)[:, None], 0, 255)
    return tuple(f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in on_white.tolist())


def _arcs(kind: str, overlay: AnalysisHeat) -> list[layers.Arcs]:
    if overlay.result is None:
        return []
    found = arcs_of(overlay.result, _part(kind, overlay))
    return [replace(arcs, opacity=overlay.state.opacity, colours=_arc_colours(arcs, overlay)) for arcs in found]


def _arc_colours(arcs: layers.Arcs, overlay: AnalysisHeat) -> tuple[str, ...]:
    """By sign for correlations, by strength for amounts, in the colours that the reader chose."""
    state = overlay.state
    if isinstance(overlay, LagArcs):
        inks = [above if value >= 0 else below for value in arcs.values]
        return tuple(ink(LIGHT, 1.0, state.diverging).name() for ink in inks)
    shares = [min(1.0, max(0.0, arcs.share(i))) for i in range(len(arcs.values))]
    return tuple(amount(LIGHT, 1.0, state.sequential, share).name() for share in shares)


def _part(kind: str, overlay: AnalysisHeat) -> str:
    """The part that is drawn, as figures call it."""
    return "" if overlay.part == MEAN or kind not in KINDS_DRAWN else overlay.part


def _lanes(window: ShownWindow, hidden: bool) -> tuple[list[layers.Lane | layers.Shares], list[str]]:
    """The lanes that are open, and what must be said of them."""
    made: list[layers.Lane | layers.Shares] = []
    words: list[str] = []
    prediction, lane = window.session.prediction, window.view.probability_lane
    if prediction is not None and not lane.isHidden() and not lane.is_folded:
        made.append(layers.probability_lane(prediction))
        words.append(f"p(seizure): {prediction.model_title}, threshold {prediction.threshold:g}")
    for kind, overlay, shown in () if hidden else window.analysing.drawing.drawn():
        if shown is None or shown.isHidden() or shown.is_folded or overlay.result is None:
            continue
        if isinstance(shown.curve, LaneCurve):
            made.append(lane_of(shown.title, shown.curve))
        elif kind in KINDS_DRAWN:
            made += lanes_of(overlay.result, _part(kind, overlay))
    return made, words


def lane_of(title: str, curve: LaneCurve) -> layers.Lane:
    """A lane's steps, open where nothing is known."""
    starts, stops = curve.times, curve.times + curve.widths
    stops = np.append(np.minimum(stops[:-1], starts[1:]), stops[-1:])
    holes = np.append(np.flatnonzero(starts[1:] - stops[:-1] > 1e-6), len(starts) - 1)[: len(starts)]
    values = np.insert(np.asarray(curve.values, np.float64), holes + 1, np.nan)
    if len(starts):
        values[-1] = values[-2]  # so that the last step is drawn to its end
    words = f"{curve.quantity} ({curve.scale.unit})" if curve.scale.unit else curve.quantity
    scale = curve.scale
    return layers.Lane(words or title, np.insert(starts, holes + 1, stops[holes]), values, scale.low, scale.high,
                       base=scale.middle, colours=_lane_colours(scale))  # fmt: skip


def _lane_colours(scale: HeatScale) -> tuple[str, str]:
    """Below and above what the curve is filled from."""
    inks = (amount, amount) if scale.middle is None else (below, above)
    first, second = (ink(LIGHT, 1.0, scale.colours).name() for ink in inks)
    return first, second


def _foot(
    window: ShownWindow, results: Sequence[Analysis], lanes: Sequence[str], overlays: Sequence[AnalysisHeat]
) -> list[str]:
    """Methods, models and options, and what must be known of them."""
    from app.figure_words import bad_words, chosen_options, model_words, options_words

    lines = [*lanes]
    for result, overlay in zip(results, (o for o in overlays if o.result is not None), strict=True):
        part = f", {overlay.part}" if overlay.part and overlay.part != MEAN else ""
        lines.append(
            f"{overlay.title}: {result.title}, {model_words(result)}{part}"
            f"{options_words(result, chosen_options(result))}"
        )
        key = overlay.key()
        lines += [f"{overlay.title}: {key.warning}"] if key is not None and key.warning else []
    prediction = window.session.prediction
    if any(r.random_weights for r in results) or (prediction is not None and prediction.random_weights):
        lines.append(RANDOM_WORDS)
    return [*lines, *bad_words(sorted(window.session.bad_channels))]
