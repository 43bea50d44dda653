"""Calibrated probabilities, the rule and the signal that a checkpoint states."""

import numpy as np
import pytest
import torch

from analysis.engine.calibration import Calibration
from analysis.engine.stated_preprocessing import stated_preprocessing
from analysis.errors import AnalysisError
from analysis.postprocessing import EpisodeRule, stated_rule
from analysis.preprocessing import Preprocessing, SpanSignal
from analysis.survey import ScorableSpan
from models.axon.config import AxonConfig
from models.axon.loading import preprocessing as axon_preprocessing
from models.prise.config import PriseConfig
from models.prise.loading import preprocessing as prise_preprocessing


def test_probability_is_the_logistic_of_the_scaled_difference() -> None:
    scores = torch.tensor([[0.3, 1.7], [2.0, -1.0]])
    d = (scores[:, 1] - scores[:, 0]).numpy()
    found = Calibration(2.5, -0.8).probability(scores, 1).numpy()
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-(d / 2.5 - 0.8))), rtol=1e-6)
    turned = Calibration(2.5, -0.8).probability(scores, 0).numpy()
    np.testing.assert_allclose(turned, 1 / (1 + np.exp(-(-d / 2.5 - 0.8))), rtol=1e-6)


def test_a_card_that_states_nothing_changes_nothing() -> None:
    scores = torch.randn(5, 3)
    assert torch.equal(Calibration.from_card({}).adjusted(scores, 1), scores)
    assert Calibration.from_card({"calibration": {"temperature": 1.5, "bias": -2}}) == Calibration(1.5, -2.0)
    assert stated_rule({}) is None
    assert stated_rule({"event_rule": {"merge_gap": 10, "min_duration": 8}}) == EpisodeRule(10.0, 8.0, 1)


def test_published_checkpoints_are_given_the_signal_of_their_papers() -> None:
    axon = stated_preprocessing(axon_preprocessing(AxonConfig()))
    assert axon == Preprocessing(200.0, 0.5, 99.5, 4, "none", "polyphase", (50.0, 60.0))
    prise = stated_preprocessing(prise_preprocessing(PriseConfig()), "fir")
    assert prise == Preprocessing(256.0, 1.0, 100.0, 4, "none", "polyphase", (50.0, 60.0), "fir")
    with pytest.raises(AnalysisError, match="reference 'ears'"):
        stated_preprocessing({"sampling_rate": 200, "reference": "ears"})


def test_average_reference_leaves_no_average(make_recording) -> None:
    data = np.random.default_rng(0).normal(size=(4, 2560)).astype(np.float32) + 3
    recording = make_recording(data, 256.0)
    span = ScorableSpan(0.0, 10.0, 0.0)
    signal = SpanSignal(recording, span, range(4), Preprocessing(256.0, None, None, reference="average"))
    made = signal.read(0, 2560)
    np.testing.assert_allclose(made, data - data.mean(0), atol=1e-5)
    np.testing.assert_allclose(signal.reference_parts(0, 2560).sum(0), data.mean(0), atol=1e-5)
