"""How much of a recording is really in its files: a copy that broke off is shown as far as its whole samples go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import RecordingError

COPY_AGAIN = "copy or export it again"


@dataclass(frozen=True)
class DataFile:
    """A headerless file of samples as its header describes it: bytes for one sample of all channels, and how many.

    `promised` is None where the header does not tell. `channel_by_channel` files are of no use when they are cut.
    """

    path: Path
    bytes_per_sample: int
    promised: int | None = None
    channel_by_channel: bool = False


def check_data_file(data: DataFile, sfreq: float) -> list[str]:
    """Sentences about a file that is shorter than its header says; RecordingError where its samples cannot be told."""
    whole, rest = divmod(data.path.stat().st_size, data.bytes_per_sample)
    is_cut = rest > 0 or (data.promised is not None and whole < data.promised)
    if not is_cut:
        return []
    if data.channel_by_channel:
        raise RecordingError(
            f"the data were cut short, and each channel lies in one piece, so none can be found ({data.path}): "
            f"{COPY_AGAIN}"
        )
    promised = f" of the {data.promised / sfreq:.3f} s that the header tells of" if data.promised else ""
    how = "in the middle of a sample" if rest else "early"
    return [f"{data.path.name} ends {how}: it was cut short, and {whole / sfreq:.3f} s{promised} are there"]


def readable_samples(n_times: int, can_read: Callable[[int], bool]) -> int:
    """How many of `n_times` samples can be read, where all up to some place can; `can_read` tries a single one."""
    if n_times == 0 or can_read(n_times - 1):
        return n_times
    low, high = 0, n_times - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if can_read(middle) else (low, middle)
    return low
