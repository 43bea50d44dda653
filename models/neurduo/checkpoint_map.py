"""Names and shapes of published NeurDuo-EEG files, and what each name is called here.

Our container uses the published names as well, so there is one table for both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from models.neurduo.config import HeadConfig, NeurDuoConfig, TokenizerConfig

Shape = tuple[int, ...]

# Published prefix -> prefix here; the first that fits counts.
PREFIXES: Mapping[str, str] = {
    "signal_patch_encoder.": "signal_encoder.",
    "metadata_encoder.": "metadata_encoder.",
    "spatial_mixer.norm.": "input_norm.",
    "fast_backbone.stack.": "fast.",
    "fast_backbone.input_proj.": "fast.input_proj.",
    "memory_writer.": "writer.",
    "slow_backbone.stack.": "slow.",
    "memory_context.": "retrieval.",
    "future_latent_predictor.net.": "predictor.",
    "st_head.": "readout.",
    "context.": "context.",
}
# What names of the backbone are put under in files: the bare model, a pre-training file, fine-tuned models.
BACKBONE_PREFIXES = ("", "student.", "base.backbone.", "backbone.")
# A fine-tuned model has its readout under one or two of these names.
READOUT_PREFIXES = ("st_head.", "base.classifier.", "classifier.")
CONTEXT_PREFIX = "context."
TOKENIZER_PREFIXES = ("", "tokenizer.")
PARTS = {
    "signal encoder": ("signal_patch_encoder.",),
    "metadata encoder": ("metadata_encoder.", "spatial_mixer."),
    "fast stream": ("fast_backbone.",),
    "memory": ("memory_writer.", "memory_context."),
    "slow stream": ("slow_backbone.",),
    "prediction head": ("future_latent_predictor.",),
    "classification head": ("st_head.", "context."),
}


def looks_like(names: Iterable[str]) -> bool:
    """Whether these are names of a NeurDuo-EEG, or of a head for one."""
    names = set(names)
    return any("fast_backbone.stack." in name or "signal_patch_encoder." in name for name in names) or is_head(names)


def is_head(names: Iterable[str]) -> bool:
    """Whether these are names of a fine-tuned head alone."""
    names = set(names)
    known = (*READOUT_PREFIXES, CONTEXT_PREFIX)
    has_readout = any(f"{prefix}mlp.4.weight" in names for prefix in READOUT_PREFIXES)
    return has_readout and all(name.startswith(known) for name in names)


def looks_like_tokenizer(names: Iterable[str]) -> bool:
    """Whether these are names of a spectral tokenizer."""
    return any(name.removeprefix("tokenizer.").startswith("per_channel_blocks.") for name in names)


def local_name(published: str) -> str:
    """The name here of a published one."""
    prefix = next(prefix for prefix in PREFIXES if published.startswith(prefix))
    return PREFIXES[prefix] + published.removeprefix(prefix)


def part(published: str) -> str:
    """Which line of the parameter table a published name counts in."""
    return next(part for part, prefixes in PARTS.items() if published.startswith(prefixes))


def shapes(config: NeurDuoConfig) -> dict[str, Shape]:
    """Published name -> shape of everything the model computes with, in the published order."""
    named = _encoder_shapes(config) | _stream_shapes(config)
    if config.has_predictor:
        width = config.predictor_hidden_dim
        net = {
            **_affine("0", (config.z_dim,)),
            **_affine("1", (width, config.z_dim)),
            **_affine("3", (config.codebook_size, width)),
        }
        named |= _under("future_latent_predictor.net.", net)
    return named | (head_shapes(config.z_dim, config.head) if config.head else {})


def head_shapes(z_dim: int, head: HeadConfig) -> dict[str, Shape]:
    """Published name -> shape of a fine-tuned head."""
    readout = {
        **_affine("proj.0", (z_dim,)),
        **_affine("proj.1", (head.d_token, z_dim)),
        **_affine("mlp.1", (head.d_hidden, head.n_tokens * head.d_token)),
        **_affine("mlp.4", (head.n_outputs, head.d_hidden)),
    }
    named = _under("st_head.", readout)
    if head.context is None:
        return named
    context, width = head.context, head.d_hidden
    for i in range(context.n_layers):
        block = mamba_shapes(width, context.d_state, context.d_conv, context.expand)
        named |= _under(f"{CONTEXT_PREFIX}layers.{i}.", block)
    for i in range(context.n_layers):
        named |= _under(CONTEXT_PREFIX, _affine(f"lns.{i}", (width,)))
    return named | _under(CONTEXT_PREFIX, {**_affine("norm", (width,)), **_affine("out", (head.n_outputs, width))})


def mamba_shapes(width: int, n_states: int, conv_width: int, expand: int) -> dict[str, Shape]:
    """Name -> shape of one Mamba block."""
    inner, rank = expand * width, math.ceil(width / 16)
    return {
        "A_log": (inner, n_states),
        "D": (inner,),
        "in_proj.weight": (2 * inner, width),
        "conv1d.weight": (inner, 1, conv_width),
        "conv1d.bias": (inner,),
        "x_proj.weight": (rank + 2 * n_states, inner),
        "dt_proj.weight": (inner, rank),
        "dt_proj.bias": (inner,),
        "out_proj.weight": (width, inner),
    }


def tokenizer_shapes(config: TokenizerConfig) -> dict[str, Shape]:
    """Name -> shape of everything in a tokenizer; the names here are the published ones."""
    width, features = config.enc_dim, 2 * config.n_bins
    named = _affine("input_proj", (width, features))
    for i in range(config.enc_layers):
        block = {
            **_affine("0", (width,)),
            **_affine("1", (4 * width, width)),
            **_affine("3", (width, 4 * width)),
        }
        named |= _under(f"per_channel_blocks.{i}.", block)
    book = (config.codebook_size, config.code_dim)
    codebook: dict[str, Shape] = {"embedding": book, "cluster_size": book[:1], "embed_avg": book, "initted": ()}
    return {
        **named,
        **_affine("enc_norm", (width,)),
        **_affine("to_code", (config.code_dim, width)),
        **_under("vq.", codebook),
        **_affine("code_proj", (width, config.code_dim)),
        **_affine("decoder.0", (config.dec_hidden_dim, width)),
        **_affine("decoder.2", (features, config.dec_hidden_dim)),
    }


def size(shape: Shape) -> int:
    """How many values a tensor of this shape has."""
    return math.prod(shape)


def _encoder_shapes(config: NeurDuoConfig) -> dict[str, Shape]:
    hidden, token = config.patch_hidden_dim, config.token_dim
    signal: dict[str, Shape] = {}
    for i, kernel in enumerate(config.patch_kernel_sizes):
        signal |= _affine(f"branches.{i}.0", (hidden, 1, kernel))
        signal |= _affine(f"branches.{i}.2", (hidden, hidden, 3))
    signal |= _affine("merge.0", (hidden, len(config.patch_kernel_sizes) * hidden, 1))
    signal |= _affine("temporal_gate", (1, hidden)) | _affine("proj", (token, hidden))
    metadata = {
        **_affine("coord_proj.0", (config.metadata_hidden_dim, config.coord_dim)),
        **_affine("coord_proj.2", (token, config.metadata_hidden_dim)),
        "reference_embed.weight": (config.max_reference_types, token),
    }
    return {
        **_under("signal_patch_encoder.", signal),
        **_under("metadata_encoder.", metadata),
        **_under("spatial_mixer.", _affine("norm", (token,))),
    }


def _stream_shapes(config: NeurDuoConfig) -> dict[str, Shape]:
    fast, slow = config.fast_dim, config.slow_dim
    named: dict[str, Shape] = {}
    if config.token_dim != fast:
        named |= _under("fast_backbone.", _affine("input_proj", (fast, config.token_dim)))
    block = mamba_shapes(fast, config.fast_d_state, config.fast_conv_kernel_size, config.fast_expand_factor)
    named |= _under("fast_backbone.stack.", _stack_shapes(fast, config.fast_num_layers, block))
    for i in range(config.n_channel_attention):
        attention = {
            **_affine("norm", (fast,)),
            "attn.in_proj_weight": (3 * fast, fast),
            "attn.in_proj_bias": (3 * fast,),
            **_affine("attn.out_proj", (fast, fast)),
        }
        named |= _under(f"fast_backbone.stack.channel_attn.{i}.", attention)
    writer = {**_affine("score", (1, fast)), **_affine("proj.0", (fast,)), **_affine("proj.1", (slow, fast))}
    block = mamba_shapes(slow, config.slow_d_state, config.slow_conv_kernel_size, config.slow_expand_factor)
    retrieval = {
        **_affine("query", (slow, fast)),
        **_affine("key", (slow, slow)),
        **_affine("value", (slow, slow)),
        **_affine("gate.0", (slow, fast + slow)),
    }
    return {
        **named,
        **_under("memory_writer.", writer),
        **_under("slow_backbone.stack.", _stack_shapes(slow, config.slow_num_layers, block)),
        **_under("memory_context.", retrieval),
    }


def _stack_shapes(width: int, n_layers: int, block: Mapping[str, Shape]) -> dict[str, Shape]:
    named: dict[str, Shape] = {}
    for i in range(n_layers):
        named |= _affine(f"norms.{i}", (width,))
    for i in range(n_layers):
        named |= _under(f"blocks.{i}.", block)
    return named | _affine("final_norm", (width,))


def _affine(name: str, shape: Shape) -> dict[str, Shape]:
    """A weight and the bias of its first dimension."""
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def _under(prefix: str, named: Mapping[str, Shape]) -> dict[str, Shape]:
    return {prefix + name: shape for name, shape in named.items()}
