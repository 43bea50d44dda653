"""Weights are drawn anew from the output down, in a copy, reproducibly, and the model is left as it was."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from analysis.engine.inputs import LoadedModel
from analysis.engine.redrawn_weights import EVERYTHING, RedrawnCopy, stages_of
from models.random_checkpoints import drawn_model, load_any

NAMES = ("random:axon:tiny", "random:prise-eeg:tiny", "random:mvpformer:tiny", "random:neurduo:tiny-chbmit")


def _loaded(name: str) -> LoadedModel:
    network = load_any(name)
    return LoadedModel(network, network.checkpoint)


@pytest.mark.parametrize("name", NAMES)
def test_stages_hold_every_weight_once_and_begin_at_the_head(name: str) -> None:
    model = _loaded(name)
    stages = stages_of(model.network, model.family)
    names = [weight for stage in stages for weight in stage.names]
    assert sorted(names) == sorted(model.network.state_dict())
    assert (stages[0].title, stages[-1].title) == ("head", "input")
    assert len({stage.title for stage in stages}) == len(stages)
    numbers = [int(stage.title.split()[1]) for stage in stages if stage.title.startswith(("block", "encoder"))]
    assert numbers == sorted(numbers, reverse=True)


def test_a_family_that_is_not_known_goes_backwards_through_its_parts() -> None:
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    assert [stage.title for stage in stages_of(network, "another")] == ["2", "0"]


@pytest.mark.parametrize("name", NAMES)
def test_each_depth_changes_its_stage_and_keeps_what_lies_below(name: str) -> None:
    model = _loaded(name)
    before = {key: value.clone() for key, value in model.network.state_dict().items()}
    copied = RedrawnCopy(model)
    stages = stages_of(model.network, model.family)
    for depth in copied.draws(3):
        state = copied.model.network.state_dict()
        for lower in stages[depth + 1 :]:
            assert all(torch.equal(state[key], before[key]) for key in lower.names)
        assert any(not torch.equal(state[key], before[key]) for key in stages[depth].names)
    fresh = drawn_model(model.family, model.network.config, 10_003).state_dict()
    assert all(torch.equal(value, fresh[key]) for key, value in copied.model.network.state_dict().items())
    assert all(torch.equal(value, before[key]) for key, value in model.network.state_dict().items())


def test_a_draw_begins_with_the_models_own_weights_and_follows_its_seed() -> None:
    model = _loaded(NAMES[2])
    copied = RedrawnCopy(model)
    list(copied.draws(1))
    first = {key: value.clone() for key, value in copied.model.network.state_dict().items()}
    next(copied.draws(2))
    body = copied.model.network.state_dict()["blocks.0.mlp.up.weight"]
    assert torch.equal(body, model.network.state_dict()["blocks.0.mlp.up.weight"])
    list(copied.draws(1))
    assert all(torch.equal(value, first[key]) for key, value in copied.model.network.state_dict().items())


def test_without_a_cascade_all_weights_are_drawn_at_once() -> None:
    model = _loaded(NAMES[2])
    copied = RedrawnCopy(model, cascade=False)
    assert copied.depths == (EVERYTHING,)
    (depth,) = copied.draws(0)
    assert depth == 0
    state, own = copied.model.network.state_dict(), model.network.state_dict()
    assert not any(torch.equal(state[key], own[key]) for key in own if key.endswith("up.weight"))


def test_weights_that_an_untrained_model_has_in_another_shape_are_shuffled() -> None:
    model = _loaded(NAMES[2])
    wide = torch.arange(12.0).reshape(3, 4)
    model.network.more = nn.Parameter(wide)
    copied = RedrawnCopy(model)
    list(copied.draws(0))
    found = copied.model.network.state_dict()["more"]
    assert not torch.equal(found, wide)
    assert torch.equal(found.flatten().sort().values, wide.flatten())
