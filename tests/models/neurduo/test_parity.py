"""Every golden array of the published code, reproduced within the tolerance its README states."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.neurduo.heads import unit_tokens
from models.neurduo.introspection import layer_outputs, relative_rates, time_constants
from models.neurduo.model import Block, NeurDuo
from models.neurduo.normalisation import normalise_window
from models.neurduo.streaming import Stream

VALUES = 5e-5
SEQUENCE = (
    "signal_tokens", "metadata_tokens", "channel_tokens", "fast_layers", "fast_states", "memory_tokens",
    "slot_index", "slow_sequence", "slow_states", "retrieval_weights", "retrieved", "gate", "memory_context", "z",
)  # fmt: skip
ODD = ("z", "fast_states", "memory_tokens", "slow_states", "retrieval_weights", "gate", "logits")
EDGES = (
    "z_no_mask", "z_all_masked_item1", "z_no_positions", "z_no_reference", "z_three_steps", "z_one_channel",
    "z_zero_signal",
)  # fmt: skip


def one_block(model: NeurDuo, inputs: dict[str, Tensor]) -> Block:
    chunks = inputs["chunks"]
    montage = model.montage(chunks, *(inputs[name] for name in ("positions", "reference_ids", "missing")))
    (block,) = model.blocks(chunks, montage)
    return block


def values_of(model: NeurDuo, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Everything that the golden files of a whole sequence hold, by their names."""
    block = one_block(model, inputs)
    stages = layer_outputs(model, **inputs)
    return {
        "signal_tokens": model.signal_tokens(inputs["chunks"]),
        "metadata_tokens": model.metadata_encoder(inputs["positions"], inputs["reference_ids"]),
        "channel_tokens": stages["channel tokens"],
        "fast_layers": torch.stack([stages[f"fast {i}"] for i in range(model.config.fast_num_layers)]),
        "fast_states": stages["fast"],
        "memory_tokens": block.written,
        "slot_index": block.plan.visible - 1,
        "slow_sequence": stages["slow"],
        "slow_states": block.slow_states,
        "retrieval_weights": block.retrieved.weights[..., -block.offered :],
        "retrieved": block.retrieved.mixture,
        "gate": block.retrieved.gate,
        "memory_context": block.retrieved.context,
        "z": block.z,
        "logits": model.code_logits(block.z),
    }


@pytest.fixture(scope="module")
def computed(tiny: Any, odd: Any, inputs: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    with torch.inference_mode():
        return {"tiny": values_of(tiny, inputs), "tiny_odd": values_of(odd, inputs)}


def rows(z: Tensor) -> np.ndarray:
    return z.flatten(0, 1).numpy()


@pytest.mark.parametrize("name", SEQUENCE)
def test_sequence(name: str, computed: Any, arrays: Any) -> None:
    golden = arrays("tiny/sequence_golden.npz")[name]
    np.testing.assert_allclose(computed["tiny"][name].numpy(), golden, rtol=0, atol=VALUES)


@pytest.mark.parametrize("name", ODD)
def test_odd_architecture(name: str, computed: Any, arrays: Any) -> None:
    golden = arrays("tiny_odd/golden.npz")[name]
    np.testing.assert_allclose(computed["tiny_odd"][name].numpy(), golden, rtol=0, atol=VALUES)


def test_no_golden_array_is_left_out(arrays: Any) -> None:
    assert set(SEQUENCE) == set(arrays("tiny/sequence_golden.npz"))
    assert {*ODD, "z_stream", "z_f64"} == set(arrays("tiny_odd/golden.npz"))
    assert {*EDGES, "missing_all_masked_item1"} == set(arrays("tiny/edge_golden.npz"))


def test_the_registry_s_contract_gives_the_golden_numbers(tiny: Any, inputs: dict[str, Tensor], arrays: Any) -> None:
    with torch.inference_mode():
        z, logits = tiny.tokens(**inputs), tiny.logits(**inputs)
    assert (z.shape, logits.shape) == ((2, 5, 40, 56), (2, 5, 40, 256))
    np.testing.assert_allclose(rows(z), arrays("tiny/sequence_golden.npz")["z"], rtol=0, atol=VALUES)
    np.testing.assert_allclose(rows(logits), arrays("tiny/logits_golden.npz")["logits"], rtol=0, atol=VALUES)


def test_loss_of_the_next_codes(computed: Any, arrays: Any) -> None:
    golden = arrays("tiny/logits_golden.npz")
    targets = torch.from_numpy(golden["target_codes"])[:, 1:].flatten()
    logits = computed["tiny"]["logits"][:, :-1].flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(logits, targets, ignore_index=-100)
    assert loss.item() == pytest.approx(float(golden["ar_loss"]), abs=VALUES)


@pytest.mark.parametrize("name", ["tiny", "tiny_odd"])
def test_float64(name: str, tiny: Any, odd: Any, inputs: dict[str, Tensor], arrays: Any) -> None:
    model = deepcopy(tiny if name == "tiny" else odd).double()
    with torch.inference_mode():
        z = model.tokens(**{key: v.double() if v.is_floating_point() else v for key, v in inputs.items()})
        last = model.code_logits(z).flatten(0, 1)[:, -1]
    if name == "tiny_odd":
        np.testing.assert_allclose(rows(z), arrays("tiny_odd/golden.npz")["z_f64"], rtol=0, atol=1e-9)
        return
    golden = arrays("tiny/float64_golden.npz")
    np.testing.assert_allclose(rows(z), golden["z"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(last.numpy(), golden["logits_last"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, tiny: Any, inputs: dict[str, Tensor], arrays: Any) -> None:
    golden = arrays("tiny/edge_golden.npz")
    given: dict[str, Any] = {**inputs, "chunks": inputs["chunks"][:, :12]}
    if name == "z_three_steps":
        given["chunks"] = given["chunks"][:, :3]
    elif name == "z_zero_signal":
        given["chunks"] = torch.zeros_like(given["chunks"])
    elif name == "z_one_channel":
        given = {key: v[:, :, :1] if key == "chunks" else v[:, :1] for key, v in given.items()}
    elif name == "z_all_masked_item1":
        given["missing"] = torch.from_numpy(golden["missing_all_masked_item1"])
    else:
        given[{"z_no_mask": "missing", "z_no_positions": "positions", "z_no_reference": "reference_ids"}[name]] = None
    with torch.inference_mode():
        np.testing.assert_allclose(rows(tiny.tokens(**given)), golden[name], rtol=0, atol=VALUES)


@pytest.mark.parametrize("name", ["tiny", "tiny_odd"])
def test_streaming(name: str, tiny: Any, odd: Any, inputs: dict[str, Tensor], computed: Any, arrays: Any) -> None:
    model = tiny if name == "tiny" else odd
    stream = Stream(model, inputs["positions"], inputs["reference_ids"], inputs["missing"], batch=2)
    golden = arrays("tiny/stream_golden.npz" if name == "tiny" else "tiny_odd/golden.npz")
    steps = []
    for t in range(40):
        steps.append(stream.step(inputs["chunks"][:, t]))
        states = {key.split(".", 1)[1]: v for key, v in golden.items() if key.startswith(f"state{t + 1}.")}
        saved = stream.state_dict()
        for key, value in states.items():
            mine = saved["slow.last_output" if key == "slow_out" else key]
            np.testing.assert_allclose(mine.numpy(), value, rtol=0, atol=VALUES, err_msg=f"{key} after {t + 1} steps")
        assert not states or set(saved) == set(states) - {"slow_out"}
    z = torch.stack(steps, dim=2)
    np.testing.assert_allclose(rows(z), golden["z_stream"], rtol=0, atol=VALUES)
    np.testing.assert_allclose(rows(z), computed[name]["z"].numpy(), rtol=0, atol=1e-5)


def test_time_constants_and_rates(tiny: Any, computed: Any, arrays: Any) -> None:
    golden = arrays("tiny/timescales_rates.npz")
    constants = time_constants(tiny)
    for name, median in zip(("fast", "slow"), golden["np_median_tau"], strict=True):
        np.testing.assert_allclose(constants[name].numpy(), golden[f"tau_{name}_s"], rtol=1e-5)
        assert np.median(constants[name].numpy()) == pytest.approx(median, rel=1e-5)
    for name, states, seconds in (("fast", "fast_states", 0.5), ("slow", "slow_sequence", 2.0)):
        rates = relative_rates(computed["tiny"][states], None, seconds).numpy()
        assert np.isnan(rates[:, 0]).all()
        np.testing.assert_allclose(rates[:, 1:], golden[f"rate_{name}_per_s"], rtol=0, atol=VALUES)


def test_window_normalisation(arrays: Any) -> None:
    read = arrays("inputs.npz")
    made = normalise_window(torch.from_numpy(read["raw_uV"])).view(2, 5, 40, 128).transpose(1, 2)
    np.testing.assert_allclose(made.numpy(), read["chunks"], rtol=0, atol=5e-6)
    for scale in (1e-6, 1e6):  # the unit does not matter
        other = normalise_window(torch.from_numpy(read["raw_uV"] * np.float32(scale)))
        np.testing.assert_allclose(other.view(2, 5, 40, 128).transpose(1, 2).numpy(), read["chunks"], atol=5e-6)


@pytest.mark.parametrize("mode", ["sequence", "window"])
def test_fine_tuned_heads(mode: str, fine_tuned: Any, unit_positions: Any, arrays: Any) -> None:
    golden = arrays("heads/golden.npz")
    signal = torch.from_numpy(golden["x_uV"])  # (2 items, 4 units, 5 channels, 1280)
    if mode == "sequence":
        whole = normalise_window(signal.transpose(1, 2).reshape(2, 5, -1))
        chunks = whole.view(2, 5, 40, 128).transpose(1, 2)
    else:
        chunks = normalise_window(signal).view(2, 4, 5, 10, 128).transpose(2, 3).reshape(2, 40, 5, 128)
    positions = torch.tensor([unit_positions[name] for name in fine_tuned.config.head.channels])
    valid = torch.from_numpy(golden["valid_mask"])
    zeros = torch.zeros(5, dtype=torch.int64)
    with torch.inference_mode():
        z = fine_tuned.tokens(chunks, positions, zeros)
        found = {
            "tokens": unit_tokens(z, 10),
            "unit_embedding": fine_tuned.unit_embeddings(z),
            "logits": fine_tuned.logits(chunks, positions, zeros, valid=valid),
        }
        for name, values in found.items():
            np.testing.assert_allclose(values.numpy(), golden[f"{name}_{mode}"], rtol=0, atol=VALUES, err_msg=name)
        if mode == "window":
            direct = fine_tuned.readout(unit_tokens(fine_tuned.tokens(chunks[:, :10], positions, zeros), 10))
            np.testing.assert_allclose(direct.numpy(), golden["unit_logits_direct"], rtol=0, atol=VALUES)


@pytest.mark.parametrize("kind", ["tiny", "real"])
def test_tokenizer(kind: str, neurduo_parity: Any, inputs: dict[str, Tensor], arrays: Any) -> None:
    from models.registry import load_model

    tokenizer: Any = load_model(neurduo_parity / "tokenizer" / f"{kind}.safetensors")
    golden = arrays(f"tokenizer/{kind}_golden.npz")
    chunks, missing = inputs["chunks"], inputs["missing"]
    with torch.inference_mode():
        codes = tokenizer.codes(chunks, missing)
        best = tokenizer.vq.similarity(tokenizer.tokens(chunks, missing)).topk(2).values
        losses = tokenizer.losses(chunks, missing)
        found = {
            "phi": (tokenizer.features(chunks, missing), 2e-4),
            "z_e": (tokenizer.tokens(chunks, missing), 1e-4),
            "recon": (tokenizer.decode(codes), 1e-4),
            "cos_best": (best[..., 0], 1e-4),
            "cos_margin": (best[..., 0] - best[..., 1], 1e-4),
        }
    np.testing.assert_array_equal(codes.numpy(), golden["codes"])
    for name, (values, tolerance) in found.items():
        np.testing.assert_allclose(values.numpy(), golden[name], rtol=0, atol=tolerance, err_msg=name)
    named = dict(zip(golden["loss_names"], golden["losses"], strict=True))
    mine = (losses.total, losses.magnitude, losses.phase, losses.commitment, losses.unused_codes, losses.perplexity)
    np.testing.assert_allclose([float(value) for value in mine], list(named.values()), rtol=1e-5, atol=1e-4)
    assert list(named) == ["loss_total", "rec_amp", "rec_phase", "commit", "unused_codes", "perplexity"]
