"""One click from a map to its checks, in the real window: the same span and options, and the panel of trust."""

from __future__ import annotations

import pytest

from app.settings import Settings
from app.testing import open_window
from viewers.panels.attribution import TokenEvidence
from viewers.panels.sanity_checks import SanityChecks

MODEL = "random:mvpformer:tiny:3"


@pytest.fixture(scope="module")
def window(shared, qapp):
    window = open_window(shared / "recordings" / "scalp-seizure-46ch" / "demo_edf.edf", (1500, 900), Settings())
    window.wait()
    window.load_model(MODEL)
    window.wait(60)
    window.show(20.0, 10.0)
    window.wait()
    yield window
    window.close()


def test_a_map_is_checked_with_one_click_over_the_same_span_and_with_its_options(window):
    analysing = window.main.analysing
    analysing.open("grad-cam")
    choices = analysing._wishes.choices
    choices.set_option("grad-cam", "target", "background")
    for name, value in (("seeds", 1), ("orders", 2), ("cascade", False)):
        choices.set_option("sanity-checks", name, value)
    analysing.run()
    window.wait(60)
    assert isinstance(analysing.tab.shown, TokenEvidence)
    assert analysing.tab.shown.check.isVisibleTo(analysing.tab.shown)
    analysing.tab.shown.check.click()
    window.wait(60)
    assert isinstance(analysing.tab.shown, SanityChecks)
    answer = analysing.answer
    assert answer.kind == "sanity-checks"
    assert analysing.tab.kind.value() == "sanity-checks"
    assert answer.facts["target"] == "background"
    assert (answer.request.window.start, answer.request.window.stop) == (20.0, 30.0)
    assert choices.options("sanity-checks")["seeds"] == 1
    assert answer.facts["verdicts"][0]["sentence"] in analysing.tab.shown.table()
