"""Reads configurations as published files carry them, and recognises published sizes and montages by their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from models.neurduo import checkpoint_map
from models.neurduo.config import PUBLISHED_SIZES, ContextConfig, HeadConfig, NeurDuoConfig, Normalisation

Shape = tuple[int, ...]

CHBMIT = ("FP1", "F7", "T7", "P7", "F3", "C3", "P3", "FP2", "F8", "P8", "F4", "C4", "P4", "FZ", "CZ")
CHBMIT_TWO = ("T7", "P8")
SLEEP_EDF = ("FPZ", "PZ")
UNIT_STEPS = 60
PUBLISHED_UNITS = 20
SEIZURE_LABELS = ("background", "seizure")
SLEEP_LABELS = ("W", "N1", "N2", "N3", "REM")


@dataclass(frozen=True)
class Task:
    """A published fine-tuning task that its readout's size gives away."""

    title: str
    channels: tuple[str, ...]
    normalisation: Normalisation


# By the tokens of a unit and the outputs of the head.
TASKS: Mapping[tuple[int, int], Task] = {
    (len(CHBMIT) * UNIT_STEPS, 2): Task("CHB-MIT with 15 channels", CHBMIT, "sequence"),
    (len(CHBMIT_TWO) * UNIT_STEPS, 2): Task("CHB-MIT with 2 channels", CHBMIT_TWO, "sequence"),
    (len(SLEEP_EDF) * UNIT_STEPS, 5): Task("Sleep-EDF", SLEEP_EDF, "window"),
}


def recognise(shapes: Mapping[str, Shape]) -> NeurDuoConfig | None:
    """The published size whose backbone (published names) has these shapes; None where none has."""
    for config in PUBLISHED_SIZES.values():
        backbone = replace(config, has_predictor=any(name.startswith("future_latent_predictor.") for name in shapes))
        if checkpoint_map.shapes(backbone).items() <= shapes.items():
            return backbone
    return None


def read_model(values: Mapping[str, Any]) -> NeurDuoConfig | None:
    """The architecture in a configuration file: its `model` table, or itself; None where it speaks of none.

    ValueError or TypeError where it cannot be one.
    """
    table = values.get("model", values)
    if not isinstance(table, Mapping) or "fast_dim" not in table:
        return None
    return NeurDuoConfig.from_published(table)


def read_head(values: Mapping[str, Any], shapes: Mapping[str, Shape], step_seconds: float) -> HeadConfig | None:
    """The head that a configuration file and the head's own shapes describe; None where the file names no channels.

    Read are `channels` (names in order), `seg_sec` (seconds of a unit), `context_len` (units of a sequence) and
    `normalisation`; sizes come from the tensors. ValueError where they do not fit together.
    """
    table = values.get("head", values)
    if not isinstance(table, Mapping) or "channels" not in table:
        return None
    names = tuple(str(name).upper() for name in table["channels"])
    sized = _sizes(shapes)
    n_tokens = shapes["mlp.1.weight"][1] // sized["d_token"]
    if not names or n_tokens % len(names):
        raise ValueError(f"the head reads {n_tokens} tokens, which are no whole number for {len(names)} channels")
    steps = n_tokens // len(names)
    stated = float(table.get("seg_sec", steps * step_seconds))
    if abs(stated - steps * step_seconds) > 1e-6:
        raise ValueError(f"seg_sec is {stated:g} s, but the head reads {steps} steps of {step_seconds:g} s")
    default: Normalisation = "sequence" if sized["context"] else "window"
    return HeadConfig(
        channels=names,
        unit_steps=steps,
        context_units=int(table.get("context_len", PUBLISHED_UNITS if sized["context"] else 1)),
        normalisation=table.get("normalisation", default),
        **sized,
    )


def recognise_head(shapes: Mapping[str, Shape]) -> tuple[HeadConfig, str] | None:
    """The head of a published task and the task's title, by its shapes; None where it is of no such task."""
    sized = _sizes(shapes)
    task = TASKS.get((shapes["mlp.1.weight"][1] // sized["d_token"], sized["n_outputs"]))
    if task is None or sized["context"] is None:
        return None
    return (
        HeadConfig(
            channels=task.channels,
            unit_steps=UNIT_STEPS,
            context_units=PUBLISHED_UNITS,
            normalisation=task.normalisation,
            **sized,
        ),
        task.title,
    )


def default_labels(head: HeadConfig) -> tuple[str, ...]:
    """Names of a head's outputs where no file names them."""
    if head.n_outputs == len(SEIZURE_LABELS):
        return SEIZURE_LABELS
    if head.channels == SLEEP_EDF and head.n_outputs == len(SLEEP_LABELS):
        return SLEEP_LABELS
    return tuple(f"class {i}" for i in range(head.n_outputs))


def _sizes(shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """What the tensors of a head (names without the readout's prefix) tell of it; KeyError where one is missing."""
    d_hidden = shapes["mlp.1.weight"][0]
    context = None
    if "context.norm.weight" in shapes:
        layers = {name.split(".")[2] for name in shapes if name.startswith("context.layers.")}
        context = ContextConfig(
            n_layers=len(layers),
            expand=shapes["context.layers.0.A_log"][0] // d_hidden,
            d_state=shapes["context.layers.0.A_log"][1],
            d_conv=shapes["context.layers.0.conv1d.weight"][2],
        )
    outputs = shapes["context.out.weight"] if context else shapes["mlp.4.weight"]
    return {
        "d_token": shapes["proj.1.weight"][0],
        "d_hidden": d_hidden,
        "n_outputs": outputs[0],
        "context": context,
    }
