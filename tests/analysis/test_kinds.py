"""Kinds of analysis are refused by name, and their options by what they may be."""

from __future__ import annotations

import importlib
import inspect

import pytest

from analysis.errors import AnalysisError
from analysis.kinds import KINDS, Kind, Option, check_families, find_kind, kinds_of
from models.families import MODELS

KIND = Kind(
    "x",
    "X",
    {"axon": "m:f"},
    (
        Option("size", 10.0, "", least=1.0),
        Option("count", 5, "", least=1),
        Option("way", "a", "", ("a", "b")),
        Option("on", False, ""),
    ),
)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_code_and_is_offered_by_its_models(name: str) -> None:
    for family, function in KINDS[name].functions.items():
        module, _, attribute = function.partition(":")
        code = getattr(importlib.import_module(module), attribute)
        assert list(inspect.signature(code).parameters) == ["inputs", "progress"]
        families = MODELS if family == "*" else [family]
        assert all(name in MODELS[one].capabilities for one in families)


def test_options_take_their_type_from_the_default() -> None:
    made = KIND.parse_options({"size": "2.5", "count": "7", "way": "b", "on": "yes"})
    assert made == {"size": 2.5, "count": 7, "way": "b", "on": True}
    assert KIND.parse_options({}) == {"size": 10.0, "count": 5, "way": "a", "on": False}
    assert KIND.parse_options({"on": True, "size": 3})["size"] == 3.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": "0.5"}, "a number of at least 1"),
        ({"count": "2.5"}, "a whole number of at least 1"),
        ({"way": "c"}, "one of a, b"),
        ({"on": "perhaps"}, "yes or no"),
        ({"colour": "1"}, "x takes size, count, way, on"),
    ],
)
def test_what_an_option_may_be_is_said(given: dict[str, str], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        KIND.parse_options(given)


def test_models_that_do_not_fit_are_named_with_what_they_give() -> None:
    with pytest.raises(AnalysisError, match=r"MVPFormer gives no gates \(a.pt\)"):
        check_families(find_kind("gates"), ["mvpformer"], ["a.pt"])
    with pytest.raises(AnalysisError, match="needs 1 checkpoint, not 2"):
        check_families(find_kind("gates"), ["axon", "axon"], ["a", "b"])
    with pytest.raises(AnalysisError, match="choose one of gates"):
        find_kind("gaits")
    assert "gates" in kinds_of("axon")
