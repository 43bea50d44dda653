"""Figures of PRiSE-EEG: what is found stands in the figure, with the marks of who defined it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from analysis.analyses import Analysis
from analysis.engine.analyze import analyze
from analysis.figures.draw import make_figure


@pytest.fixture(scope="module")
def find(shared: Path) -> Callable[..., Analysis]:
    recordings = shared / "recordings"

    def run(kind: str, options: dict[str, Any], seconds: float = 10.0) -> Analysis:
        if "other" in options:
            options = {**options, "other": str(recordings / "eegmmidb" / "eegmmidb_overlapping_annotations.edf")}
        return analyze(
            kind, recordings / "scalp-seizure-46ch" / "demo_edf.edf", ["random:prise-eeg"], 0, seconds, options
        )

    return run


def texts(figure: Figure) -> str:
    found = [
        text.get_text().replace("\n", " ")
        for ax in figure.axes
        for text in ax.findobj(lambda o: hasattr(o, "get_text"))
    ]
    top = figure.get_suptitle()
    return "\n".join([*found, top])


def test_experts_have_their_load_entropy_allocation_and_other_recordings(find: Callable[..., Analysis]) -> None:
    result = find("experts", {"other": ""})
    shown = texts(make_figure(result))
    for word in (
        "n = 1 window of 10 s",
        "Load of the routed experts",
        "Load entropy",
        "Allocation of 9 experts",
        "group 2",
    ):
        assert word in shown
    assert f"{result.facts['routing_similarity']:.3f} with eegmmidb" in shown


def test_attribution_lies_on_the_scalp_beside_what_is_left_of_the_priors(find: Callable[..., Analysis]) -> None:
    result = find("group-attribution", {"windows": 1})
    figure = make_figure(result)
    shown = texts(figure)
    for word in (
        "n = 1 window of 10 s",
        "Static groups, seizure",
        "mean bias outside: -2.000",
        "gap: 2.000",
        "completeness residual",
    ):
        assert word in shown
    scalp = next(ax for ax in figure.axes if ax.get_title(loc="left").replace("\n", " ") == "Through the electrodes")
    dots = scalp.collections[0]
    assert len(dots.get_offsets()) == len([site for site in result.labels["site"] if site not in ("A1", "A2")])


@pytest.mark.parametrize(("what", "columns"), [("priors", 1), ("groups", 2)])
def test_interventions_stand_in_as_many_columns_as_they_need(
    find: Callable[..., Analysis], what: str, columns: int
) -> None:
    figure = make_figure(find("group-interventions", {"what": what, "windows": 1}))
    assert len(figure.axes) == columns
    assert "change of p(seizure)" in texts(figure)
    assert "[our definition]" in texts(figure)


def test_correlations_and_gradients_are_tables(find: Callable[..., Analysis]) -> None:
    shown = texts(make_figure(find("dynamic-groups", {})))
    assert "best lag [our definition]" in shown
    options = {"labels": "seizure", "window": 3, "steps": 9, "batch": 1}
    shown = texts(make_figure(find("gradient-geometry", options, 45.0)))
    for word in (
        "Subspace affinity",
        "Routing similarity",
        "no seizure x seizure",
        "9 steps of 1 window of 3 s; windows: no seizure 5, seizure 10",
    ):
        assert word in shown


def test_a_table_of_few_rows_says_so(find: Callable[..., Analysis]) -> None:
    result = find("cka", {"window": 2, "rows": "windows"}, 45.0)
    shown = texts(make_figure(result))
    for word in ("CKA, unbiased n = 22 windows", "windows of 2 s, a row is a window", "Only 22 rows (below 50)"):
        assert word in shown
    assert "Only" not in texts(make_figure(find("cka", {"rows": "tokens"})))


def test_many_channels_are_named_in_steps(shared: Path) -> None:
    recording = shared / "recordings" / "eegmmidb" / "eegmmidb_overlapping_annotations.edf"
    result = analyze("dynamic-groups", recording, ["random:prise-eeg"], 0, 10, {})
    names = [text.get_text() for text in make_figure(result).axes[0].get_yticklabels()]
    assert names == list(result.labels["channel"][::2])
    assert len(names) == 32
