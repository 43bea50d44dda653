"""The montages that a reader keeps: one JSON file each, in a folder of the data folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from analysis.electrodes import site_of
from analysis.errors import AnalysisError
from analysis.montages.custom import AVERAGE_WORD, CustomMontage, CustomRow, Electrode
from models.whole_files import whole_file

VERSION = 1
SUFFIX = ".json"
_LONGEST_NAME = 60
_MOST_ROWS = 1000


class OwnMontages:
    """Named montages in memory and, where there is a folder, on disk; `complaints` tells of files that were skipped."""

    def __init__(self, folder: Path | None, reserved: Iterable[str] = ()) -> None:
        """`reserved` are the names of the montages that the program brings."""
        self._folder = folder
        self._reserved = {name.casefold() for name in reserved}
        self._kept: dict[str, tuple[CustomMontage, Path | None]] = {}
        self.complaints: list[str] = []
        if folder is not None and folder.is_dir():
            for path in sorted(folder.glob(f"*{SUFFIX}")):
                self._take(path)

    def _take(self, path: Path) -> None:
        try:
            montage = read_montage(path)
            fault = self.name_fault(montage.name)
            if fault:
                raise AnalysisError(f"{fault} ({path}): rename one of the two in its file")
        except AnalysisError as error:
            self.complaints.append(f"a saved montage is skipped: {error}")
        else:
            self._kept[montage.name] = montage, path

    def montages(self) -> tuple[CustomMontage, ...]:
        """All of them, by name."""
        return tuple(self._kept[name][0] for name in sorted(self._kept, key=str.casefold))

    def get(self, name: str) -> CustomMontage | None:
        """The montage of a name."""
        return self._kept[name][0] if name in self._kept else None

    def name_fault(self, name: str, instead_of: str | None = None) -> str:
        """Why a montage cannot have a name, empty where it can; `instead_of` is one that it would replace."""
        plain = name.strip()
        if not plain or len(plain) > _LONGEST_NAME:
            return f"a montage needs a name of 1 to {_LONGEST_NAME} letters"
        if plain.casefold() in self._reserved or plain.casefold().startswith("reference "):
            return f"{plain} is the name of a montage of the program"
        others = {other.casefold() for other in self._kept if other != instead_of}
        return f"there is another montage called {plain}" if plain.casefold() in others else ""

    def save(self, montage: CustomMontage, instead_of: str | None = None) -> None:
        """Keep a montage, in place of the one called `instead_of`; AnalysisError or OSError where that cannot be."""
        fault = self.name_fault(montage.name, instead_of)
        if fault:
            raise AnalysisError(f"{fault}: choose another name")
        path = self._path(montage.name)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_montage(montage, path)
        if instead_of in self._kept:
            _, old = self._kept.pop(instead_of)
            if old is not None and old != path:
                old.unlink(missing_ok=True)
        self._kept[montage.name] = montage, path

    def delete(self, name: str) -> None:
        """Forget a montage, and its file; KeyError for a name that none has."""
        path = self._kept[name][1]
        if path is not None:
            path.unlink(missing_ok=True)
        del self._kept[name]

    def _path(self, name: str) -> Path | None:
        """The file of a name: readable, and different for names that differ only in what a file system cannot hold."""
        if self._folder is None:
            return None
        plain = re.sub(r"[^\w.-]+", "-", name).strip(".-")[:_LONGEST_NAME]
        return self._folder / f"{plain or 'montage'}-{sha256(name.encode()).hexdigest()[:8]}{SUFFIX}"


def write_montage(montage: CustomMontage, path: Path) -> None:
    """Write a montage as JSON, whole or not at all; OSError where that cannot be."""
    text = json.dumps(_document(montage), indent=1, ensure_ascii=False)
    with whole_file(path) as file:
        file.write((text + "\n").encode())


def read_montage(path: Path) -> CustomMontage:
    """Read a montage from JSON; AnalysisError says what is wrong with the file."""
    try:
        return _montage(json.loads(path.read_bytes()))
    except OSError as error:
        raise AnalysisError(f"the montage cannot be read ({path}): {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise AnalysisError(f"the file holds no montage ({path}): {error}") from error


def _document(montage: CustomMontage) -> dict[str, Any]:
    blocks = [[_row_entry(row) for row in block] for block in montage.blocks]
    return {"version": VERSION, "name": montage.name, "blocks": blocks}


def _row_entry(row: CustomRow) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": row.label} if row.label else {}
    entry["input1"] = _electrode_entry(row.input1)
    if row.to_average:
        entry["input2"] = AVERAGE_WORD
    elif row.input2:
        entry["input2"] = [_electrode_entry(electrode) for electrode in row.input2]
    return entry


def _electrode_entry(electrode: Electrode) -> str | dict[str, str]:
    return electrode.name if electrode.is_site else {"channel": electrode.name}


def _montage(document: Any) -> CustomMontage:
    if not isinstance(document, dict) or not isinstance(document.get("blocks"), list):
        raise ValueError("it needs a name and blocks of rows")
    if document.get("version") != VERSION:
        raise ValueError(f"its version is {document.get('version')}, not {VERSION}")
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError("it has no name")
    blocks = tuple(_block(block) for block in document["blocks"])
    count = sum(map(len, blocks))
    if not 0 < count <= _MOST_ROWS:
        raise ValueError(f"it has {count} rows")
    return CustomMontage(name.strip(), blocks)


def _block(entries: Any) -> tuple[CustomRow, ...]:
    if not isinstance(entries, list):
        raise ValueError("a block must be a list of rows")
    return tuple(_row(entry) for entry in entries)


def _row(entry: Any) -> CustomRow:
    if not isinstance(entry, dict):
        raise ValueError("a row must hold input1 and input2")
    label, second = entry.get("label", ""), entry.get("input2", [])
    if not isinstance(label, str):
        raise ValueError("a label must be text")
    if second == AVERAGE_WORD:
        return CustomRow(_electrode(entry.get("input1")), to_average=True, label=label)
    several = second if isinstance(second, list) else [second]
    return CustomRow(_electrode(entry.get("input1")), tuple(_electrode(one) for one in several), label=label)


def _electrode(entry: Any) -> Electrode:
    """A place by any of its names ("T3" is T7), a channel in {"channel": name}; another word is a channel too."""
    if isinstance(entry, dict) and isinstance(entry.get("channel"), str) and entry["channel"]:
        return Electrode(entry["channel"], is_site=False)
    if not isinstance(entry, str) or not entry.strip():
        raise ValueError(f"an electrode must be a name, not {entry!r}")
    site = site_of(entry)
    return Electrode(site) if site else Electrode(entry.strip(), is_site=False)
