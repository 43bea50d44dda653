"""What is chosen of analyses: each kind keeps its own, and starts with what suits a page."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError
from analysis.kinds import KINDS
from app.analysis_choices import PAGE, RECORDING, SELECTION, AnalysisChoices


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_table_starts_with_options_that_can_be(kind):
    choices = AnalysisChoices()
    assert set(choices.options(kind)) == {option.name for option in KINDS[kind].options}
    assert choices.span(kind) in (PAGE, RECORDING)
    assert choices.partner(kind) == ""


def test_what_needs_many_windows_starts_with_the_whole_recording():
    choices = AnalysisChoices()
    assert choices.span("embedding") == RECORDING
    assert choices.span("gates") == PAGE


def test_a_page_has_few_windows_but_many_tokens():
    choices = AnalysisChoices()
    assert choices.options("cka")["rows"] == "tokens"
    choices.set_span("cka", RECORDING)
    assert choices.options("cka")["rows"] == "windows"
    choices.set_span("cka", SELECTION)
    choices.set_partner("cka", "other.safetensors")
    assert choices.options("cka")["rows"] == "windows"  # tokens of two models do not correspond
    choices.set_option("cka", "rows", "tokens")
    assert choices.options("cka")["rows"] == "tokens"


def test_only_a_page_is_followed():
    choices = AnalysisChoices()
    assert choices.follows("gates")
    choices.set_span("gates", RECORDING)
    assert not choices.follows("gates")
    choices.set_span("gates", PAGE)
    choices.set_follows("gates", False)
    assert not choices.follows("gates")
    assert choices.follows("cka")


def test_choices_of_one_kind_are_not_those_of_another():
    choices = AnalysisChoices()
    choices.set_option("gates", "window", 4.0)
    assert choices.options("gates")["window"] == 4.0
    assert choices.options("relation-mass")["window"] == 10.0


def test_an_option_that_cannot_be_is_named():
    choices = AnalysisChoices()
    choices.set_option("gates", "window", "long")
    with pytest.raises(AnalysisError, match="the option window cannot be 'long'"):
        choices.options("gates")


def test_only_kinds_of_two_models_have_a_partner():
    choices = AnalysisChoices()
    choices.set_partner("gates", "other.safetensors")
    assert choices.partner("gates") == ""
