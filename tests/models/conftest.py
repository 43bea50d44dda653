"""Fixtures of the model tests: the golden MVPFormer files, and an attention written straight from its formulas."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.mvpformer.attention import MVPAttention
from models.mvpformer.config import MVPFormerConfig
from models.mvpformer.model import MVPFormer
from models.registry import load_model, untrained_model


@pytest.fixture(scope="session")
def golden_mvpformer(shared: Path) -> Path:
    """Weights, inputs and numbers of the published code at tiny size."""
    return shared / "parity" / "mvpformer"


@pytest.fixture(scope="session")
def golden_arrays(golden_mvpformer: Path) -> dict[str, dict[str, np.ndarray]]:
    """Every golden array by file and name."""
    names = ("inputs", "wavelet", "generative", "classifier", "edge_cases")
    return {name: dict(np.load(golden_mvpformer / f"{name}.npz")) for name in names}


@pytest.fixture(scope="session")
def golden_signal(golden_arrays: dict[str, dict[str, np.ndarray]]) -> Tensor:
    """The golden input (2, 14, 7, 2560) in microvolts."""
    return torch.from_numpy(golden_arrays["inputs"]["raw"])


@pytest.fixture(scope="session")
def generative(golden_mvpformer: Path) -> Any:
    """The golden base model."""
    return load_model(golden_mvpformer / "tiny_base.pt")


@pytest.fixture(scope="session")
def classifier(golden_mvpformer: Path) -> Any:
    """The golden base model with its head."""
    return load_model(golden_mvpformer / "tiny_base.pt", golden_mvpformer / "tiny_head.pt")


@pytest.fixture(scope="session")
def published_keys(golden_mvpformer: Path) -> dict[str, Any]:
    """Names, shapes and counts of the published sizes S and M."""
    return {size: json.loads((golden_mvpformer / f"keys_{size.lower()}.json").read_text()) for size in ("S", "M")}


@pytest.fixture
def small_model() -> Callable[..., MVPFormer]:
    """Makes a random model of a few thousand parameters in float64, every weight large enough to matter."""

    def make(**changes: Any) -> MVPFormer:
        sizes = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_head_kv": 2, "n_inner": 24, "n_positions": 40}
        sizes |= {"n_channels": 12, "size_input": 64, "window_segments": 3, "n_segments": 8, "dropout": 0.5}
        model = untrained_model("mvpformer", MVPFormerConfig(**(sizes | changes))).double()
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.4)
        assert isinstance(model, MVPFormer)
        return model

    return make


@pytest.fixture(scope="session")
def direct_attention() -> Callable[..., Tensor]:
    """Attention token by token as the formulas say, with the first segments hidden as keys where asked for."""

    def attend(
        layer: MVPAttention, x: Tensor, time_rows: Tensor, channel_rows: Tensor, window: int, hidden: int = 0
    ) -> Tensor:
        batch, n_segments, n_channels, width = x.shape
        n_tokens, d, n_kv = n_segments * n_channels, layer.head_dim, layer.n_head_kv
        tokens = x.reshape(batch, n_tokens, width)
        q = tokens @ layer.query.effective_weight().T
        k, v = (tokens @ layer.key_value.effective_weight().T).chunk(2, dim=-1)
        p, s = time_rows @ layer.time_key.weight.T, channel_rows @ layer.channel_key.weight.T
        u, bias_v, w = layer.bias.chunk(3)
        t, c = torch.arange(n_tokens) // n_channels, torch.arange(n_tokens) % n_channels
        lag, gap = t[:, None] - t[None, :], (c[:, None] - c[None, :]).abs()
        i = torch.arange(n_tokens)[:, None]
        heads = []
        for h in range(layer.n_head):
            mine, kv = slice(h * d, (h + 1) * d), h // (layer.n_head // n_kv)
            theirs = slice(kv * d, (kv + 1) * d)
            qh = q[..., mine]
            content = (qh + u[theirs]) @ k[..., theirs].transpose(1, 2)
            content = content.where((lag <= window) | (t[:, None] == n_segments - 1), 0.0)
            time = ((qh + bias_v[theirs]) @ p[:, theirs].T)[:, i, (n_segments - 1 - lag).clamp(max=n_segments - 1)]
            channel = ((qh + w[theirs]) @ s[:, theirs].T)[:, i, n_channels - 1 - gap]
            score = (content + time + channel) / d**0.5
            score = score.masked_fill((lag < 0) | (t[None, :] < hidden), -torch.inf)
            heads.append(score.softmax(-1).nan_to_num() @ v[..., theirs])
        return (torch.cat(heads, dim=-1) @ layer.output.weight.T).view(x.shape)

    return attend


@pytest.fixture(scope="session")
def run_interpreted() -> Callable[[Path], None]:
    """Runs a file of tests in a process of its own in which Triton interprets its kernels, on the CPU.

    Triton looks at the variable when it is imported, which another test of this process may have done before. Such
    files are called `interpreted_*.py`, so that they are not collected by themselves.
    """

    def run(file: Path) -> None:
        if importlib.util.find_spec("triton") is None:
            pytest.skip("NOT TESTED: triton is not installed")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
        environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
        environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_XDIST")}
        root = Path(__file__).resolve().parents[2]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]

    return run
