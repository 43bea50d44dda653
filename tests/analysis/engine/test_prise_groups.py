"""Attribution to the groups of a PRiSE-EEG on a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.engine.analyze import analyze
from analysis.errors import AnalysisError


@pytest.fixture(scope="module")
def scalp(shared: Path) -> Path:
    return shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf"


def test_group_attributions_add_up(scalp: Path) -> None:
    found = analyze("group-attribution", scalp, ["random:prise-eeg"], 0, 10, {"windows": 1})
    assert found.facts["completeness_relative"] < 1e-4
    assert found.values("signed").sum() == pytest.approx(
        found.facts["score_change"] - found.facts["completeness_residual"], abs=1e-5
    )
    share = found.values("share")
    assert share.sum() == pytest.approx(1.0, abs=1e-5)
    parts = sum(found.values(name).sum() for name in ("by_region", "by_network", "by_lag"))
    assert parts == pytest.approx(1.0, abs=1e-5)
    assert found.values("by_window").sum() == pytest.approx(found.values("by_lag").sum(), abs=1e-6)
    assert found.values("channel").sum() == pytest.approx(1.0, abs=1e-5)
    assert found.facts["prior"] == {"ratio": 0.0, "inside": 0.0, "outside": -2.0, "gap": 2.0}
    assert len(found.labels["group"]) == 42
    by_channel = found.values("by_channel")
    np.testing.assert_allclose(by_channel.sum(1), share, atol=1e-6)
    np.testing.assert_allclose(by_channel.sum(0), found.values("channel"), atol=1e-6)
    np.testing.assert_allclose(found.values("by_window_and_lag").ravel(), share[18:], atol=1e-7)
    np.testing.assert_allclose(found.values("prior"), [0, 0, -2, 2], atol=1e-7)


def test_what_prise_cannot_take_ends_in_a_clear_line(scalp: Path, shared: Path) -> None:
    with pytest.raises(AnalysisError, match="made for 10 s, not for 5 s"):
        analyze("group-attribution", scalp, ["random:prise-eeg"], 0, 5.5)
    with pytest.raises(AnalysisError, match="no class 'spike': choose one of background, seizure, or last"):
        analyze("group-attribution", scalp, ["random:prise-eeg"], 0, 10, {"target": "spike"})
    ecog = next((shared / "recordings" / "ecog-seizure-mat").rglob("*.mat"))
    with pytest.raises(AnalysisError, match="place this model knows"):
        analyze("experts", ecog, ["random:prise-eeg"])
    with pytest.raises(AnalysisError, match="MVPFormer gives no experts"):
        analyze("experts", scalp, ["random:mvpformer"], 0, 10)
