"""Names and shapes of published MVPFormer files, and what each name is called here.

Our container uses the published names as well, so there is one table for both.
"""

from __future__ import annotations

from collections.abc import Iterable

from models.mvpformer import wavelet
from models.mvpformer.config import MVPFormerConfig

# Published name -> name here, for one layer; {i} is the layer.
LAYER_NAMES = {
    "mvpformer.h.{i}.ln_1.weight": "blocks.{i}.norm.weight",
    "mvpformer.h.{i}.attn.attn_bias": "blocks.{i}.attention.bias",
    "mvpformer.h.{i}.attn.q_attn.weight": "blocks.{i}.attention.query.weight",
    "mvpformer.h.{i}.attn.q_attn.lora_A": "blocks.{i}.attention.query.lora_A",
    "mvpformer.h.{i}.attn.q_attn.lora_B": "blocks.{i}.attention.query.lora_B",
    "mvpformer.h.{i}.attn.c_attn.weight": "blocks.{i}.attention.key_value.weight",
    "mvpformer.h.{i}.attn.c_attn.lora_A": "blocks.{i}.attention.key_value.lora_A",
    "mvpformer.h.{i}.attn.c_attn.lora_B": "blocks.{i}.attention.key_value.lora_B",
    "mvpformer.h.{i}.attn.position_net.weight": "blocks.{i}.attention.time_key.weight",
    "mvpformer.h.{i}.attn.channel_net.weight": "blocks.{i}.attention.channel_key.weight",
    "mvpformer.h.{i}.attn.c_proj.weight": "blocks.{i}.attention.output.weight",
    "mvpformer.h.{i}.mlp.gate_proj.weight": "blocks.{i}.mlp.gate.weight",
    "mvpformer.h.{i}.mlp.up_proj.weight": "blocks.{i}.mlp.up.weight",
    "mvpformer.h.{i}.mlp.down_proj.weight": "blocks.{i}.mlp.down.weight",
}
OUTER_NAMES = {
    "mvpformer.ln_f.weight": "final_norm.weight",
    "mvpformer.positional_embedding.weight": "time_table",
    "mvpformer.channel_embedding.weight": "channel_table",
    "encoder.ln.weight": "encoder.norm.weight",
    "encoder.proj.weight": "encoder.projection.weight",
    "head.head.weight": "head.weight",
}
# In the published files, but without a part in what the model computes; the first two are parameters, not buffers.
UNUSED_LAYER_NAMES = (
    "mvpformer.h.{i}.ln_2.weight",
    "mvpformer.h.{i}.attn.time_bias",
    "mvpformer.h.{i}.attn.masked_bias",
)
UNUSED_OUTER_NAMES = ("seizure_embeddings",)
UNUSED_BUFFERS = (".time_bias", ".masked_bias")

HEAD = "head.head.weight"
ENCODER_NORM = "encoder.ln.weight"
CLASS_WEIGHTS = "class_loss.weight"
PARTS = {
    "encoder": "encoder.",
    "position tables": "embedding.weight",
    "attention": ".attn.",
    "mlp": ".mlp.",
    "norms": ".ln_",
    "head": "head.",
}


def looks_like(names: Iterable[str]) -> bool:
    """Whether these are names of an MVPFormer base or head file."""
    names = set(names)
    return any(name.startswith("mvpformer.") for name in names) or (HEAD in names and names <= {HEAD, CLASS_WEIGHTS})


def local_name(published: str) -> str:
    """The name here of a published one."""
    if not published.startswith("mvpformer.h."):
        return OUTER_NAMES[published]
    layer, rest = published.removeprefix("mvpformer.h.").split(".", 1)
    return LAYER_NAMES["mvpformer.h.{i}." + rest].format(i=layer)


def used_shapes(config: MVPFormerConfig) -> dict[str, tuple[int, ...]]:
    """Published name -> shape of everything the model computes with, in the published order."""
    width, kv, rank = config.n_embd, config.kv_width, config.lora_rank
    n_coefficients = sum(wavelet.band_lengths(config.size_input))
    layer = {
        "ln_1.weight": (width,),
        "attn.attn_bias": (3 * kv,),
        "attn.q_attn.weight": (width, width),
        "attn.q_attn.lora_A": (rank, width),
        "attn.q_attn.lora_B": (width, rank),
        "attn.c_attn.weight": (2 * kv, width),
        "attn.c_attn.lora_A": (rank, width),
        "attn.c_attn.lora_B": (kv, rank),
        "attn.position_net.weight": (kv, width),
        "attn.channel_net.weight": (kv, width),
        "attn.c_proj.weight": (width, width),
        "mlp.gate_proj.weight": (config.n_inner, width),
        "mlp.up_proj.weight": (config.n_inner, width),
        "mlp.down_proj.weight": (width, config.n_inner),
    }
    layer = {name: shape for name, shape in layer.items() if rank or "lora" not in name}
    shapes = {f"mvpformer.h.{i}.{name}": shape for i in range(config.n_layer) for name, shape in layer.items()}
    return shapes | {
        "mvpformer.ln_f.weight": (width,),
        "mvpformer.positional_embedding.weight": (config.n_positions, width),
        "mvpformer.channel_embedding.weight": (config.n_channels, width),
        ENCODER_NORM: (n_coefficients,),
        "encoder.proj.weight": (width, n_coefficients),
        HEAD: (config.head_outputs, width),
    }


def unused_names(config: MVPFormerConfig) -> tuple[str, ...]:
    """Names that published files have beside those of `used_shapes`."""
    layers = (name.format(i=i) for i in range(config.n_layer) for name in UNUSED_LAYER_NAMES)
    return (*UNUSED_OUTER_NAMES, *layers)


def part(name: str) -> str:
    """Which line of the parameter table a published name counts in."""
    if ".lora_" in name:
        return "lora"
    return next(part for part, mark in PARTS.items() if mark in name)


def size(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count
