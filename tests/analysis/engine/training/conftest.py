"""Recipes of models so small that a step takes a moment, on recordings that are simulated in seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SITES = ("F7", "T7", "P7", "C3", "Cz", "C4", "P8", "O2")

# Lines of the tables [model] and [model.config].
CONFIGS = {
    "axon": """
[model.config]
embed_dim = 16
depth = 2
num_heads = 2
head_hidden_dim = 16
pool = "channel"
dropout = 0.1
""",
    "prise-eeg": """
[model.config]
embed_dim = 24
expert_dim = 8
n_tokenizer = 1
n_group = 1
n_temporal = 1
n_decoder = 1
num_heads = 2
n_kv_head = 2
n_shared = [1, 1, 0, 0]
frequency_dim = 8
conv_dim = 4
n_patches = 4
dropout = 0.0
drop_path = 0.0
pool = "channel"
""",
    "mvpformer": """
whiten = true
[model.config]
n_embd = 16
n_layer = 1
n_head = 2
n_head_kv = 1
n_inner = 32
n_positions = 4
n_channels = 16
size_input = 256
sampling_rate_hz = 128.0
n_segments = 4
window_segments = 2
""",
    "neurduo": """
[model.config]
token_dim = 16
patch_hidden_dim = 4
patch_kernel_sizes = [3, 5]
metadata_hidden_dim = 8
max_reference_types = 64
fast_dim = 16
slow_dim = 8
fast_num_layers = 1
slow_num_layers = 1
fast_d_state = 4
slow_d_state = 4
fast_expand_factor = 2
slow_expand_factor = 2
fast_conv_kernel_size = 4
slow_conv_kernel_size = 3
channel_attn_every = 1
channel_attn_heads = 2
queue_size = 4
writer_window = 4
memory_bank_size = 4
write_every_n_steps = 2
codebook_size = 16
predictor_hidden_dim = 8
""",
    "neurduo-tokenizer": """
[model.config]
chunk_samples = 128
codebook_size = 16
code_dim = 8
enc_dim = 16
enc_layers = 1
dec_hidden_dim = 16
""",
}
WINDOWS = {"axon": 10, "prise-eeg": 4, "mvpformer": 8, "neurduo": 6, "neurduo-tokenizer": 6}
HEAD = 'head = { unit_steps = 2, d_token = 4, d_hidden = 8, pool = "channel" }'


def recipe_text(family: str, objective: str, changes: dict[str, str]) -> str:
    """A recipe of a family; `changes` replace lines by their key."""
    quoted = ", ".join(f'"{site}"' for site in SITES)
    channels = f"[{quoted}]"
    config = CONFIGS[family] + (HEAD if (family, objective) == ("neurduo", "seizure") else "")
    simulated = (
        'kind = "simulated"\nminutes = 1.5\nsettings = { seizures = 1, length = [20.0, 25.0], contrast = [5.0, 6.0] }'
    )
    text = f"""seed = 5
[model]
family = "{family}"
{config}
[objective]
kind = "{objective}"
[signal]
channels = {channels}
[draw]
window_seconds = {WINDOWS[family]}.0
pool = 2
windows_per_stretch = 20
[data.train]
{simulated}
recordings = 3
first_seed = 100
[data.validation]
{simulated}
recordings = 1
first_seed = 200
[optimiser]
learning_rate = 1e-2
weight_decay = 0.0
[schedule]
kind = "constant"
warm_up = 0.0
[length]
batch = 8
steps = 8
[validation]
every = 4
recordings = 1
[card]
name = "tiny {family}"
licence = "GPL-3.0-or-later"
intended_use = "Tests."
limits = "made in a test"
"""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def write_recipe(tmp_path) -> Callable[..., Path]:
    """Writes the recipe of a family and objective, with parts of its text replaced."""

    def write(family: str, objective: str = "seizure", name: str = "small", **changes: str) -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(recipe_text(family, objective, changes.pop("changes", {})), encoding="utf-8")
        return path

    return write
