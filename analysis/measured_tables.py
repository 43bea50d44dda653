"""What was measured, as tab-separated text for a spreadsheet, headed by what it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.contact_layout import ContactLayout
from analysis.results import AnalysisResult
from analysis.scalp_maps import Topography
from analysis.span_spectra import Curve, SpanSpectrogram, SpanSpectrum
from analysis.spectra import BANDS, Band, alpha_peak, band_power, dominant_peak, reach

TOTAL = Band("total", BANDS[0].low, BANDS[-1].high)


def provenance_line(result: AnalysisResult, more: str = "") -> str:
    """One line that says which recording, span, montage and filter a result was made from."""
    request = result.request
    parts = [f"recording {request.recording_id}"]
    if request.window is not None:
        parts.append(f"span {request.window.start:.3f} to {request.window.stop:.3f} s")
    parts += [f"montage {request.montage}", *(f"{name} {value}" for name, value in request.options.items())]
    parts += [more] if more else []
    return f"# {request.kind}: {'; '.join(parts)}; cerebroscope {result.software_version}, {result.created}"


def band_rows(curve: Curve) -> list[tuple[Band, float | None, float | None, float]]:
    """Bands of a curve: power in squared units, its share of all bands together, and how far up it was recorded.

    None for a band that lies above what was recorded. The share is that of 0.5 to 80 Hz, or to where the signal ends.
    """
    top = float(curve.frequencies[-1])
    whole = float(band_power(curve.frequencies, curve.power, TOTAL))
    rows: list[tuple[Band, float | None, float | None, float]] = []
    for band in BANDS:
        high = reach(band, top)
        power = float(band_power(curve.frequencies, curve.power, band)) if high else None
        share = power / whole if power is not None and whole > 0 else None
        rows.append((band, power, share, high))
    return rows


def spectrum_table(result: SpanSpectrum, curves: Sequence[Curve]) -> str:
    """Band powers and the whole density of each curve."""
    window = f"Hann windows of {result.segments.length / result.sfreq:g} s, half overlapping"
    lines = [provenance_line(result, f"{window}, {max(c.count for c in curves)} averaged")]
    lines += [f"# {curve.rows}: mean of {', '.join(curve.ch_names)}" for curve in curves]
    unit = curves[0].unit
    heads = [f"{curve.rows} {what}" for curve in curves for what in (f"({unit}^2)", "(share)")]
    lines.append(_line(["band", "low (Hz)", "high (Hz)", *heads]))
    tables = [band_rows(curve) for curve in curves]
    for rows in zip(*tables, strict=True):
        band = rows[0][0]
        values = [value for row in rows for value in row[1:3]]
        lines.append(_line([band.name, band.low, rows[0][3] or band.high, *values]))
    for title, peak_of in (("dominant 1-30 Hz (Hz)", dominant_peak), ("peak alpha (Hz)", alpha_peak)):
        peaks = [peak_of(curve.frequencies, curve.power) for curve in curves]
        lines.append(_line([title, "", "", *(cell for peak in peaks for cell in (peak, None))]))
    lines += ["", _line(["frequency (Hz)", *(f"{curve.rows} ({unit}^2/Hz)" for curve in curves)])]
    shortest = min(curves, key=lambda curve: curve.frequencies.size)
    for i, frequency in enumerate(shortest.frequencies):
        lines.append(_line([frequency, *(curve.power[i] for curve in curves)]))
    return "\n".join(lines) + "\n"


def spectrogram_table(result: SpanSpectrogram) -> str:
    """Density at each time (rows) and frequency (columns)."""
    lines = [provenance_line(result, f"Hann windows of {result.seconds:g} s; mean of {', '.join(result.ch_names)}")]
    lines.append(_line([f"time (s) \\ frequency (Hz), {result.unit}^2/Hz", *result.frequencies]))
    lines += [_line([f"{time:.4f}", *row]) for time, row in zip(result.times, result.power, strict=True)]
    return "\n".join(lines) + "\n"


def topography_table(result: Topography, time: float | None, values: np.ndarray) -> str:
    """Value and place of each electrode of the map on screen."""
    layout = result.layout
    assert layout is not None
    more = [f"at {time:.4f} s"] if result.samples is not None and time is not None else []
    more += [layout.source] + [f"left out {name} ({why})" for name, why in layout.left_out]
    lines = [provenance_line(result, "; ".join(more))]
    head = f"value ({result.unit.replace('²', '^2')})"
    if isinstance(layout, ContactLayout):
        lines.append(_line(["contact", head, "shaft", "number"]))
        places = {slot.index: (block.title, slot.label) for block in layout.blocks for slot in block.slots}
        rows = [(name, value, *places[i]) for i, (name, value) in enumerate(zip(layout.ch_names, values, strict=True))]
        return "\n".join([*lines, *map(_line, rows)]) + "\n"
    lines.append(_line(["electrode", head, "x", "y", "z"]))
    for name, value, place in zip(layout.ch_names, values, layout.directions, strict=True):
        lines.append(_line([name, value, *place]))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[object]) -> str:
    return "\t".join(_cell(cell) for cell in cells)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float | np.floating) and not np.isfinite(value)):
        return "n/a"
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
