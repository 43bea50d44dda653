"""Which recordings a person means by files, folders, BIDS data sets and lists, and where the results of each go."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import RecordingError
from analysis.readers.formats import header_beside

LISTS = frozenset({".txt", ".tsv", ".csv"})
_ENDINGS = (
    ".edf", ".bdf", ".gdf", ".fif", ".fif.gz", ".vhdr", ".set", ".lay", ".cnt", ".nxe", ".eeg", ".h5", ".hdf5", ".mat",
)  # fmt: skip
_FOLDERS = (".mff",)  # recordings that are folders
_NOT_RAW = frozenset({"derivatives", "sourcedata", "code", "stimuli", "phenotype"})  # of a BIDS data set
_BIDS_SUFFIXES = ("_eeg", "_ieeg", "_meg")


@dataclass(frozen=True)
class Entry:
    """One recording of a corpus: its file, the folder of its results below that of the corpus, and the table of its
    events where one is known beside what the file itself holds."""

    path: Path
    folder: str
    reference: Path | None = None


def is_corpus(sources: Sequence[str]) -> bool:
    """Whether what a person named is more than one ordinary recording."""
    only = Path(sources[0])
    return len(sources) > 1 or only.suffix.lower() in LISTS or (only.is_dir() and not _is_recording_folder(only))


def find_recordings(sources: Iterable[str | Path]) -> list[Entry]:
    """All recordings of files, folders, BIDS data sets and lists, each once, in a fixed order.

    A list is a text with one path on each line, or a table with a column `recording` and, where wanted, `reference`;
    its paths are looked for beside it, then in the working folder. RecordingError where one names nothing.
    """
    found: dict[Path, tuple[Path, str, Path | None]] = {}
    for source in map(Path, sources):
        for path, name, reference in _expand(source):
            found.setdefault(path.resolve(), (path, name, reference))  # a link keeps its own name
    if not found:
        raise RecordingError(f"no recording was found ({', '.join(map(str, sources))}): name files or a folder of them")
    names = _unique([name for _, name, _ in found.values()])
    return [Entry(path, name, ref) for (path, _, ref), name in zip(found.values(), names, strict=True)]


def _expand(source: Path) -> Iterator[tuple[Path, str, Path | None]]:
    if source.is_dir() and not _is_recording_folder(source):
        for path in _walk(source):
            yield path, path.relative_to(source).as_posix(), _events_beside(path)
    elif source.suffix.lower() in LISTS:
        for path, reference in _read_list(source):
            yield path, path.name, reference or _events_beside(path)
    elif source.exists():
        yield source, source.name, _events_beside(source)
    else:
        raise RecordingError(f"there is no such file or folder ({source}): check its name")


def _is_recording_folder(path: Path) -> bool:
    return path.suffix.lower() in _FOLDERS


def _walk(folder: Path) -> Iterator[Path]:
    is_bids = (folder / "dataset_description.json").is_file()
    for root, folders, files in os.walk(folder):
        here = Path(root)
        whole = [name for name in folders if _is_recording_folder(Path(name))]
        skipped = _NOT_RAW if is_bids and here == folder else frozenset()
        folders[:] = sorted(n for n in folders if n not in whole and n not in skipped and not n.startswith("."))
        for name in sorted([*whole, *files]):
            path = here / name
            if _may_be_recording(path) and (not is_bids or _stem(path).endswith(_BIDS_SUFFIXES)):
                yield path


def _may_be_recording(path: Path) -> bool:
    name = path.name.lower()
    if name.startswith(".") or not name.endswith((*_ENDINGS, *_FOLDERS)):
        return False
    return header_beside(path) == path  # else the header beside it is the one to open


def _stem(path: Path) -> str:
    """The name without its ending, also one of two parts."""
    name = path.name
    ending = next((end for end in sorted(_ENDINGS, key=len, reverse=True) if name.lower().endswith(end)), path.suffix)
    return name[: len(name) - len(ending)]


def _events_beside(path: Path) -> Path | None:
    """The table of events of the same name: sub-1_task-x_events.tsv of sub-1_task-x_eeg.edf, or of sub-1_task-x.edf."""
    stem = _stem(path)
    bare = next((stem.removesuffix(end) for end in _BIDS_SUFFIXES if stem.endswith(end)), stem)
    near = path.with_name(f"{bare}_events.tsv")
    return near if near.is_file() else None


def _read_list(path: Path) -> list[tuple[Path, Path | None]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"the list cannot be read ({path}): check the path and that it is a text") from error
    if path.suffix.lower() == ".txt":
        rows = [{"recording": line.strip()} for line in lines]
    else:
        rows = list(csv.DictReader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
        if rows and "recording" not in rows[0]:
            raise RecordingError(f"not a list of recordings ({path}): its first line must name a column recording")
    named = [row for row in rows if (row["recording"] or "").strip()]
    return [(_beside(path, row["recording"]), _optional(path, row.get("reference"))) for row in named]


def _optional(list_file: Path, name: str | None) -> Path | None:
    return _beside(list_file, name) if name and name.strip() not in ("", "n/a") else None


def _beside(list_file: Path, name: str) -> Path:
    near = list_file.parent / name.strip()
    path = near if near.exists() else Path(name.strip())
    if not path.exists():
        raise RecordingError(f"a file of the list is not there ({name.strip()}, in {list_file}): check its name")
    return path


def _unique(named: Sequence[str]) -> list[str]:
    """Folders for results: names without endings; with them, and then with a number, where two would be one."""
    below = [str(Path(name).parent / _stem(Path(name))) for name in named]
    shared = {folder for folder, count in Counter(below).items() if count > 1}
    full = [name if folder in shared else folder for name, folder in zip(named, below, strict=True)]
    taken: dict[str, int] = {}
    made = []
    for folder in full:
        taken[folder] = taken.get(folder, 0) + 1
        made.append(folder if taken[folder] == 1 else f"{folder}-{taken[folder]}")
    return made
