"""What NeurDuo is given of a recording: its channels as electrodes, and chunks of 0.5 s in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.errors import AnalysisError
from analysis.mains import estimate_mains
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.progress import Progress
from analysis.recording import SCALP_TYPES, Channel, Recording, Window
from analysis.survey import survey_recording
from analysis.windowing import SegmentRun, plan_runs
from models.neurduo.electrodes import Electrode, resolve_label, unit_positions

READ_CHUNKS = 512  # chunks that are read and filtered at a time; filters need margins, so many at once
DEFAULT_MAINS = 50.0
NO_ELECTRODE = "its name means no electrode of the 10-05 system"
_SHOWN = 6


@dataclass(frozen=True)
class Electrodes:
    """The channels NeurDuo reads: indices in the recording, names, sites, and what the metadata encoder takes.

    `positions` (C, 3) float32 directions of the template, `reference_ids` (C,) int64. `left_out` are (name, reason),
    `notes` sentences about how names were understood.
    """

    picks: tuple[int, ...]
    ch_names: tuple[str, ...]
    sites: tuple[str, ...]
    positions: np.ndarray
    reference_ids: np.ndarray
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChunkPlan:
    """All chunks of a recording in the order of time: runs without gaps, and where each begins in the count.

    `first` is the number of a run's first chunk among all; `gap` the seconds without signal before it, infinite
    before the first.
    """

    electrodes: Electrodes
    runs: tuple[SegmentRun, ...]
    first: tuple[int, ...]
    gap: tuple[float, ...]
    not_scored: tuple[tuple[float, float, str], ...]
    settings: Preprocessing
    chunk_samples: int

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return self.first[-1] + self.runs[-1].n_wanted if self.runs else 0

    @property
    def chunk_seconds(self) -> float:
        """Length of one chunk."""
        return self.chunk_samples / self.settings.sfreq

    def onsets(self) -> np.ndarray:
        """When each chunk begins, float64 seconds of the recording (n_chunks,)."""
        return np.concatenate([run.onsets(run.wanted_first, run.wanted_stop) for run in self.runs])

    def run_of(self, chunk: int) -> int:
        """In which run a chunk lies."""
        return int(np.searchsorted(self.first, chunk, side="right")) - 1

    def read(self, recording: Recording, start: int, stop: int) -> Iterator[np.ndarray]:
        """Chunks [start, stop) of one run, float32 (chunks, C, L) in microvolts, up to `READ_CHUNKS` at a time."""
        index = self.run_of(start)
        run, length = self.runs[index], self.chunk_samples
        signal = SpanSignal(recording, run.span, self.electrodes.picks, self.settings)
        for at in range(start, stop, READ_CHUNKS):
            end = min(at + READ_CHUNKS, stop)
            a, b = (run.wanted_first + chunk - self.first[index] for chunk in (at, end))
            samples = signal.read(a * length, b * length)
            yield samples.reshape(len(samples), b - a, length).transpose(1, 0, 2)


def resolve_channel(channel: Channel) -> Electrode | None:
    """The electrode a channel is read as: by the published rule, else by what our readers make of its label.

    The published rule drops labels such as "Fp1." or "POL Fp1"; here they count, which a note tells. It takes contacts
    of shafts and of caps with other names (BioSemi's "C3") for the electrodes of the same name; here they do not.
    """
    site = channel.pair[0] if channel.pair else channel.site
    if site is None or channel.type not in SCALP_TYPES:
        return None
    found = resolve_label(channel.original_name)
    if found is not None:
        return found
    return resolve_label(f"{site}-{channel.reference}" if channel.reference else site)


def choose_electrodes(
    recording: Recording, picks: Sequence[int], left_out: Sequence[tuple[str, str]], with_references: bool
) -> Electrodes:
    """Of usable channels those that are named by an electrode, the first of each site, in the file's order.

    Reference ids are those of the labels `with_references`, else 0 for all, as in fine-tuning. AnalysisError where
    no name means an electrode.
    """
    chosen: dict[str, tuple[int, Electrode]] = {}
    dropped = list(left_out)
    ours = []
    for pick in picks:
        channel = recording.channels[pick]
        electrode = resolve_channel(channel)
        if electrode is None:
            dropped.append((channel.name, NO_ELECTRODE))
        elif electrode.site in chosen:
            first = recording.channels[chosen[electrode.site][0]].name
            dropped.append((channel.name, f"the electrode of {first} again"))
        else:
            chosen[electrode.site] = (pick, electrode)
            if resolve_label(channel.original_name) is None:
                ours.append(channel.name)
    if not chosen:
        names = ", ".join(recording.channels[pick].name for pick in picks[:_SHOWN])
        raise AnalysisError(
            f"no channel is named by an electrode of the 10-20, 10-10 or 10-05 system, such as {names} "
            f"({recording.path}): rename the channels by their sites, or use another model"
        )
    found = list(chosen.values())
    return Electrodes(
        picks=tuple(pick for pick, _ in found),
        ch_names=tuple(recording.channels[pick].name for pick, _ in found),
        sites=tuple(electrode.site for _, electrode in found),
        positions=np.array([unit_positions()[electrode.site] for _, electrode in found], np.float32),
        reference_ids=np.array([electrode.reference_id if with_references else 0 for _, electrode in found], np.int64),
        left_out=tuple(dropped),
        notes=(_understood(ours),) if ours else (),
    )


def plan_chunks(
    recording: Recording,
    stated: Mapping[str, Any],
    chunk_samples: int,
    with_references: bool = True,
    window: Window | None = None,
    progress: Progress | None = None,
) -> ChunkPlan:
    """Choose channels and lay chunks over the stretches of a recording without gaps or missing samples.

    `stated` is what the checkpoint says of its preprocessing. AnalysisError where no channel or no chunk remains.
    """
    region = window or Window(0.0, recording.duration)
    survey = survey_recording(recording, region, progress=progress)
    electrodes = choose_electrodes(recording, survey.picks, survey.left_out, with_references)
    settings = input_settings(recording, stated)
    seconds = chunk_samples / settings.sfreq
    runs = plan_runs(survey.spans, region, seconds)
    if not runs:
        raise AnalysisError(
            f"no chunk of {seconds:g} s without a gap lies between {region.start:g} and {region.stop:g} s "
            f"({recording.path}): choose a longer span"
        )
    ends = [run.onset(run.wanted_stop) for run in runs]
    gaps = [float("inf"), *(run.onset(run.wanted_first) - end for run, end in zip(runs[1:], ends, strict=False))]
    counts = np.cumsum([0, *(run.n_wanted for run in runs)])
    return ChunkPlan(
        electrodes,
        tuple(runs),
        tuple(int(count) for count in counts[:-1]),
        tuple(gaps),
        survey.not_scored,
        settings,
        chunk_samples,
    )


def input_settings(recording: Recording, stated: Mapping[str, Any]) -> Preprocessing:
    """How the signal is made, from what a checkpoint states; a notch at "mains" is at what hums in the recording.

    Fine-tuning data were resampled by whole-file FFTs; a polyphase filter does the same within its transition band
    and needs no whole file.
    """
    notch = stated.get("notch")
    if notch == "mains":
        notch = (estimate_mains(recording) or DEFAULT_MAINS,)
    return Preprocessing(
        sfreq=float(stated.get("sampling_rate", 256.0)),
        highpass=stated.get("highpass"),
        lowpass=stated.get("lowpass"),
        order=int(stated.get("order", 4)),
        reference=str(stated.get("reference", "none")),
        resampling="polyphase",
        notch=tuple(notch or ()),
    )


def _understood(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"Names that the published rule would drop were understood by our own: {listed}."
