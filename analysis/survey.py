"""What of a recording a model can be given: the channels that are scored, and the spans without missing samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.montages.sources import MARKED_BAD
from analysis.progress import Progress
from analysis.recording import SCALP_TYPES, Channel, Recording, Window

FLAT_PEAK_TO_PEAK = 1e-3  # microvolts
MISSING_SHARE = 0.2  # a channel that lacks more than this of what the others have is left out
PROBES = 64
PROBE_SECONDS = 2.0
WHOLE_BELOW = 50_000_000  # so many values are looked at whole, instead of at PROBES places
SCAN_SECONDS = 60.0
_NAMED = 12

# Samples of these formats are whole numbers, so none can be missing but in the gaps that the header tells of.
_WHOLE_NUMBER_FORMATS = ("EDF", "BDF")


@dataclass(frozen=True)
class ScorableSpan:
    """A span without gaps or missing samples; segments are laid on a grid from `origin`, all in seconds.

    `origin` is the start of the recording or the end of the last gap, so the grid does not depend on what was selected.
    """

    start: float
    stop: float
    origin: float


@dataclass(frozen=True)
class Survey:
    """The channels to score by index, those left out with the reason, and what spans can and cannot be scored."""

    picks: tuple[int, ...]
    left_out: tuple[tuple[str, str], ...]
    spans: tuple[ScorableSpan, ...]
    not_scored: tuple[tuple[float, float, str], ...]


def leave_out(recording: Recording, names: Iterable[str]) -> None:
    """Take channels for bad, by their names, so that no survey picks them; AnalysisError for a name that none has."""
    bad = frozenset(names)
    if unknown := sorted(bad - set(recording.ch_names)):
        more = ", …" if len(recording.ch_names) > _NAMED else ""
        raise AnalysisError(
            f"no channel is called {unknown[0]!r} ({recording.path}): "
            f"choose from {', '.join(recording.ch_names[:_NAMED])}{more}"
        )
    recording.bad_channels = bad


def bad_brain_channels(recording: Recording, bad: Iterable[str] | None = None) -> list[str]:
    """Those of the bad channels (default: the recording's) that models would be given otherwise, in file order."""
    names = recording.bad_channels if bad is None else frozenset(bad)
    brain = (channel for channel in recording.channels if channel.is_brain and channel.site not in EARS)
    return [channel.name for channel in brain if channel.name in names]


def survey_recording(
    recording: Recording, region: Window, max_channels: int | None = None, progress: Progress | None = None
) -> Survey:
    """Choose channels from a look at the whole recording, and find missing samples in `region`.

    Scored are calibrated brain channels of one kind (scalp or intracranial, whichever has more) that are neither at the
    ear, nor marked bad, nor flat, nor missing, nor a second copy of the same electrode, at most `max_channels` of them
    in file order. AnalysisError when no channel remains.
    """
    progress = progress or Progress()
    left_out: dict[int, str] = {}
    candidates = _candidates(recording, left_out)
    for pick, reason in _unusable(recording, candidates, progress).items():
        left_out[pick] = reason
    picks = [pick for pick in candidates if pick not in left_out]
    if max_channels is not None:
        for pick in picks[max_channels:]:
            left_out[pick] = f"beyond the {max_channels} channels this checkpoint has rows for"
        picks = picks[:max_channels]
    names = tuple((recording.channels[pick].name, left_out[pick]) for pick in sorted(left_out))
    if not picks:
        raise AnalysisError(_nothing_to_score(recording, names))
    spans, not_scored = _find_spans(recording, region, picks, progress)
    return Survey(tuple(picks), names, spans, not_scored)


def _nothing_to_score(recording: Recording, left_out: Sequence[tuple[str, str]]) -> str:
    reasons = sorted({reason for _, reason in left_out})
    why = f"all are left out: {', '.join(reasons)}" if reasons else "it has no channels"
    return f"no channel can be scored ({recording.path}): {why}"


def _candidates(recording: Recording, left_out: dict[int, str]) -> list[int]:
    """Calibrated brain channels of the commoner kind, one for each electrode or pair."""
    brain: list[int] = []
    for pick, channel in enumerate(recording.channels):
        if channel.is_brain and channel.site in EARS:
            left_out[pick] = "at the ear, a place for references"
        elif channel.is_brain and channel.name in recording.bad_channels:
            left_out[pick] = MARKED_BAD
        elif channel.is_brain:
            brain.append(pick)
        else:
            left_out[pick] = "not calibrated" if not channel.calibrated else f"not a brain signal ({channel.type})"
    scalp = [pick for pick in brain if recording.channels[pick].type in SCALP_TYPES]
    intracranial = [pick for pick in brain if pick not in scalp]
    kept, others = (scalp, intracranial) if len(scalp) > len(intracranial) else (intracranial, scalp)
    kind = "scalp EEG beside intracranial channels" if others is scalp else "intracranial beside scalp EEG"
    left_out.update(dict.fromkeys(others, kind))
    seen: dict[tuple[object, ...], str] = {}
    single: list[int] = []
    for pick in kept:
        key = _electrode(recording.channels[pick])
        if key in seen:
            left_out[pick] = f"second copy of {seen[key]}"
        else:
            seen[key] = recording.channels[pick].name
            single.append(pick)
    return single


def _electrode(channel: Channel) -> tuple[object, ...]:
    if channel.pair is not None:
        return ("pair", channel.pair)
    if channel.site is not None:
        return ("site", channel.site, channel.reference)
    return ("label", channel.original_name.strip().casefold())


def _unusable(recording: Recording, picks: Sequence[int], progress: Progress) -> dict[int, str]:
    """Channels that are flat or missing, judged by the whole recording or by probes spread over it."""
    low = np.full(len(picks), np.inf)
    high = np.full(len(picks), -np.inf)
    present = np.zeros(len(picks))
    n_any = 0
    blocks = list(_probe_blocks(recording, len(picks)))
    for done, (start, stop) in enumerate(blocks):
        progress.report(done, len(blocks), "looking at the channels")
        data = recording.read(start, stop, picks)
        finite = np.isfinite(data)
        low = np.minimum(low, np.where(finite, data, np.inf).min(axis=1, initial=np.inf))
        high = np.maximum(high, np.where(finite, data, -np.inf).max(axis=1, initial=-np.inf))
        present += finite.sum(axis=1)
        n_any += int(finite.any(axis=0).sum())
    reasons: dict[int, str] = {}
    for i, pick in enumerate(picks):
        if present[i] == 0:
            reasons[pick] = "no samples"
        elif high[i] - low[i] <= FLAT_PEAK_TO_PEAK:
            reasons[pick] = "flat"
        elif present[i] < (1 - MISSING_SHARE) * n_any:
            reasons[pick] = f"samples missing in {1 - present[i] / n_any:.0%} of the time"
    return reasons


def _probe_blocks(recording: Recording, n_channels: int) -> Iterator[tuple[int, int]]:
    if recording.n_times * max(1, n_channels) <= WHOLE_BELOW:
        for span in recording.contiguous_spans():
            yield from _blocks(recording, span)
        return
    length = round(PROBE_SECONDS * recording.sfreq)
    spans = recording.contiguous_spans()
    total = sum(span.duration for span in spans)
    for place in (np.arange(PROBES) + 0.5) / PROBES * total:
        for span in spans:
            if place < span.duration:
                start = round((span.start + place) * recording.sfreq)
                yield start, min(start + length, round(span.stop * recording.sfreq))
                break
            place -= span.duration


def _blocks(recording: Recording, span: Window) -> Iterator[tuple[int, int]]:
    first, last = round(span.start * recording.sfreq), round(span.stop * recording.sfreq)
    step = max(1, round(SCAN_SECONDS * recording.sfreq))
    for start in range(first, last, step):
        yield start, min(start + step, last)


def _find_spans(
    recording: Recording, region: Window, picks: Sequence[int], progress: Progress
) -> tuple[tuple[ScorableSpan, ...], tuple[tuple[float, float, str], ...]]:
    may_lack = not recording.format.upper().startswith(_WHOLE_NUMBER_FORMATS)
    spans: list[ScorableSpan] = []
    not_scored = [(a, b, "gap in the recording") for a, b in recording.gaps]
    for span in recording.contiguous_spans():
        part = Window(max(span.start, region.start), min(span.stop, region.stop))
        if part.duration <= 0:
            continue
        holes = _holes(recording, part, picks, progress) if may_lack else []
        not_scored += [(a, b, "samples are missing") for a, b in holes]
        edges = [part.start, *(edge for hole in holes for edge in hole), part.stop]
        spans += [ScorableSpan(a, b, span.start) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
    return tuple(spans), tuple(sorted(not_scored))


def _holes(recording: Recording, part: Window, picks: Sequence[int], progress: Progress) -> list[tuple[float, float]]:
    """Stretches of a part in which any of the picked channels has no sample, in seconds."""
    holes: list[tuple[int, int]] = []
    blocks = list(_blocks(recording, part))
    for done, (start, stop) in enumerate(blocks):
        progress.report(done, len(blocks), "looking for missing samples")
        lacking = ~np.isfinite(recording.read(start, stop, picks)).all(axis=0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], lacking, [False]]).astype(np.int8)))
        for a, b in zip(edges[::2] + start, edges[1::2] + start, strict=True):
            if holes and holes[-1][1] == a:
                holes[-1] = (holes[-1][0], int(b))
            else:
                holes.append((int(a), int(b)))
    return [(a / recording.sfreq, b / recording.sfreq) for a, b in holes]
