"""Windows of a recording as a model of scalp electrodes takes them: channels with positions, equal lengths, no gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.electrodes import EARS
from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.progress import Progress
from analysis.recording import Channel, Recording, Window
from analysis.survey import ScorableSpan, survey_recording

_SHOWN = 6


@dataclass(frozen=True)
class WindowPlan:
    """Which windows of a recording are looked at, and through which channels.

    `onsets` (n,) float64 seconds; `ch_names`, the electrodes' `sites`, and `positions` (channels, 3) float32 metres
    in the head frame, NaN where there is none; `left_out` are (channel, reason), and `expected` those of them that
    nobody would look for among the channels of the brain.
    """

    onsets: np.ndarray
    seconds: float
    ch_names: tuple[str, ...]
    sites: tuple[str | None, ...]
    positions: np.ndarray
    left_out: tuple[tuple[str, str], ...]
    n_possible: int
    signals: tuple[SpanSignal, ...]
    span_of: tuple[int, ...]
    settings: Preprocessing
    expected: frozenset[str] = frozenset()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what is not looked at."""
        notes = []
        if missed := [pair for pair in self.left_out if pair[0] not in self.expected]:
            notes.append(f"Channels left out: {list_left_out(missed)}.")
        if len(self.onsets) < self.n_possible:
            notes.append(f"{len(self.onsets)} of {self.n_possible} windows, spread evenly over the span.")
        return tuple(notes)

    def batches(self, size: int, progress: Progress, text: str) -> Iterator[np.ndarray]:
        """Signals (up to `size`, channels, samples) float32 microvolts, one batch of windows after the other."""
        n = len(self.onsets)
        for at in range(0, n, size):
            progress.report(at, n, text)
            yield np.stack([self.read_at(self.span_of[i], self.onsets[i]) for i in range(at, min(at + size, n))])

    def read_at(self, span: int, onset: float) -> np.ndarray:
        """The signal (channels, samples) of a window that begins at a time of one of the spans."""
        return self.signals[span].read(*self.samples_at(span, onset))

    def reference_parts_at(self, span: int, onset: float) -> np.ndarray:
        """What each channel gave to the reference of that signal (channels, samples), microvolts."""
        return self.signals[span].reference_parts(*self.samples_at(span, onset))

    def samples_at(self, span: int, onset: float) -> tuple[int, int]:
        """The first sample of such a window in its span's signal, and the one after its last."""
        signal, n = self.signals[span], round(self.seconds * self.settings.sfreq)
        first = round((onset - signal.origin) * self.settings.sfreq)
        first = min(max(first, signal.first), signal.stop - n)
        return first, first + n


def plan_windows(
    recording: Recording,
    window: Window,
    seconds: float,
    settings: Preprocessing,
    most: int | None = None,
    progress: Progress | None = None,
    fault: Callable[[Channel], str] | None = None,
    least_channels: int = 1,
) -> WindowPlan:
    """Lay windows of `seconds` over a span, from its start on, in the stretches without gaps; at most `most` of them.

    A channel counts when it is a calibrated brain channel that is neither flat nor missing and has no `fault`, a
    function that tells why a model cannot take a channel. Without one, channels must be referential and have a
    position. AnalysisError when fewer than `least_channels` or no window remain, with the reason.
    """
    if fault is None:
        refuse_bipolar(recording)
    survey = survey_recording(recording, window, progress=progress)
    left_out = list(survey.left_out)
    reasons = {pick: (fault or _without_position)(recording.channels[pick]) for pick in survey.picks}
    picks = [pick for pick in survey.picks if not reasons[pick]]
    left_out += [(recording.channels[pick].name, reason) for pick, reason in reasons.items() if reason]
    expected = frozenset(name for name, _ in left_out if _expected(recording, name))
    if len(picks) < least_channels:
        missed = [pair for pair in left_out if pair[0] not in expected]
        raise AnalysisError(_too_few(recording, picks, missed, least_channels))
    spans = [_within(span, window) for span in survey.spans]
    found = [(i, onset) for i, span in enumerate(spans) for onset in _onsets(span, seconds)]
    if not found:
        raise AnalysisError(
            f"no window of {seconds:g} s without a gap lies between {window.start:g} and {window.stop:g} s "
            f"({recording.path}): choose a longer span, or shorter windows"
        )
    chosen = _spread(found, most)
    signals = tuple(SpanSignal(recording, span, picks, settings) for span in survey.spans)
    return WindowPlan(
        onsets=np.array([onset for _, onset in chosen]),
        seconds=seconds,
        ch_names=tuple(recording.channels[pick].name for pick in picks),
        sites=tuple(recording.channels[pick].site for pick in picks),
        positions=np.array([recording.channels[pick].position or (np.nan,) * 3 for pick in picks], np.float32),
        left_out=tuple(left_out),
        n_possible=len(found),
        signals=signals,
        span_of=tuple(i for i, _ in chosen),
        settings=settings,
        expected=expected,
    )


def _without_position(channel: Channel) -> str:
    if channel.pair is not None:
        return "recorded bipolar: the potential at a single electrode is not known"
    if channel.position is not None:
        return ""
    return "no position: rename it to a 10-20 or 10-10 site, or give one in the file"


def _too_few(recording: Recording, picks: Sequence[int], left_out: Sequence[tuple[str, str]], least: int) -> str:
    found = "no channel is" if not picks else f"only {len(picks)} of the {least} channels needed are"
    return (
        f"{found} at a place this model knows ({recording.path}; left out: {list_left_out(left_out) or 'nothing'}): "
        "use a scalp recording whose channels are named by 10-20 or 10-10 sites"
    )


def list_left_out(left_out: Sequence[tuple[str, str]]) -> str:
    """Channels by the reason they are left out for, the first few of each by name."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out:
        by_reason.setdefault(reason, []).append(name)
    parts = []
    for reason, names in by_reason.items():
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        parts.append(f"{', '.join(names[:_SHOWN])}{more} ({reason})")
    return "; ".join(parts)


def refuse_bipolar(recording: Recording) -> None:
    """AnalysisError for a recording whose brain channels are all differences of two electrodes."""
    brain = [c for c in recording.channels if c.is_brain and c.site not in EARS]
    bipolar = [c.name for c in brain if c.pair is not None]
    if bipolar and len(bipolar) == len(brain):
        raise AnalysisError(
            f"the channels were recorded bipolar, such as {bipolar[0]}, and this model needs the potential at single "
            f"electrodes ({recording.path}): use a referential recording"
        )


def _expected(recording: Recording, name: str) -> bool:
    """Whether nobody would look for a channel among those of the brain."""
    channel = recording.channels[recording.ch_names.index(name)]
    return not channel.is_brain or channel.site in EARS


def _within(span: ScorableSpan, window: Window) -> Window:
    return Window(max(span.start, window.start), min(span.stop, window.stop))


def _onsets(span: Window, seconds: float) -> list[float]:
    count = int((span.stop - span.start) / seconds + 1e-6)
    return [span.start + i * seconds for i in range(count)]


def _spread(found: Sequence[tuple[int, float]], most: int | None) -> list[tuple[int, float]]:
    if most is None or len(found) <= most:
        return list(found)
    places = np.linspace(0, len(found) - 1, most).round().astype(int)
    return [found[i] for i in places]
