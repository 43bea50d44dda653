"""How base and head files make a model: every situation the published loaders know, with what we do there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from models.checkpoint import describe
from models.errors import CheckpointError
from models.registry import load_model

State = dict[str, Tensor]
Change = Callable[[State], Any]
LORA = "mvpformer.h.0.attn.q_attn.lora_A"


@dataclass
class Files:
    """The golden weights as dictionaries, and a folder to write changed ones to."""

    folder: Path
    base: State
    head: State

    def write(self, base: State | None, head: State | None) -> dict[str, Path]:
        paths = {}
        for name, state in (("path", base), ("head", head)):
            if state is not None:
                paths[name] = self.folder / f"{name}.pt"
                torch.save(state, paths[name])
        return paths


@pytest.fixture
def files(golden_mvpformer: Path, tmp_path: Path) -> Files:
    shutil.copyfile(golden_mvpformer / "tiny_config.json", tmp_path / "config.json")
    states = [torch.load(golden_mvpformer / f"tiny_{name}.pt", weights_only=True) for name in ("base", "head")]
    return Files(tmp_path, *states)


def without(*parts: str) -> Change:
    """Remove every name that contains one of these."""

    def change(state: State) -> None:
        for name in [name for name in state if any(part in name for part in parts)]:
            del state[name]

    return change


def adding(name: str, *shape: int) -> Change:
    return lambda state: state.__setitem__(name, torch.zeros(shape))


def nothing(state: State) -> None:
    """Leave the file as it is."""


UNUSED = ("seizure_embeddings", "time_bias", "masked_bias", "ln_2")

# Situation -> (change of the base, the message that refuses it or None). The published generative loader is strict;
# it forgives only the encoder's norm, which it overwrites.
BASE_ALONE: dict[str, tuple[Change, str | None]] = {
    "as published": (nothing, None),
    "encoder norm absent": (without("encoder.ln"), None),
    "unused entries absent (published: error)": (without(*UNUSED), None),
    "encoder projection absent": (without("encoder.proj"), "lacks encoder.proj.weight "),
    "a layer's weight absent": (without("h.1.attn.c_proj"), "lacks mvpformer.h.1.attn.c_proj.weight "),
    "many absent": (without("h.1.", "h.2."), "and 15 more "),
    "head absent": (without("head.head"), "lacks head.head.weight "),
    "head of another shape": (adding("head.head.weight", 3, 64), r"shape \(3, 64\), but .* \(64, 64\)"),
    "unknown name": (adding("mvpformer.extra", 3), "does not know, mvpformer.extra "),
    "class weights": (adding("class_loss.weight", 2), "does not know, class_loss.weight "),
    "a layer too many": (adding("mvpformer.h.3.ln_1.weight", 64), "does not know, mvpformer.h.3.ln_1.weight "),
    "wrong shape": (
        adding("mvpformer.h.2.mlp.up_proj.weight", 95, 64),
        r"mvpformer.h.2.mlp.up_proj.weight has the shape \(95, 64\), but its configuration asks for \(96, 64\)",
    ),
    "some LoRA matrices": (adding(LORA, 8, 64), "lacks mvpformer.h.0.attn.q_attn.lora_B"),
    "integers": (
        lambda state: state.__setitem__("mvpformer.ln_f.weight", torch.ones(64, dtype=torch.int64)),
        "holds int64 values",
    ),
    "beyond float32": (
        lambda state: state.__setitem__("mvpformer.ln_f.weight", torch.full((64,), 1e300, dtype=torch.float64)),
        "not finite numbers",
    ),
    "not a number": (lambda state: state["encoder.proj.weight"][0].fill_(torch.nan), "not finite numbers"),
    "a nested table": (
        lambda state: [state.__setitem__(f"state_dict.{name}", state.pop(name)) for name in list(state)],
        'weights under "state_dict"',
    ),
}


@pytest.mark.parametrize("situation", BASE_ALONE)
def test_a_base_file_alone(situation: str, files: Files, generative: Any) -> None:
    change, message = BASE_ALONE[situation]
    change(files.base)
    paths = files.write(files.base, None)
    if message:
        for opening in (load_model, describe):
            with pytest.raises(CheckpointError, match=message):
                opening(**paths)
        return
    model = load_model(**paths)
    assert all(torch.equal(found, generative.state_dict()[name]) for name, found in model.state_dict().items())


# Situation -> (change of the base, change of the head, message or None). Both files have checks of their own.
WITH_HEAD: dict[str, tuple[Change, Change, str | None]] = {
    "as published": (nothing, nothing, None),
    "encoder norm absent": (without("encoder.ln"), nothing, "lacks encoder.ln.weight "),
    "base without a head (published: KeyError)": (without("head.head"), nothing, None),
    "base with a head of another shape": (adding("head.head.weight", 5, 7), nothing, None),
    "unused entries absent (published: error)": (without(*UNUSED), nothing, None),
    "encoder projection absent": (without("encoder.proj"), nothing, "lacks encoder.proj.weight "),
    "unknown name in the base": (adding("surprise", 1), nothing, r"surprise \(.*path.pt"),
    "class weights in the base": (adding("class_loss.weight", 2), nothing, r"class_loss.weight \(.*path.pt"),
    "a LoRA matrix absent": (nothing, without("h.1.attn.c_attn.lora_B"), r"h.1.attn.c_attn.lora_B \(.*head.pt"),
    "no LoRA at all": (nothing, without("lora"), "no LoRA matrices"),
    "head absent from the head file": (nothing, without("head.head"), r"lacks head.head.weight \(.*head.pt"),
    "class weights in the head file": (nothing, adding("class_loss.weight", 2), None),
    "unknown name in the head file": (nothing, adding("surprise", 1), r"surprise \(.*head.pt"),
    "class weights and another name": (
        nothing,
        lambda head: head.update({"class_loss.weight": torch.ones(2), "surprise": torch.ones(1)}),
        "surprise",
    ),
    "wrong shape in the head file": (nothing, adding("head.head.weight", 3, 64), r"\(3, 64\).* \(2, 64\)"),
    "another rank": (nothing, adding(LORA, 4, 64), r"lora_A has the shape \(4, 64\).*\(8, 64\)"),
}


@pytest.mark.parametrize("situation", WITH_HEAD)
def test_a_base_and_a_head_file(situation: str, files: Files, classifier: Any, golden_signal: Tensor) -> None:
    change_base, change_head, message = WITH_HEAD[situation]
    change_base(files.base)
    change_head(files.head)
    paths = files.write(files.base, files.head)
    if message:
        for opening in (load_model, describe):
            with pytest.raises(CheckpointError, match=message):
                opening(**paths)
        return
    model: Any = load_model(**paths)
    assert torch.equal(model.logits(signal=golden_signal[:, :2]), classifier.logits(signal=golden_signal[:, :2]))


def test_a_head_without_its_base(files: Files) -> None:
    paths = files.write(files.base, files.head)
    with pytest.raises(CheckpointError, match=r"head without its base model \(.*head.pt\)"):
        load_model(paths["head"])
    with pytest.raises(CheckpointError, match=r"given as the base \(.*head.pt\): swap"):
        load_model(paths["head"], paths["path"])
    with pytest.raises(CheckpointError, match="head without its base model"):
        load_model(paths["head"], paths["head"])


@pytest.mark.parametrize("which", ["path", "head"])
def test_a_path_that_is_not_there_is_never_random_weights(which: str, files: Files) -> None:
    paths = files.write(files.base, files.head) | {which: files.folder / "nowhere.pt"}
    with pytest.raises(CheckpointError, match=r"no such checkpoint \(.*nowhere.pt"):
        load_model(**paths)


def test_the_encoder_norm_follows_the_task_and_is_told(files: Files) -> None:
    stored = files.base["encoder.ln.weight"]
    paths = files.write(files.base, files.head)
    generative, classifier = load_model(paths["path"]), load_model(**paths)
    assert (generative.encoder.norm.weight == 1).all()
    assert torch.equal(classifier.encoder.norm.weight, stored)
    assert "set to ones" in " ".join(generative.checkpoint.notes)
    assert "norm weight is the file's own" in " ".join(classifier.checkpoint.notes)


def full_state(files: Files, folded: bool) -> State:
    """Base, head and LoRA in one table, as a state taken in evaluation mode (folded) or in training."""
    state = files.base | files.head
    if folded:
        for layer in range(3):
            for part, rows in (("q_attn", 64), ("c_attn", 32)):
                prefix = f"mvpformer.h.{layer}.attn.{part}."
                weight = state[prefix + "weight"].clone()
                weight[-rows:] += 2 * state[prefix + "lora_B"] @ state[prefix + "lora_A"]
                state[prefix + "weight"] = weight
    return state


@pytest.mark.parametrize("folded", [False, True])
def test_a_head_file_with_everything_is_not_folded_twice(
    folded: bool, files: Files, classifier: Any, golden_signal: Tensor
) -> None:
    """Nothing in such a file says whether its weights are folded; the base file beside it does."""
    paths = files.write(files.base, full_state(files, folded))
    model: Any = load_model(**paths)
    found, expected = model.logits(signal=golden_signal[:, :3]), classifier.logits(signal=golden_signal[:, :3])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    assert describe(**paths)["lora"]["folded"] == ("yes" if folded else "no")
    assert "hold base weights" in " ".join(model.checkpoint.notes).replace("holds", "hold")


def test_one_file_with_everything_is_taken_as_not_folded(files: Files, classifier: Any, golden_signal: Tensor) -> None:
    paths = files.write(full_state(files, folded=False), None)
    model: Any = load_model(**paths)
    torch.testing.assert_close(
        model.logits(signal=golden_signal[:, :3]), classifier.logits(signal=golden_signal[:, :3]), rtol=0, atol=1e-6
    )
    assert describe(**paths)["lora"] == {"present": True, "rank": 8, "alpha": 16, "folded": "not stated"}
    assert "does not say whether they were already added" in " ".join(model.checkpoint.notes)


def test_a_classification_file_without_lora(files: Files, classifier: Any, golden_signal: Tensor) -> None:
    """LoRA folded for good, or never used: one file, or a head file that replaces the base."""
    state = {name: tensor for name, tensor in full_state(files, folded=True).items() if "lora" not in name}
    expected = classifier.logits(signal=golden_signal[:, :3])
    alone: Any = load_model(**files.write(state, None))
    on_top: Any = load_model(**files.write(files.base, state))
    for model in (alone, on_top):
        torch.testing.assert_close(model.logits(signal=golden_signal[:, :3]), expected, rtol=0, atol=1e-5)
        assert model.config.lora_rank == 0


def test_ignored_and_missing_names_are_told(files: Files) -> None:
    without("h.1.attn.time_bias")(files.base)
    files.head["class_loss.weight"] = torch.ones(2)
    paths = files.write(files.base, files.head)
    keys = describe(**paths)["keys"]
    assert keys["missing"] == ["mvpformer.h.1.attn.time_bias"]
    assert keys["unknown"] == ["class_loss.weight"]
    assert "seizure_embeddings" in keys["unused"]
    assert len(keys["unused"]) == 9
    notes = " ".join(load_model(**paths).checkpoint.notes)
    for sentence in ("class_loss.weight belongs to its training loss", "9 entries of the file", "time_bias"):
        assert sentence in notes


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_precisions_become_float32(dtype: torch.dtype, files: Files, golden_arrays: Any) -> None:
    def cast(state: State) -> State:
        return {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in state.items()}

    paths = files.write(cast(files.base), cast(files.head))
    model: Any = load_model(**paths)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    expected = files.base["mvpformer.h.0.mlp.up_proj.weight"].to(dtype).float()
    assert torch.equal(model.blocks[0].mlp.up.weight, expected)
    assert describe(**paths)["dtype"] == str(dtype).removeprefix("torch.")
    # README, lower precision: the published model wholly in bfloat16 is 0.0075 off.
    logits = model.logits(signal=torch.from_numpy(golden_arrays["inputs"]["raw"])).detach().numpy()
    assert abs(logits - golden_arrays["classifier"]["logits"]).max() < 0.0075


def published_shapes(keys: dict[str, Any]) -> State:
    """Tensors of the published shapes that take no memory: one zero each, seen many times."""
    types = {"float32": torch.bfloat16, "bool": torch.bool}
    return {name: torch.zeros((), dtype=types[entry["dtype"]]).expand(entry["shape"]) for name, entry in keys.items()}


@pytest.mark.parametrize("size", ["S", "M"])
def test_published_sizes_need_no_configuration(size: str, published_keys: dict[str, Any], tmp_path: Path) -> None:
    keys = published_keys[size]
    base = tmp_path / "base.pt"
    torch.save(published_shapes(keys["base"]), base)
    facts = describe(base)
    assert (facts["size"], facts["config"]["task"], facts["dtype"]) == (size, "generation", "bfloat16")
    assert facts["n_params"] == keys["base_counts"]["parameters"] == sum(facts["parameters"].values())
    assert facts["n_params_used"] == keys["base_counts"]["parameters_used_in_forward"]
    assert facts["config"]["n_segments"] == 25
    assert any("number of segments it was trained with is not stated; 25" in note for note in facts["notes"])
    assert not any("Training not stated" in note for note in facts["notes"])

    head = tmp_path / "head.pt"
    torch.save(published_shapes({name: keys["lora_classifier"][name] for name in keys["head_file_keys"]}), head)
    facts = describe(base, head)
    counts = keys["lora_classifier_counts"]
    assert facts["n_params"] == counts["parameters"]
    assert facts["parameters"]["lora"] == counts["lora_parameters"]
    assert facts["parameters"]["head"] == counts["head_parameters"]
    assert facts["labels"] == ["background", "seizure"]


@pytest.mark.parametrize(
    ("name", "content", "segments", "note"),
    [
        ("config.json", {"n_segments": 100}, 100, "Sizes are those of config.json"),
        ("config.json", {"model_type": "gpt2"}, 25, "of another kind and was not used"),
        ("tiny_config.json", {"n_segments": 40, "temperature": 0.2}, 40, "tiny_config.json"),
    ],
)
def test_a_file_beside_a_published_size(
    name: str, content: Any, segments: int, note: str, published_keys: dict[str, Any], tmp_path: Path
) -> None:
    torch.save(published_shapes(published_keys["S"]["base"]), tmp_path / "base.pt")
    (tmp_path / name).write_text(json.dumps(content))
    facts = describe(tmp_path / "base.pt")
    assert facts["config"]["n_segments"] == facts["preprocessing"]["n_segments"] == segments
    assert any(note in line for line in facts["notes"])


def test_other_sizes_need_a_configuration(files: Files, golden_mvpformer: Path, tmp_path: Path) -> None:
    paths = files.write(files.base, None)
    (tmp_path / "config.json").unlink()
    with pytest.raises(CheckpointError, match=r"neither of the published sizes.*config.json beside it .* --config"):
        load_model(**paths)
    model = load_model(**paths, config=golden_mvpformer / "tiny_config.json")
    assert model.config.n_segments == 14
    (tmp_path / "other.json").write_text('{"n_embd": 64}')
    with pytest.raises(CheckpointError, match=r"missing fields .* \(.*other.json\)"):
        load_model(**paths, config=tmp_path / "other.json")


def test_a_configuration_that_does_not_fit_is_refused(files: Files, tmp_path: Path) -> None:
    values = json.loads((tmp_path / "config.json").read_text())
    values["base"]["n_inner"] = 98
    (tmp_path / "config.json").write_text(json.dumps(values))
    with pytest.raises(CheckpointError, match=r"h.0.mlp.gate_proj.weight has the shape \(96, 64\).*\(98, 64\)"):
        load_model(**files.write(files.base, None))
