"""What MVPFormer's speed is measured against: the textbook form gives our logits, and the floor counts products."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from analysis.engine import mvpformer_speed as speed
from analysis.engine.product_rate import product_rate
from models.mvpformer.config import MVPFormerConfig
from models.mvpformer.model import MVPFormer

TINY = MVPFormerConfig(
    n_embd=24, n_layer=2, n_head=6, n_head_kv=2, n_inner=20, size_input=64, window_segments=3, task="classification"
)


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def model() -> MVPFormer:
    """A random tiny model in float64, every weight large enough to matter."""
    made = MVPFormer(TINY).double().eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.4)
    return made


@pytest.mark.parametrize(("segments", "channels"), [(1, 1), (1, 4), (4, 3), (9, 5), (14, 1)])
def test_textbook_form_gives_our_logits(model, segments, channels):
    signal = 30 * torch.randn(2, segments, channels, 64, dtype=torch.float64)
    with torch.no_grad():
        expected = model.logits(signal)
        assert expected.abs().max() > 1e-3
        torch.testing.assert_close(speed.textbook_logits(model, signal), expected, rtol=0, atol=1e-11)


def test_textbook_form_has_all_pairs_of_tokens_in_memory(model):
    shapes = []
    hooked = torch.Tensor.softmax
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(torch.Tensor, "softmax", lambda x, dim: shapes.append(x.shape) or hooked(x, dim))
        speed.textbook_logits(model, torch.randn(1, 7, 4, 64, dtype=torch.float64))
    assert shapes == [(1, 6, 28, 28)] * 2


def test_floor_counts_products_by_hand():
    # One token, one layer: keys and values, query, output and MLP, one score, one value, and the encoder.
    config = MVPFormerConfig(
        n_embd=8, n_layer=1, n_head=2, n_head_kv=1, n_inner=12, size_input=64, task="classification"
    )
    coefficients = 14 + 14 + 21 + 35  # 64 samples make 35, these 21, these 14
    products = 8 * 2 * 4 + 8 * 8 + 8 * 8 + 3 * 8 * 12 + 8 + 8 + coefficients * 8
    assert speed.operations(config, 1, 1) == 2 * products


@pytest.mark.parametrize(("segments", "channels"), [(2, 3), (12, 4), (20, 6)])
def test_nothing_computes_with_fewer_products_than_the_floor(model, segments, channels):
    signal = torch.randn(1, segments, channels, 64, dtype=torch.float64)
    model.requires_grad_(False)
    with FlopCounterMode(display=False) as counter:
        speed.textbook_logits(model, signal)
    assert 0.2 * counter.get_total_flops() < speed.operations(TINY, segments, channels) < counter.get_total_flops()


def test_bare_products_are_those_of_tokens_with_weights():
    work = speed.bare_products(MVPFormer(TINY), 4, 3)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        work()
    encoder, keys, rest = 84 * 24, 2 * 24 * 8, 2 * 24 * 24 + 3 * 24 * 20
    assert counter.get_total_flops() == 2 * (12 * encoder + 2 * 12 * keys + (12 + 3) * rest)


def test_samples_are_as_many_as_rounds_and_both_forms_agree(one_thread):
    found = speed.measure(6, 3, 2, TINY)
    assert all(len(found[name]) == 2 and min(found[name]) > 0 for name in ("ours", "next", "textbook", "products"))
    assert found["difference"] < 1e-4  # float32
    assert found["gflop"] == speed.operations(TINY, 6, 3) / 1e9


def test_products_are_timed(one_thread):
    assert product_rate(64) > 0


def test_memory_is_the_highest_of_this_process():
    before = speed.peak_megabytes()
    block = torch.ones(80_000_000 // 4)
    del block
    assert speed.peak_megabytes() >= before
    assert speed.peak_megabytes() > 80
    found = speed.measure_memory(3, 2, ours=True, config=TINY)
    assert found["memory"] >= before
