"""The smooth maximum over channels, and the heads of three families that use it."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from models.axon.config import AxonConfig
from models.axon.model import Axon
from models.common.pooling import smooth_maximum
from models.neurduo.config import HeadConfig
from models.neurduo.model import NeurDuo
from models.prise.config import PriseConfig
from models.prise.model import Prise
from models.random_checkpoints import SIZES

SITES = ("Fp1", "F3", "C3", "O2")


def test_equals_its_equation_and_lies_between_mean_and_maximum() -> None:
    scores = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 5, 2)))
    pooled = smooth_maximum(scores, 4.0)
    logits = (scores[..., 1] - scores[..., 0]).numpy()
    expected = np.log(np.exp(4 * logits).mean(1)) / 4
    np.testing.assert_allclose(pooled[:, 1].numpy(), expected, rtol=1e-12)
    assert (pooled[:, 0] == 0).all()
    assert (logits.mean(1) < expected).all()
    assert (expected < logits.max(1)).all()


def test_leaves_out_missing_channels() -> None:
    scores = torch.randn(2, 4, 3, 2)
    missing = torch.tensor([[False, False, True, True], [True, True, True, True]])
    pooled = smooth_maximum(scores, 2.0, missing)
    torch.testing.assert_close(pooled[0], smooth_maximum(scores[:1, :2], 2.0)[0])
    torch.testing.assert_close(pooled[1], smooth_maximum(scores[1:], 2.0)[0])  # nothing there: all count


def test_equal_channels_say_what_one_says() -> None:
    scores = torch.tensor([0.5, 2.0]).expand(1, 7, 2)
    assert smooth_maximum(scores, 3.0)[0, 1].item() == pytest.approx(1.5, abs=1e-6)


def test_axon_pools_the_scores_of_channels() -> None:
    torch.manual_seed(0)
    config = AxonConfig(embed_dim=16, depth=1, num_heads=2, n_outputs=2, head_hidden_dim=8, pool="channel")
    model = Axon(config).eval()
    signal, positions = torch.randn(2, 4, 2000), torch.randn(4, 3) / 10
    missing = torch.tensor([[False, True, False, False]]).expand(2, -1)
    tokens = model.tokens(signal, positions, missing)
    each = model.final_layer(tokens.mean(2))
    torch.testing.assert_close(model.logits(signal, positions, missing), smooth_maximum(each, 4.0, missing))
    plain = Axon(replace(config, pool="mean")).eval()
    plain.load_state_dict(model.state_dict())
    torch.testing.assert_close(plain.logits(signal, positions), plain.classify(plain.pooled(signal, positions)))


def test_prise_pools_the_scores_of_decoded_channels() -> None:
    torch.manual_seed(0)
    config = replace(SIZES["prise-eeg"]["tiny"], pool="channel")
    model = Prise(config).eval()
    signal, index = torch.randn(2, 4, 2560), model.index(SITES)
    tokens = model.tokens(signal, SITES)
    decoded = model.channel_tokens(tokens, torch.ones(2, 42), index)
    torch.testing.assert_close(model.logits(signal, SITES), smooth_maximum(model.head(decoded), 4.0))
    with pytest.raises(ValueError, match="scores channels"):
        model.classify(tokens)
    assert config != PriseConfig.from_dict({**vars(config), "pool": "groups"})


def test_neurduo_reads_channels_alone() -> None:
    torch.manual_seed(0)
    head = HeadConfig(("F7", "T7", "CZ"), 2, 2, 4, 8, normalisation="sequence", context_units=3, pool="channel")
    model = NeurDuo(replace(SIZES["neurduo"]["tiny"], has_predictor=False, head=head)).eval()
    z = model.tokens(torch.randn(2, 6, 3, 128))
    logits = model.unit_logits(z)
    one = model.readout.mlp[3:](model.readout.embed(z[:, 1, 2:4]))  # channel T7, second unit
    torch.testing.assert_close(model.channel_logits(z)[:, 1, 1], one)
    torch.testing.assert_close(logits, smooth_maximum(model.channel_logits(z), 4.0))
    assert logits.shape == (2, 3, 2)
    assert model.unit_embeddings(z).shape == (2, 3, 8)
    assert math.isclose(head.n_tokens, 2)
