"""By what events of a model are made: as its card has it, as a prediction was made, or as the reader chose."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.postprocessing import EpisodeRule, OnlineRule, describe_rule
from analysis.results import AnalysisRequest, SeizurePrediction
from app.event_making import USUAL, EventMaking, ReadersMakings, making_of, making_of_card
from app.settings import Settings, load_settings, save_settings

OWN = EventMaking(0.84, EpisodeRule(10.0, 8.0, 1))
CARD = {"threshold": 0.84, "event_rule": {"merge_gap": 10, "min_duration": 8}}


def prediction(**provenance) -> SeizurePrediction:
    request = AnalysisRequest("seizure", "id", ("a",))
    return SeizurePrediction(request, "", "", provenance, probability=np.zeros(0, np.float32))


@pytest.mark.parametrize(("card", "making"), [({}, USUAL), (CARD, OWN), ({"threshold": 0.3}, EventMaking(0.3))])
def test_a_card_states_how_its_events_are_made(card, making) -> None:
    assert making_of_card(card) == making
    assert making.is_stated == bool(card)


@pytest.mark.parametrize(
    ("told", "usual", "making"),
    [
        ({}, OWN, OWN),
        ({"threshold": 0.3, "rule": describe_rule(OWN.rule)}, USUAL, EventMaking(0.3, OWN.rule)),
        ({"rule": describe_rule(OnlineRule())}, USUAL, USUAL),  # that suits 100 s
        ({"rule": describe_rule(OnlineRule())}, OWN, EventMaking(0.84, OnlineRule())),
        ({"rule": describe_rule(EpisodeRule())}, USUAL, EventMaking(0.5, EpisodeRule())),
    ],
)
def test_a_prediction_tells_what_made_its_events(told, usual, making) -> None:
    assert making_of(prediction(**told), usual, 100.0) == making


@pytest.mark.parametrize(
    "making", [OWN, EventMaking(0.5, OWN.rule), EventMaking(0.84, OnlineRule(window=20.0)), EventMaking(0.1, None)]
)
def test_what_the_reader_chose_is_remembered_for_its_model_only(tmp_path, making) -> None:
    settings = Settings()
    ReadersMakings(settings).keep("a.pt", making, OWN)
    save_settings(settings, tmp_path)
    again = ReadersMakings(load_settings(tmp_path)[0])
    assert again.get("a.pt", OWN) == EventMaking(making.threshold, making.rule or OWN.rule)
    assert again.get("b.pt", OWN) == OWN
    assert bool(settings.model_events) == (making != OWN)
    again.keep("a.pt", OWN, OWN)
    assert again.get("a.pt", OWN) == OWN


def test_what_cannot_be_is_the_models_own_and_the_oldest_is_forgotten() -> None:
    settings = Settings(model_events={"a": {"threshold": 7.0, "rule": "E.9"}, "b": {"rule": "E.2", "window": "long"}})
    readers = ReadersMakings(settings)
    assert readers.get("a", OWN) == OWN
    assert readers.get("b", OWN) == EventMaking(0.84, OnlineRule())
    for number in range(60):
        readers.keep(str(number), EventMaking(0.2), USUAL)
    assert list(settings.model_events) == [str(number) for number in range(10, 60)]
