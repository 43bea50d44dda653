"""What MVPFormer adds to a page for print: strengths behind rows, arcs of a channel, a lane of predictions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.analyses import Analysis
from analysis.attention_maps import strength_in
from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError
from app.figure_layers import arcs_of, heats_of, lanes_of


@pytest.fixture(scope="module")
def find(shared: Path) -> Callable[..., Analysis]:
    def run(kind: str, model: str, seconds: float) -> Analysis:
        return analyze(kind, shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf", [model], 5, seconds)

    return run


def test_strengths_are_heat_over_the_span_and_arcs_go_from_a_chosen_channel(find: Callable[..., Analysis]) -> None:
    result = find("channel-map", "random:mvpformer:tiny:1", 20.0)
    flow = result.values("flow")[1, 2]
    (heat,) = heats_of(result, "1/2:3")
    np.testing.assert_allclose(heat.values[:, 0], strength_in(flow), rtol=1e-6)
    assert (heat.onsets.tolist(), heat.step, heat.centre) == ([5.0], 20.0, 1.0)
    assert "layer 1, head 2 [our definition]" in heat.title
    assert arcs_of(result, "1/2") == []
    (arcs,) = arcs_of(result, "1/2:3")
    assert set(arcs.first.tolist()) == {3}
    assert arcs.values[0] == 1.0
    np.testing.assert_allclose(arcs.values, flow[3][arcs.later] / flow[3][arcs.later[0]], rtol=1e-6)
    assert (arcs.values > arcs.least).all()  # less than evenly attended channels have no arc
    for part in ("9", "mean/7", "mean/mean:99", "x"):
        with pytest.raises(AnalysisError, match=r"channel-map has no (layer|head|channel)"):
            heats_of(result, part)


def test_predictions_are_a_lane_that_parts_at_chance(find: Callable[..., Analysis]) -> None:
    result = find("prediction", "random:mvpformer:base", 30.0)
    (lane,) = lanes_of(result)
    assert lane.title == "cosine with the next segment [paper]"
    assert lane.base == pytest.approx(float(np.mean(result.values("random"))), abs=1e-6)
    assert lane.times[0] == 10.0  # of the first segment nothing was foreseen
    np.testing.assert_allclose(lane.values[:5], result.values("true")[0].mean(-1), rtol=1e-6)
    assert lanes_of(result, "two_step")[0].times[0] == 15.0
    with pytest.raises(AnalysisError, match="prediction has no series 'later'"):
        lanes_of(result, "later")
