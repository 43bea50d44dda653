"""Where the sizes of a published MVPFormer come from: its shapes, or a JSON file beside it.

Such a file is either nested, as the one that comes with the published code's test models (`base`, `classifier`,
`encoder`, `signal`), or flat, with fields of MVPFormerConfig. A flat one may hold only what differs from a
published size, for instance `{"n_segments": 100}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from models.mvpformer import wavelet
from models.mvpformer.config import PUBLISHED_SIZES, MVPFormerConfig

SECTIONS = ("base", "classifier", "encoder", "signal")

# (section, name) -> field here; a name of the top level has the section "".
FIELDS = {
    **{("base", name): name for name in ("n_positions", "n_channels", "n_embd", "n_layer", "n_head", "n_head_kv")},
    ("base", "n_inner"): "n_inner",
    ("base", "layer_norm_epsilon"): "layer_norm_epsilon",
    ("classifier", "lora_rank"): "lora_rank",
    ("classifier", "lora_alpha"): "lora_alpha",
    ("classifier", "head_size_out"): "n_classes",
    ("encoder", "size_input"): "size_input",
    ("signal", "sampling_rate_hz"): "sampling_rate_hz",
    ("signal", "segments"): "n_segments",
    ("", "window_segments"): "window_segments",
    ("", "num_negatives"): "num_negatives",
    ("", "temperature"): "temperature",
}

# Switches that this program has at one value only, the published one.
FIXED = {
    ("base", "global_att"): True,
    ("base", "scale_attn_weights"): True,
    ("base", "activation_function"): "silu",
    ("classifier", "same_as"): "base",
    ("classifier", "lora_dropout"): 0,
    ("encoder", "wavelet"): "db4",
    ("encoder", "mode"): "periodic",
    ("signal", "unit"): "microvolt",
}

# What the weight files themselves settle, or what only describes an example.
IGNORED = {
    ("base", "lora"),
    ("base", "head_size_out"),
    ("classifier", "lora"),
    ("signal", "channels"),
    ("signal", "batch"),
}


def recognise(shapes: Mapping[str, tuple[int, ...]]) -> MVPFormerConfig | None:
    """The published size with these tensor shapes, or None."""
    facts = _facts(shapes)
    for config in PUBLISHED_SIZES.values():
        width = config.n_embd
        expected = {
            "layers": config.n_layer,
            "final norm": (width,),
            "time keys": (config.kv_width, width),
            "gate": (config.n_inner, width),
            "time table": (config.n_positions, width),
            "channel table": (config.n_channels, width),
        }
        if facts == expected:
            return config
    return None


def read(values: Mapping[str, Any], known: MVPFormerConfig | None) -> MVPFormerConfig:
    """The configuration in a JSON file, on top of one already known; anything not understood is a ValueError."""
    flat = _flatten(values) if any(isinstance(values.get(section), Mapping) for section in SECTIONS) else dict(values)
    return MVPFormerConfig.from_dict((asdict(known) if known else {}) | flat)


def states_window(values: Mapping[str, Any]) -> bool:
    """Whether a JSON file says how many segments the window has."""
    signal = values.get("signal")
    return "n_segments" in values or (isinstance(signal, Mapping) and "segments" in signal)


def _facts(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """What tells one size from another."""
    layer = "mvpformer.h."
    return {
        "layers": len({name.split(".")[2] for name in shapes if name.startswith(layer)}),
        "final norm": shapes.get("mvpformer.ln_f.weight"),
        "time keys": shapes.get(f"{layer}0.attn.position_net.weight"),
        "gate": shapes.get(f"{layer}0.mlp.gate_proj.weight"),
        "time table": shapes.get("mvpformer.positional_embedding.weight"),
        "channel table": shapes.get("mvpformer.channel_embedding.weight"),
    }


def _flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of MVPFormerConfig from the nested form, every name of which must be understood."""
    flat: dict[str, Any] = {}
    derived: dict[tuple[str, str], Any] = {}
    for key, value in _pairs(values):
        if key in FIELDS:
            flat[FIELDS[key]] = value
        elif key in FIXED:
            if value != FIXED[key]:
                raise ValueError(f"{'.'.join(key).lstrip('.')} is {value!r}, only {FIXED[key]!r} can be read")
        elif key not in IGNORED:
            derived[key] = value
    _check_derived(flat, derived)
    return flat


def _pairs(values: Mapping[str, Any]) -> list[tuple[tuple[str, str], Any]]:
    """Every ((section, name), value) of the nested form."""
    pairs: list[tuple[tuple[str, str], Any]] = []
    for name, value in values.items():
        if name in SECTIONS:
            if not isinstance(value, Mapping):
                raise ValueError(f"{name} must be a table")
            pairs += [((name, inner), inner_value) for inner, inner_value in value.items()]
        else:
            pairs.append((("", name), value))
    return pairs


def _check_derived(flat: Mapping[str, Any], derived: Mapping[tuple[str, str], Any]) -> None:
    """Values that follow from others must agree with them; a name that is left is unknown."""
    samples, rate = flat.get("size_input", 2560), flat.get("sampling_rate_hz", 512)
    expected = {
        ("base", "head_size_in"): flat.get("n_embd"),
        ("classifier", "head_size_in"): flat.get("n_embd"),
        ("classifier", "lora_scaling"): flat.get("lora_alpha", 16) / flat.get("lora_rank", 8),
        ("encoder", "size_output"): flat.get("n_embd"),
        ("encoder", "levels"): wavelet.max_levels(samples),
        ("encoder", "coefficients"): sum(wavelet.band_lengths(samples)),
        ("encoder", "rms_eps"): flat.get("layer_norm_epsilon", 1e-5),
        ("signal", "segment_seconds"): samples / rate,
    }
    for key, value in derived.items():
        name = ".".join(key).lstrip(".")
        if key not in expected:
            raise ValueError(f"unknown field {name}")
        if value != expected[key]:
            raise ValueError(f"{name} is {value!r}, but the other fields make it {expected[key]!r}")
