"""Models with seeded random weights, asked for by name: what every analysis can be tried with, and compared to.

A name is "random:FAMILY", "random:FAMILY:SIZE" or "random:FAMILY:SIZE:SEED", such as "random:axon:tiny:7".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from models.axon.config import AXON, DENSE, AxonConfig
from models.checkpoint import describe
from models.errors import CheckpointError
from models.families import MODELS, Checkpoint
from models.mvpformer.config import MVPFORMER_S, MVPFormerConfig
from models.neurduo.config import PUBLISHED_SIZES as NEURDUO_SIZES
from models.neurduo.config import SMALL as NEURDUO_SMALL
from models.neurduo.config import ContextConfig, HeadConfig
from models.neurduo.published_config import CHBMIT, PUBLISHED_UNITS, UNIT_STEPS
from models.prise.config import VARIANTS, PriseConfig, reference_profile
from models.registry import load_model, untrained_model

if TYPE_CHECKING:
    import torch

PREFIX = "random:"
_CLASSES = 2

_NEURDUO_TINY = replace(
    NEURDUO_SMALL,
    token_dim=32,
    patch_hidden_dim=16,
    fast_dim=32,
    slow_dim=24,
    slow_num_layers=2,
    codebook_size=256,
    predictor_hidden_dim=32,
)

# By family: the sizes by name, the first of which is taken where none is named.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "mvpformer": {
        "tiny": MVPFormerConfig(n_embd=64, n_layer=3, n_head=4, n_head_kv=2, n_inner=96, task="classification"),
        "S": replace(MVPFORMER_S, task="classification"),
        "base": MVPFormerConfig(n_embd=64, n_layer=3, n_head=4, n_head_kv=2, n_inner=96),
    },
    "axon": {
        "tiny": AxonConfig(embed_dim=64, depth=6, num_heads=4, n_outputs=_CLASSES, head_hidden_dim=32),
        "published": replace(AXON, n_outputs=_CLASSES),
        "dense-tiny": AxonConfig(
            embed_dim=64, depth=6, num_heads=4, n_outputs=_CLASSES, head_hidden_dim=32, variant="dense"
        ),
        "dense": replace(DENSE, n_outputs=_CLASSES),
    },
    "prise-eeg": {
        "tiny": PriseConfig(
            embed_dim=64,
            expert_dim=32,
            n_group=2,
            n_temporal=2,
            frequency_dim=32,
            conv_dim=16,
            n_shared=reference_profile(8),
            n_outputs=_CLASSES,
        ),
        **{name: replace(variant, n_outputs=_CLASSES) for name, variant in VARIANTS.items()},
    },
    "neurduo": {
        "tiny": _NEURDUO_TINY,
        **NEURDUO_SIZES,
        # The published seizure task at tiny size: units of 30 s in sequences of 10 minutes.
        "tiny-chbmit": replace(
            _NEURDUO_TINY,
            has_predictor=False,
            head=HeadConfig(CHBMIT, UNIT_STEPS, _CLASSES, 4, 32, ContextConfig(), PUBLISHED_UNITS, "sequence"),
        ),
    },
}


def is_random_name(name: str) -> bool:
    """Whether a checkpoint is asked for by such a name."""
    return name.startswith(PREFIX)


def random_model(name: str, device: str | torch.device = "cpu") -> torch.nn.Module:
    """The model of such a name; CheckpointError says what there is instead of what was asked for."""
    family, size, seed = _parse(name)
    model = drawn_model(family, SIZES[family][size], seed, device)
    facts = model.checkpoint
    assert isinstance(facts, Checkpoint)
    card = {"name": f"{PREFIX}{family}:{size}:{seed}", "trained": False, "seed": seed}
    model.checkpoint = replace(facts, card=card)
    return model


def drawn_model(family: str, config: Any, seed: int, device: str | torch.device = "cpu") -> torch.nn.Module:
    """An untrained model of a family and configuration, in which every part has something to show."""
    model = untrained_model(family, config, seed=seed, device=device)
    if family == "axon":
        # As training begins all tokens have equal gates, of which there is nothing to see.
        model.draw_gates(seed)  # type: ignore[operator]
    return model


def load_any(
    name: str,
    head: str | PathLike[str] | None = None,
    device: str | torch.device = "cpu",
    config: str | PathLike[str] | None = None,
) -> torch.nn.Module:
    """The model of a checkpoint file, or of such a name."""
    if is_random_name(name):
        return random_model(name, device)
    return load_model(name, head=head, device=device, config=config)


def describe_any(
    path: str, head: str | PathLike[str] | None = None, config: str | PathLike[str] | None = None
) -> dict[str, Any]:
    """What `models.checkpoint.describe` says of a file, or what there is to say of a model asked for by such a name."""
    if not is_random_name(path):
        return describe(path, head, config)
    family, size, seed = _parse(path)
    model = untrained_model(family, SIZES[family][size], seed=seed, device="meta")
    facts = model.checkpoint
    assert isinstance(facts, Checkpoint)
    return {
        "path": f"{PREFIX}{family}:{size}:{seed}",
        "family": family,
        "title": MODELS[family].title,
        "size": size,
        "config": json.loads(json.dumps(asdict(facts.config))),
        "n_params": facts.n_params,
        "parameters": _counts(model, facts),
        "labels": list(facts.labels),
        "preprocessing": dict(facts.preprocessing),
        "card": {"trained": False, "seed": seed},
        "random_weights": True,
        "notes": list(facts.notes),
    }


def _counts(model: torch.nn.Module, facts: Checkpoint) -> dict[str, int]:
    """Parameters by part of the model, as they are counted in a file."""
    rules = MODELS[facts.model_name].loading_rules()
    not_learned = {name for name, _ in model.named_buffers()}
    counts: dict[str, int] = {}
    for name, tensor in rules.published_state(model.state_dict(), facts.config).items():
        if name not in not_learned:
            counts[rules.part(name)] = counts.get(rules.part(name), 0) + tensor.numel()
    return counts


def _parse(name: str) -> tuple[str, str, int]:
    parts = name.removeprefix(PREFIX).split(":")
    family = parts[0]
    if family not in SIZES:
        raise CheckpointError(f"no family of models is called {family!r} ({name}): choose one of {', '.join(SIZES)}")
    sizes = SIZES[family]
    size = parts[1] if len(parts) > 1 and parts[1] else next(iter(sizes))
    if size not in sizes:
        raise CheckpointError(f"{family} has no size {size!r} ({name}): choose one of {', '.join(sizes)}")
    seed = parts[2] if len(parts) > 2 else "0"
    if not (seed.isascii() and seed.isdigit()) or len(parts) > 3:
        raise CheckpointError(f"the seed must be a whole number ({name}): write {PREFIX}{family}:{size}:7")
    return family, size, int(seed)
