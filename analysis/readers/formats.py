"""Which format a file is in, by its content first and its name second, without loading any library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from analysis.errors import RecordingError

# Formats that our own reader takes, so that the window need not wait for a library.
_OWN = frozenset({"edf", "bdf"})

TITLES = {
    "edf": "EDF",
    "bdf": "BDF",
    "fif": "FIF",
    "brainvision": "BrainVision",
    "eeglab": "EEGLAB",
    "gdf": "GDF",
    "persyst": "Persyst",
    "cnt": "Neuroscan CNT",
    "ant": "ANT CNT",
    "nihon": "Nihon Kohden",
    "egi": "EGI",
    "nicolet": "Nicolet",
    "eximia": "eXimia",
    "hdf5": "HDF5",
    "mat": "MATLAB",
}

# What libraries raise when a damaged file leads them astray.
LIBRARY_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)

_HDF5 = b"\x89HDF\r\n\x1a\n"
_NIHON_DEVICES = (b"EEG-1100A", b"EEG-1100B", b"EEG-1100C", b"QI-403A", b"EEG-2100", b"DAE-2100D", b"EEG-1200A")
_READABLE = "it can be read from EDF, BDF, FIF, BrainVision, EEGLAB, GDF, Persyst, CNT, Nihon Kohden, HDF5 and .mat"

# Beginnings of files that people have among their recordings and that hold none we can read.
_REFUSED: tuple[tuple[bytes, str, str], ...] = (
    (b"XDF:", "an XDF file of LabStreamingLayer", "convert it to EDF+ or FIF first"),
    (b"* MICROMED", "a Micromed .trc file", "export it as EDF+ first"),
    (b"Brain Vision Data Exchange Marker", "the marker file of a BrainVision recording", "open the .vhdr beside it"),
    (b"BrainVision Data Exchange Marker", "the marker file of a BrainVision recording", "open the .vhdr beside it"),
    (b"PK\x03\x04", "a zip archive or office document", "unpack it and open the recording inside"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"%PDF", "a PDF document", "choose the recording itself"),
    (b"\x89PNG", "a picture", "choose the recording itself"),
    (b"version https://git-lfs", "a placeholder of Git LFS and not the data", "fetch the real file with git lfs pull"),
    (b"MEF", "a MEF file", "convert it to EDF+ first"),
)

# Formats that no beginning tells apart, by the name of the file that is opened.
_BY_SUFFIX = {".nxe": "eximia", ".data": "nicolet", ".egi": "egi", ".raw": "egi", ".cnt": "cnt", ".set": "eeglab"}

# A data file that is opened in place of the header beside it.
_HEADER_OF = {".eeg": (".vhdr",), ".dat": (".vhdr", ".lay"), ".fdt": (".set",)}


def detect_format(path: Path | str) -> str:
    """The key of a file's format (a key of TITLES); RecordingError in one sentence where there is none to read."""
    path = Path(path)
    _refuse_unreadable(path)
    if path.is_dir():
        return "egi"
    head = _first_bytes(path)
    if not head:
        raise RecordingError(f"the file is empty, 0 bytes ({path}): copy or export the recording again")
    found = _by_content(head, path) or _by_suffix(path)
    if found:
        return found
    raise RecordingError(_refusal(head, path))


def needs_engine(fmt: str) -> bool:
    """Whether a format is read through a large library (MNE, h5py, SciPy), which a window leaves to its engine."""
    return fmt not in _OWN


def header_beside(path: Path) -> Path:
    """The file to open for `path`: the header of the same name where `path` is only the data that belongs to it."""
    for suffix in _HEADER_OF.get(path.suffix.lower(), ()):
        header = path.with_suffix(suffix)
        if header.is_file():
            return header
    return path


def _refuse_unreadable(path: Path) -> None:
    try:
        exists, is_folder, is_file = path.exists(), path.is_dir(), path.is_file()
    except OSError as error:
        raise RecordingError(f"the file cannot be reached: {error.strerror} ({path}): check its name") from error
    if not exists:
        raise RecordingError(f"there is no such file ({path}): check its name and folder")
    if is_folder and path.suffix.lower() != ".mff":
        raise RecordingError(f"this is a folder and not a recording ({path}): choose a file inside it")
    if not is_folder and not is_file:
        raise RecordingError(f"this is not an ordinary file ({path}): choose a recording")


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1024)
    except PermissionError as error:
        raise RecordingError(f"no permission to read the file ({path}): ask its owner for access") from error
    except OSError as error:
        raise RecordingError(
            f"the file cannot be read: {error.strerror} ({path}): check the disk it lies on"
        ) from error


def _by_content(head: bytes, path: Path) -> str | None:
    suffix = path.suffix.lower()
    if head[:8].strip(b" \0") == b"0" and head[252:256].strip(b" \0").isdigit():
        return "edf"
    if head[:8] == b"\xffBIOSEMI":
        return "bdf"
    if head.startswith(b"GDF "):
        return "gdf"
    if head.startswith((b"Brain Vision Data Exchange Header", b"BrainVision Data Exchange Header")):
        return "brainvision"
    if head.startswith((b"MATLAB 5.0", b"MATLAB 7.3")):
        return "eeglab" if suffix == ".set" else "mat"
    if head.startswith(_HDF5) or head[512:520] == _HDF5:
        return {".set": "eeglab", ".mat": "mat"}.get(suffix, "hdf5")
    if head[:4] == b"\0\0\0\x64" and head[4:8] == b"\0\0\0\x1f":
        return "fif"
    if head.startswith(b"\x1f\x8b") and path.name.lower().endswith(".fif.gz"):
        return "fif"
    if head.startswith(_NIHON_DEVICES):
        return "nihon"
    if head.startswith(b"RIFF") and suffix == ".cnt":
        return "ant"
    if b"[FileInfo]" in head and suffix == ".lay":
        return "persyst"
    return None


def _by_suffix(path: Path) -> str | None:
    found = _BY_SUFFIX.get(path.suffix.lower())
    header = header_beside(path)
    return detect_format(header) if header != path else found


def _refusal(head: bytes, path: Path) -> str:
    for start, what, remedy in _REFUSED:
        if head.startswith(start):
            return f"this is {what}, which cannot be read ({path}): {remedy}"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml")):
        return (
            f"this is a web page and not an EDF file or another recording ({path}): download the file itself, not the "
            "page that shows it"
        )
    if path.suffix.lower() in (".edf", ".bdf"):
        return (
            f"this is not an EDF or BDF file, its first bytes are not those of a header ({path}): choose another file"
        )
    return f"the format of this file is not known ({path}): {_READABLE}"
