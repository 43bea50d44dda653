"""Files of tensors are read by content, lazily, and without running anything in them."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from models.errors import CheckpointError
from models.tensor_file import open_tensor_file, read_config_file

TENSORS = {
    "a.weight": torch.arange(6.0).view(2, 3),
    "b": torch.tensor([True, False]),
    "c": torch.ones(2, dtype=torch.bfloat16),
}


def write_zip(path: Path) -> None:
    torch.save(TENSORS, path)


def write_legacy(path: Path) -> None:
    torch.save(TENSORS, path, _use_new_zipfile_serialization=False)


def write_safetensors(path: Path) -> None:
    save_file(TENSORS, path, metadata={"format": "pt"})


@pytest.mark.parametrize("write", [write_zip, write_legacy, write_safetensors])
def test_tensors_with_their_shapes_and_types(write: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"  # the suffix says nothing
    write(path)
    file = open_tensor_file(path)
    assert dict(file.shapes) == {"a.weight": (2, 3), "b": (2,), "c": (2,)}
    assert dict(file.dtypes) == {"a.weight": "float32", "b": "bool", "c": "bfloat16"}
    assert all(torch.equal(file.read(name), tensor) for name, tensor in TENSORS.items())
    assert not file.is_container


def test_a_header_whose_length_begins_as_a_pickle_does_keeps_its_metadata(tmp_path: Path) -> None:
    """Else a model of our own with random weights would no longer be known for one."""
    path = tmp_path / "weights.safetensors"
    for size in range(256):  # one of these headers has a length that ends in 0x80
        save_file({"a": torch.ones(2)}, path, metadata={"format": "cerebroscope/1", "card": "x" * size})
        if path.read_bytes()[0] == 0x80:
            break
    else:
        pytest.fail("no header of such a length was made")
    assert open_tensor_file(path).is_container


def test_nested_tables_are_flattened(tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    torch.save({"student": {"w": torch.ones(3)}, "epoch": 4, "config": {"model": {"d": 8}}}, path)
    file = open_tensor_file(path)
    assert dict(file.shapes) == {"student.w": (3,)}
    assert dict(file.extras) == {"epoch": 4, "config.model.d": 8}


class RunsCode:
    """Writes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch '{self.marker}'",)


@pytest.mark.parametrize("form", ["zip", "legacy", "raw pickle", "among tensors"])
def test_a_file_that_would_run_code_is_refused_and_nothing_runs(form: str, tmp_path: Path) -> None:
    path, marker = tmp_path / "evil.pt", tmp_path / "ran"
    evil = RunsCode(marker)
    if form == "raw pickle":
        path.write_bytes(pickle.dumps({"w": evil}, protocol=2))
    else:
        content = TENSORS | {"w": evil} if form == "among tensors" else {"w": evil}
        torch.save(content, path, _use_new_zipfile_serialization=form != "legacy")
    with pytest.raises(CheckpointError, match=r"could run code, so nothing was read \(.*evil.pt\): ask its makers"):
        open_tensor_file(path)
    assert not marker.exists()
    if form != "raw pickle":  # the trap works where it is let
        torch.load(path, weights_only=False)
        assert marker.exists()


def write_module(path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), path)


def write_npz(path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.ones(3))
    path.write_bytes(buffer.getvalue())


def write_broken_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"not a pickle")


BAD_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda path: None, "there is no such checkpoint"),
    "folder": (lambda path: path.mkdir(), "this is a folder, not a checkpoint"),
    "empty": (lambda path: path.touch(), "this checkpoint is empty"),
    "text": (lambda path: path.write_text("hello, this is a letter"), "this is not a checkpoint"),
    "short": (lambda path: path.write_bytes(b"PK"), "this is not a checkpoint"),
    "whole module": (write_module, "could run code"),
    "numpy archive": (write_npz, "an archive of another kind"),
    "broken archive": (write_broken_zip, "damaged or cut short|could run code"),
    "list": (lambda path: torch.save([torch.ones(2)], path), "no table of named weights"),
    "tensor": (lambda path: torch.save(torch.ones(2), path), "no table of named weights"),
    "no tensors": (lambda path: torch.save({"epoch": 3}, path), "holds no weights"),
    "empty table": (lambda path: torch.save({}, path), "holds no weights"),
    "empty safetensors": (lambda path: save_file({}, path), "holds no weights"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files_are_refused_in_one_sentence(kind: str, tmp_path: Path) -> None:
    write, message = BAD_FILES[kind]
    path = tmp_path / "bad.pt"
    write(path)
    with pytest.raises(CheckpointError, match=message) as refusal:
        open_tensor_file(path)
    what, _, to_do = str(refusal.value).partition(f" ({path}): ")
    assert what
    assert to_do
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["tiny_base.pt", "tiny_head.pt", "tiny_base.safetensors", "tiny_head.safetensors"])
def test_a_file_cut_anywhere_is_refused(name: str, golden_mvpformer: Path, tmp_path: Path) -> None:
    content = (golden_mvpformer / name).read_bytes()
    path = tmp_path / name
    cuts = [1, 4, 8, 9, 20, 100, 1000, *(len(content) * i // 16 for i in range(1, 16)), len(content) - 1]
    for cut in cuts:
        path.write_bytes(content[:cut])
        with pytest.raises(CheckpointError):
            open_tensor_file(path)


@pytest.mark.parametrize("write", [write_zip, write_legacy, write_safetensors])
def test_damaged_bytes_never_end_in_another_error(write: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "weights"
    write(path)
    content = path.read_bytes()
    random = np.random.default_rng(5)
    for _ in range(150):
        damaged = bytearray(content)
        for place in random.integers(0, min(len(content), 1500), size=3):
            damaged[place] = random.integers(256)
        path.write_bytes(damaged)
        try:
            open_tensor_file(path)
        except CheckpointError:
            continue


def test_no_permission_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.pt"
    write_zip(path)

    def refuse(self: Path, *args: Any, **kwargs: Any) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(CheckpointError, match="may not be read"):
        open_tensor_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "it is not JSON"), ("[1]", "not a table"), ("[" * 100_000, "it is not JSON"), (None, "No such file")],
)
def test_a_bad_configuration_file_is_refused(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CheckpointError, match=message):
        read_config_file(path, asked_for=True)


def test_a_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"n_segments": 100}))
    assert read_config_file(path, asked_for=True).values == {"n_segments": 100}
