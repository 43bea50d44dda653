"""How fast NeurDuo streams and scans, measured against a straightforward step in the same process.

`python -m analysis.engine.neurduo_speed ROUNDS THREADS SECONDS` prints the samples as JSON; `main.py bench neurduo`
makes the table of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from models.neurduo.config import SMALL, HeadConfig
from models.neurduo.encoder import computes_in_bfloat16
from models.neurduo.model import NeurDuo
from models.neurduo.stacks import MambaStack
from models.neurduo.streaming import Stream

CHANNELS = (2, 15)
HISTORY_SECONDS = (30, 60, 300, 600, 1800, 3600)
SCAN_STEPS = 512
CYCLE = 4  # steps from one memory write to the next
_TURN = 8 * CYCLE  # steps of the straightforward form between two scans
_UNIT_STEPS, _UNITS = 20, 8  # of the head whose probabilities are compared


class StraightforwardStep:
    """One streaming step written as the description reads: nothing prepared, nothing kept but the state.

    The metadata token, A, and keys and values of the bank are worked out at every step, states are rolled copies,
    the encoder is the plain one. Same model, same numbers.
    """

    def __init__(self, model: NeurDuo, positions: Tensor, reference_ids: Tensor) -> None:
        self._model, self._positions, self._ids = model, positions[None], reference_ids[None]
        self._rows = len(positions)
        self._t = 0
        self._fast = [self._zero(block) for block in model.fast.blocks]
        self._slow = [self._zero(block) for block in model.slow.blocks]
        self._queue: deque[Tensor] = deque(maxlen=model.config.queue_size)
        self._bank: deque[Tensor] = deque(maxlen=model.config.memory_bank_size)
        self._slow_out = torch.zeros(self._rows, model.config.slow_dim)

    def _zero(self, block: Any) -> list[Tensor]:
        return [
            torch.zeros(self._rows, block.inner, block.conv_width),
            torch.zeros(self._rows, block.inner, block.n_states),
        ]

    @torch.inference_mode()
    def step(self, chunk: Tensor) -> Tensor:
        """A normalised chunk (1, C, L) -> z (1, C, D + E)."""
        model = self._model
        metadata = model.metadata_encoder(self._positions, self._ids)
        assert metadata is not None  # positions and ids are given
        h = self._advance(model.fast, self._fast, model.input_norm(model.signal_encoder(chunk[0]) + metadata[0]))
        self._queue.append(h)
        self._t += 1
        if self._t % model.config.write_every_n_steps == 0:
            window = torch.stack(list(self._queue)[-model.config.pooled_steps :], dim=1)
            token = model.writer(window[:, None])[:, 0]
            self._slow_out = self._advance(model.slow, self._slow, token)
            self._bank.append(token)
        if not self._bank:
            return torch.cat([h, torch.zeros_like(self._slow_out)], dim=-1)[None]
        bank = torch.stack(list(self._bank), dim=1)
        seen = torch.ones(1, bank.shape[1], dtype=torch.bool)
        context = model.retrieval(h[:, None], bank, seen).context[:, 0]
        return torch.cat([h, self._slow_out + context], dim=-1)[None]

    @torch.inference_mode()
    def encode_signal(self, chunk: Tensor) -> Tensor:
        """The signal encoder's part of a step."""
        tokens: Tensor = self._model.signal_encoder(chunk[0])
        return tokens

    def _advance(self, stack: MambaStack, states: list[list[Tensor]], x: Tensor) -> Tensor:
        for i, (norm, block) in enumerate(zip(stack.norms, stack.blocks, strict=True)):
            x = x + self._block(block, norm(x), states[i])
            if stack.attention_every and (i + 1) % stack.attention_every == 0:
                x = stack.channel_attn[i // stack.attention_every](x[None], None)[0]
        return stack.final_norm(x)

    @staticmethod
    def _block(block: Any, x: Tensor, state: list[Tensor]) -> Tensor:
        x, gate = block.in_proj(x).chunk(2, dim=-1)
        state[0] = torch.roll(state[0], -1, dims=-1)
        state[0][:, :, -1] = x
        x = F.silu((state[0] * block.conv1d.weight[:, 0]).sum(-1) + block.conv1d.bias)
        rank, b, c = block.x_proj(x).split([block.rank, block.n_states, block.n_states], dim=-1)
        delta = F.softplus(block.dt_proj(rank))
        decay = torch.exp(delta[..., None] * -torch.exp(block.A_log))
        state[1] = decay * state[1] + (delta * x)[..., None] * b[:, None]
        y = (state[1] * c[:, None]).sum(-1) + block.D * x
        return block.out_proj(y * F.silu(gate))


def measure(rounds: int, seconds: int = HISTORY_SECONDS[-1]) -> dict[str, Any]:
    """Samples in milliseconds by what was measured, and the facts they belong to; histories up to `seconds`.

    Without any history only the steps are measured. The steps are also measured with the signal encoder's products in
    bfloat16, where the processor is made for them.
    """
    torch.manual_seed(0)
    model = NeurDuo(SMALL).eval()
    formats = [torch.float32, *([torch.bfloat16] if computes_in_bfloat16(torch.device("cpu")) else [])]
    found: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "encoder_gflop": _encoder_work(),
        "rest_gflop": _rest_work(model),
        "gflops": _arithmetic(torch.float32),
    }
    if torch.bfloat16 in formats:
        found["bfloat16 gflops"] = _arithmetic(torch.bfloat16)
    for n_channels in CHANNELS:
        positions = F.normalize(torch.randn(n_channels, 3), dim=-1)
        ids = torch.zeros(n_channels, dtype=torch.int64)
        found |= _steps(model, positions, ids, rounds, formats)
        if seconds:
            found |= _effect(positions, ids, formats)
            found |= _scans(model, positions, ids, max(3, rounds // 10))
            found |= _history(model, positions, ids, rounds, [t for t in HISTORY_SECONDS if t <= seconds])
    return found


def _steps(
    model: NeurDuo, positions: Tensor, ids: Tensor, rounds: int, formats: Sequence[torch.dtype]
) -> dict[str, Any]:
    """All steps by turns, a write cycle each, so that what else the machine does hits all alike."""
    n = len(positions)
    reference = StraightforwardStep(model, positions, ids)
    streams = {_named("stream", form): Stream(model, positions, ids, front_end=form) for form in formats}
    steps: dict[str, Stream | StraightforwardStep] = {"reference": reference, **streams}
    chunks = torch.randn(4 * CYCLE, 1, n, SMALL.chunk_samples)
    worst = 0.0
    for chunk in chunks:
        wanted, *found = (one.step(chunk) for one in steps.values())
        worst = max(worst, float((found[0] - wanted).abs().max()))
    times: dict[str, list[float]] = {}
    for round_number in range(rounds):
        for name, one in steps.items():
            for i in range(CYCLE):
                chunk = chunks[(round_number * CYCLE + i) % len(chunks)]
                times.setdefault(name, []).append(_time(partial(one.step, chunk)))
            encoder = name.replace("stream", "encoder") if name != "reference" else "reference encoder"
            times.setdefault(encoder, []).append(_time(partial(one.encode_signal, chunks[0])))
    return {f"{name} {n}": values for name, values in times.items()} | {f"difference {n}": worst}


def _named(what: str, form: torch.dtype) -> str:
    return what if form == torch.float32 else f"{what} bfloat16"


@torch.inference_mode()
def _effect(positions: Tensor, ids: Tensor, formats: Sequence[torch.dtype]) -> dict[str, Any]:
    """How far bfloat16 moves z (each vector's change, share of its length) and a random head's probabilities."""
    if torch.bfloat16 not in formats:
        return {}
    n = len(positions)
    head = HeadConfig(tuple(f"E{i}" for i in range(n)), _UNIT_STEPS, n_outputs=2, d_token=16)
    model = NeurDuo(replace(SMALL, head=head)).eval()
    chunks = torch.randn(1, _UNITS * _UNIT_STEPS, n, SMALL.chunk_samples)
    _see_the_signal(model, chunks[0].flatten(0, 1))
    exact, rough = (Stream(model, positions, ids, front_end=form).run(chunks) for form in (None, torch.bfloat16))
    moved = (rough - exact).norm(dim=-1) / exact.norm(dim=-1)
    p, q = (model.unit_logits(z).softmax(-1)[..., 1] for z in (exact, rough))
    return {f"z moved {n}": moved.flatten().tolist(), f"p moved {n}": (p - q).abs().flatten().tolist()}


def _see_the_signal(model: NeurDuo, chunks: Tensor) -> None:
    """Give each of the encoder's outputs a deviation of 1 over chunks (M, L): as drawn, it hardly depends on them."""
    made, proj = model.signal_encoder(chunks), model.signal_encoder.proj
    scale = made.std(0).clamp(min=1e-6)
    proj.weight.div_(scale[:, None])
    proj.bias.sub_(made.mean(0)).div_(scale)


def _scans(model: NeurDuo, positions: Tensor, ids: Tensor, rounds: int) -> dict[str, Any]:
    """Milliseconds a step where many are done at once: the whole model, and what is left without the encoder.

    The straightforward step takes its turn before each, since a machine's pace changes within minutes.
    """
    n = len(positions)
    stream, plain = Stream(model, positions, ids), StraightforwardStep(model, positions, ids)
    chunks = torch.randn(1, SCAN_STEPS, n, SMALL.chunk_samples)
    tokens = torch.randn(1, SCAN_STEPS, n, SMALL.token_dim)

    def recurrent() -> None:
        with torch.inference_mode():
            state = model.zero_state(n)
            for part in tokens.split(128, dim=1):
                state = model.advance(part, stream.montage, state).state

    def each(work: Callable[[Tensor], Tensor]) -> float:
        return sum(_time(partial(work, chunks[:, i])) for i in range(_TURN)) / _TURN

    stream.run(chunks[:, :64])
    names = ("scan reference", "scan", "scan reference rest", "scan recurrent")
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        times["scan reference"].append(each(plain.step))
        times["scan"].append(_time(lambda: stream.run(chunks)) / SCAN_STEPS)
        times["scan reference rest"].append(each(plain.step) - each(plain.encode_signal))
        times["scan recurrent"].append(_time(recurrent) / SCAN_STEPS)
    return {f"{name} {n}": found for name, found in times.items()}


def _history(model: NeurDuo, positions: Tensor, ids: Tensor, rounds: int, histories: Sequence[int]) -> dict[str, Any]:
    """A write cycle after more and more history; the states take turns, and none moves on by being measured."""
    n = len(positions)
    stream = Stream(model, positions, ids)
    chunks = torch.randn(1, SCAN_STEPS, n, SMALL.chunk_samples)
    states, sizes = [], []
    for seconds in histories:
        while stream.t < seconds / SMALL.step_seconds:
            left = round(seconds / SMALL.step_seconds) - stream.t
            stream.run(chunks[:, : min(left, SCAN_STEPS)])
        states.append(stream.state_dict())
        sizes.append(sum(tensor.numel() * tensor.element_size() for tensor in states[-1].values()))
    times: list[list[float]] = [[] for _ in states]
    for _ in range(rounds):
        for state, kept in zip(states, times, strict=True):
            stream.load_state_dict(state)
            kept.append(_time(lambda: [stream.step(chunks[:, i]) for i in range(CYCLE)]) / CYCLE)
    return {f"history {n}": times, f"state bytes {n}": sizes, "histories": list(histories)}


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began)


def _arithmetic(form: torch.dtype) -> float:
    """Billions of operations a second of a product of large matrices: what this machine can do at best."""
    a = torch.randn(1024, 1024).to(form)
    best = min(_time(lambda: torch.mm(a, a)) for _ in range(10))
    return 2 * 1024**3 / best / 1e6


def _encoder_work() -> float:
    """Billions of multiplications and additions of the signal encoder for one channel and chunk."""
    hidden, length, branches = SMALL.patch_hidden_dim, SMALL.chunk_samples, len(SMALL.patch_kernel_sizes)
    first = sum(SMALL.patch_kernel_sizes) * hidden
    return 2e-9 * length * (first + 3 * branches * hidden**2 + branches * hidden**2)


def _rest_work(model: NeurDuo) -> float:
    """The same of the products of a step beside the encoder; those of a write count for the steps between two."""
    always = (model.fast, model.retrieval.query, model.retrieval.gate)
    writing = (model.slow, model.writer, model.retrieval.key, model.retrieval.value)
    counts = [
        sum(weight.numel() for name, weight in part.named_parameters() if weight.ndim == 2 and "A_log" not in name)
        for parts in (always, writing)
        for part in parts
    ]
    each, written = sum(counts[: len(always)]), sum(counts[len(always) :])
    return 2e-9 * (each + written / SMALL.write_every_n_steps)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    json.dump(measure(int(sys.argv[1]), int(sys.argv[3])), sys.stdout)
