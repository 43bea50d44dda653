"""Every golden array of the published code, reproduced within the tolerance its README states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.mvpformer.attention import MVPAttention
from models.mvpformer.introspection import attention_parts, layer_outputs
from models.mvpformer.model import MVPFormer
from models.mvpformer.objective import contrastive_logits, contrastive_loss, similarity

LAYERS = range(3)
STAGES = {"encoder_out": 1e-4, **{f"block{i}_out": 1e-4 for i in LAYERS}, "final_hidden": 1e-4}
PARTS = {
    f"layer{i}_{part}": tolerance
    for i in LAYERS
    for part, tolerance in {"score_content": 2e-4, "score_time": 2e-4, "score_channel": 2e-4, "probs": 1e-5}.items()
}
TOLERANCES = {
    "generative": {
        **STAGES,
        **PARTS,
        "predicted": 1e-4,
        "cos_true": 1e-5,
        "cos_twostep": 1e-5,
        "cos_random": 1e-5,
        "cos_true_logged": 1e-5,
        "contrastive_logits": 1e-4,
        "contrastive_loss": 1e-5,
    },
    "classifier": {
        **STAGES,
        **PARTS,
        "pooled": 1e-5,
        "logits": 1e-5,
        "class_probs": 1e-5,
        **{f"layer{i}_{part}_attn_merged": 1e-6 for i in (0, 2) for part in ("q", "c")},
    },
    "edge_cases": {
        **{
            f"{case}_{array}": 1e-4 if array.startswith("gen") else 1e-5
            for case in ("one_channel", "one_segment", "t28", "c14", "flat_channel")
            for array in ("generative_final_hidden", "classifier_logits")
        },
        "volts_generative_encoder_out": 1e-4,
        "flat_channel_generative_encoder_out": 1e-4,
    },
}
# Draws of the published code, which the arrays above are computed from.
DRAWS = {"random_segment_index", "negative_token_index"}


def stages(model: MVPFormer, signal: Tensor) -> dict[str, Tensor]:
    """Embeddings, tokens after each stage, and the attention parts of each layer."""
    embeddings = model.embed(signal)
    outputs = layer_outputs(model, embeddings)
    found = {"encoder_out": embeddings, "final_hidden": outputs["final norm"]}
    for layer, parts in attention_parts(model, embeddings).items():
        found[f"block{layer}_out"] = outputs[f"block {layer}"]
        found[f"layer{layer}_score_content"] = parts.content
        found[f"layer{layer}_score_time"] = parts.time
        found[f"layer{layer}_score_channel"] = parts.channel
        found[f"layer{layer}_probs"] = parts.probabilities
    return found


def predictions(model: MVPFormer, signal: Tensor, draws: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """What only the generative model gives, with the confounders and references the published code drew."""
    embeddings = model.embed(signal)
    predicted = model.predictions_from_embeddings(embeddings)
    cosines = similarity(predicted, embeddings, torch.from_numpy(draws["random_segment_index"]).long())
    confounders = torch.from_numpy(draws["negative_token_index"])
    logits = contrastive_logits(predicted, embeddings, confounders, model.config.temperature)
    return {
        "predicted": predicted,
        "cos_true": cosines.true,
        "cos_twostep": cosines.two_step,
        "cos_random": cosines.random,
        "cos_true_logged": cosines.true.mean(-1),
        "contrastive_logits": logits,
        "contrastive_loss": contrastive_loss(logits),
    }


def classes(model: MVPFormer, signal: Tensor) -> dict[str, Tensor]:
    """What only the classifier gives, and its merged weights."""
    logits = model.logits(signal=signal)
    found = {
        "pooled": model.tokens(signal=signal)[:, -1].mean(1),
        "logits": logits,
        "class_probs": logits.softmax(-1),
    }
    for layer in (0, 2):
        attention: Any = model.blocks[layer].attention
        assert isinstance(attention, MVPAttention)
        found[f"layer{layer}_q_attn_merged"] = attention.query.effective_weight()
        found[f"layer{layer}_c_attn_merged"] = attention.key_value.effective_weight()
    return found


def edge_inputs(signal: Tensor) -> dict[str, Tensor]:
    """The inputs of the edge cases, all cut from the golden signal."""
    flat = signal[:1, :3].clone()
    flat[:, :, 2] = 0
    return {
        "one_channel": signal[:, :, :1],
        "one_segment": signal[:, :1],
        "t28": torch.cat([signal[:1], signal[1:]], dim=1),
        "c14": torch.cat([signal[:1], signal[1:]], dim=2),
        "flat_channel": flat,
        "volts": signal[:1, :2] * torch.tensor(1e-6),
    }


@pytest.fixture(scope="module")
def computed(
    generative: Any, classifier: Any, golden_arrays: Any, golden_signal: Tensor
) -> dict[str, dict[str, Tensor]]:
    with torch.inference_mode():
        edges: dict[str, Tensor] = {}
        for case, signal in edge_inputs(golden_signal).items():
            edges[f"{case}_generative_encoder_out"] = generative.embed(signal)
            edges[f"{case}_generative_final_hidden"] = generative.tokens(signal=signal)
            edges[f"{case}_classifier_logits"] = classifier.logits(signal=signal)
        draws = golden_arrays["generative"]
        return {
            "generative": stages(generative, golden_signal) | predictions(generative, golden_signal, draws),
            "classifier": stages(classifier, golden_signal) | classes(classifier, golden_signal),
            "edge_cases": edges,
        }


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, names in TOLERANCES.items() for name in names])
def test_golden_array(computed: Any, golden_arrays: Any, file: str, name: str) -> None:
    found, golden = computed[file][name].numpy(), golden_arrays[file][name]
    assert found.dtype == golden.dtype
    np.testing.assert_allclose(found, golden, rtol=0, atol=TOLERANCES[file][name])


@pytest.mark.parametrize("file", TOLERANCES)
def test_no_golden_array_is_left_out(golden_arrays: Any, file: str) -> None:
    assert set(TOLERANCES[file]) == set(golden_arrays[file]) - DRAWS


def test_plain_path_gives_the_golden_tokens(generative: Any, golden_arrays: Any, golden_signal: Tensor) -> None:
    with torch.inference_mode():
        tokens = generative.tokens_from_embeddings(generative.embed(golden_signal), plain=True)
    np.testing.assert_allclose(tokens.numpy(), golden_arrays["generative"]["final_hidden"], rtol=0, atol=1e-4)


def test_folded_lora_gives_the_golden_logits(classifier: Any, golden_arrays: Any, golden_signal: Tensor) -> None:
    from copy import deepcopy

    folded = deepcopy(classifier)
    for _ in range(2):
        folded.fold_lora()
        with torch.inference_mode():
            logits = folded.logits(signal=golden_signal).numpy()
        np.testing.assert_allclose(logits, golden_arrays["classifier"]["logits"], rtol=0, atol=1e-5)


def test_classifier_in_float64_stays_near_the_golden_numbers(
    classifier: Any, golden_arrays: Any, golden_signal: Tensor
) -> None:
    from copy import deepcopy

    with torch.inference_mode():
        logits = deepcopy(classifier).double().logits(signal=golden_signal.double())
    np.testing.assert_allclose(logits.numpy(), golden_arrays["classifier"]["logits"], rtol=0, atol=5e-6)
