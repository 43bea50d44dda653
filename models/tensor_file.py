"""Reads files of tensors without running anything in them: PyTorch archives (tensors only) and safetensors."""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import CheckpointError

if TYPE_CHECKING:
    import torch

_ZIP = b"PK\x03\x04"
_PICKLE = b"\x80"
_CHOOSE = "choose a .pt or .safetensors checkpoint"


@dataclass(frozen=True)
class TensorFile:
    """The tensors of one file by name, with their shapes and types known before any value is read.

    Nested tables are flattened with dots; what is not a tensor is in `extras`. `metadata` is the header of a
    safetensors file.
    """

    path: Path
    sha256: str
    format: str
    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, str]
    read: Callable[[str], torch.Tensor] = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_container(self) -> bool:
        """Whether the file is in this program's own format, of whatever version."""
        return self.metadata.get("format", "").startswith("cerebroscope/")

    def read_weights(self, name: str) -> torch.Tensor:
        """A copy of one tensor as float32; CheckpointError where values are not finite numbers."""
        import torch

        tensor = self.read(name).to(torch.float32, copy=True)
        if not torch.isfinite(tensor).all():
            raise CheckpointError(
                f"{name} holds values that are not finite numbers ({self.path}): copy or download the file again"
            )
        return tensor


@dataclass(frozen=True)
class ConfigFile:
    """A JSON file with sizes; `asked_for` is False for one that merely lies beside the checkpoint."""

    path: Path
    values: Mapping[str, Any]
    asked_for: bool


def read_config_file(path: Path, asked_for: bool) -> ConfigFile:
    """Read a JSON file that holds one table; anything else is a CheckpointError."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not JSON"
        raise CheckpointError(
            f"this configuration cannot be read, {reason} ({path}): give the JSON file of the checkpoint"
        ) from error
    if not isinstance(values, dict):
        raise CheckpointError(f"this configuration is not a table of names and values ({path}): give another file")
    return ConfigFile(path, values, asked_for)


def open_tensor_file(path: Path) -> TensorFile:
    """Open a checkpoint file by its content, not its suffix; anything else is a CheckpointError."""
    start = _first_bytes(path)
    # First, since the length of a header may begin with the byte that a pickle begins with.
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") < 100_000_000:
        file = _open_safetensors(path)
    elif start.startswith((_ZIP, _PICKLE)):
        file = _open_pytorch(path)
    else:
        raise CheckpointError(f"this is not a checkpoint ({path}): {_CHOOSE}")
    if not file.shapes:
        raise CheckpointError(f"this file holds no weights ({path}): {_CHOOSE}")
    return file


def _first_bytes(path: Path) -> bytes:
    """The first bytes of a file that is there, is a file, may be read and is not empty."""
    if path.is_dir():
        raise CheckpointError(f"this is a folder, not a checkpoint ({path}): {_CHOOSE}")
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        raise CheckpointError(f"there is no such checkpoint ({path}): check the path") from None
    except PermissionError:
        raise CheckpointError(f"this checkpoint may not be read ({path}): ask for permission to read it") from None
    except OSError as error:
        raise CheckpointError(
            f"this checkpoint cannot be read, {error.strerror or error} ({path}): check the disk and the path"
        ) from error
    if not start:
        raise CheckpointError(f"this checkpoint is empty ({path}): copy or download it again")
    return start


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: Path) -> CheckpointError:
    return CheckpointError(f"this checkpoint is damaged or cut short ({path}): copy or download it again")


def _open_pytorch(path: Path) -> TensorFile:
    """A file written by torch.save, read as tensors only and mapped, so that values are read when asked for."""
    content = _unpickle(path)
    tensors: dict[str, torch.Tensor] = {}
    extras: dict[str, Any] = {}
    if not isinstance(content, dict):
        raise CheckpointError(f"this file holds no table of named weights ({path}): {_CHOOSE}")
    for name, value in _leaves(content):
        (tensors if hasattr(value, "dtype") and hasattr(value, "shape") else extras)[name] = value
    return TensorFile(
        path,
        _digest(path),
        "pytorch",
        {name: tuple(tensor.shape) for name, tensor in tensors.items()},
        {name: str(tensor.dtype).removeprefix("torch.") for name, tensor in tensors.items()},
        tensors.__getitem__,
        extras=extras,
    )


def _leaves(table: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is not itself a table, with its dotted name."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _unpickle(path: Path) -> Any:
    """The content of a PyTorch file; a file that names anything but tensors and plain values is refused unrun."""
    import torch

    mapped = zipfile.is_zipfile(path)
    if mapped and not _is_pytorch_archive(path):
        raise CheckpointError(f"this is an archive of another kind, not a checkpoint ({path}): {_CHOOSE}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        raise _not_only_tensors(path) from error
    except _DAMAGE as error:
        if "TorchScript" in str(error):
            raise _not_only_tensors(path) from error
        raise _damaged(path) from error


def _is_pytorch_archive(path: Path) -> bool:
    """Whether a zip file has the pickle that torch.save writes."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("data.pkl") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise _damaged(path) from error


def _not_only_tensors(path: Path) -> CheckpointError:
    return CheckpointError(
        f"this file holds more than tensors, and reading it could run code, so nothing was read ({path}): "
        "ask its makers for a file of tensors only, such as .safetensors"
    )


# What torch.load raises on bytes that are not what they claim to be.
_DAMAGE = (
    RuntimeError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    OverflowError,
    OSError,
    struct.error,
    zipfile.BadZipFile,
)


def _open_safetensors(path: Path) -> TensorFile:
    """A safetensors file; values are read when asked for."""
    from safetensors import SafetensorError, safe_open

    try:
        handle = safe_open(path, framework="pt", device="cpu")
        slices = {name: handle.get_slice(name) for name in handle.keys()}  # noqa: SIM118 - the handle is no mapping
    except (SafetensorError, OSError) as error:
        raise _damaged(path) from error
    return TensorFile(
        path,
        _digest(path),
        "safetensors",
        {name: tuple(piece.get_shape()) for name, piece in slices.items()},
        {name: _SAFETENSORS_TYPES.get(piece.get_dtype(), piece.get_dtype()) for name, piece in slices.items()},
        handle.get_tensor,
        metadata=handle.metadata() or {},
    )


_SAFETENSORS_TYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
}
