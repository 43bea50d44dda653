"""Colours behind the traces: nothing at the balance, brown below, teal above, more where more is meant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from viewers.heat_scales import (
    DIVERGING,
    SEQUENTIAL,
    HeatScale,
    above,
    amount,
    balance_colours,
    balance_words,
    below,
    tint,
    tints,
)
from viewers.theme import DARK, LIGHT

BALANCE = HeatScale(0.25, 0.75, 0.5, "", "space", "time")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_balance_is_see_through_and_the_ends_are_full(theme):
    assert tint(theme, BALANCE, 0.5).alphaF() == 0
    assert tint(theme, BALANCE, 0.75).getRgb() == above(theme).getRgb()
    assert tint(theme, BALANCE, 0.25).getRgb() == below(theme).getRgb()
    assert tint(theme, BALANCE, 0.625).alphaF() == pytest.approx(0.5, abs=0.01)
    assert tint(theme, BALANCE, 9.0, 0.4).alphaF() == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_an_amount_grows_from_nothing(theme):
    scale = HeatScale(0.0, 4.0)
    assert [round(tint(theme, scale, v).alphaF(), 2) for v in (0, 1, 2, 4)] == [0, 0.25, 0.5, 1]
    assert tint(theme, scale, 4).getRgb() == amount(theme).getRgb()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_hues_are_none_of_those_that_tell_sides_and_models_apart(theme):
    taken = [theme.colour(name).hsvHue() for name in ("left", "right", "accent")]
    for ink in (above(theme), below(theme)):
        assert min(min(abs(ink.hsvHue() - hue), 360 - abs(ink.hsvHue() - hue)) for hue in taken) > 25


def test_the_table_is_premultiplied():
    table = tints(LIGHT, BALANCE, 0.5)
    alpha = table >> 24
    for shift in (0, 8, 16):
        assert ((table >> shift & 255) <= alpha + 1).all()
    assert alpha.max() in (127, 128)
    assert alpha[127] <= 1


def test_steps_clip_what_lies_beyond_and_pass_over_what_is_none():
    steps = BALANCE.steps(np.array([-1, 0.25, 0.5, 0.75, 2, np.nan], np.float32))
    assert steps.tolist() == [0, 0, 128, 255, 255, 0]


@pytest.mark.parametrize(
    ("scale", "value", "text"),
    [
        (BALANCE, 0.7123, "0.71"),
        (HeatScale(-20, 20, 0, "µV"), -3.14159, "−3.1 µV"),
        (HeatScale(0, 0.004), 0.00123, "0.0012"),
        (HeatScale(0, 300), 123.4, "123"),
        (BALANCE, float("nan"), "—"),
    ],
)
def test_values_are_written_as_finely_as_the_scale_is(scale, value, text):
    assert scale.text(value) == text


def test_opaque_colours_have_the_ground_in_the_middle():
    table = balance_colours(LIGHT)
    assert (np.abs(table[127].astype(int) - 255) <= 2).all()
    assert tuple(table[0]) == below(LIGHT).getRgb()[:3]
    assert tuple(table[-1]) == above(LIGHT).getRgb()[:3]


BLIND = {  # Machado et al. 2009, severity 1, on linear light
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("name", DIVERGING)
def test_both_sides_of_every_balance_differ_for_colour_blind_readers(theme, name):
    pair = np.array([ink(theme, 1.0, name).getRgbF()[:3] for ink in (below, above)])
    for matrix in BLIND.values():
        seen = np.clip((pair**2.2) @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        assert np.abs(seen[0] - seen[1]).max() > 0.15


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("name", SEQUENTIAL)
def test_every_scale_of_amounts_grows_steadily_away_from_the_page(theme, name):
    table = tints(theme, HeatScale(0.0, 1.0, colours=name)).astype(np.int64)
    alpha = (table >> 24)[:, None] / 255
    premultiplied = np.stack([table >> shift & 255 for shift in (16, 8, 0)], axis=1)
    ground = np.array([int(theme.canvas[i : i + 2], 16) for i in (1, 3, 5)])
    light = ((premultiplied + ground * (1 - alpha)) / 255) ** 2.2 @ np.array([0.2126, 0.7152, 0.0722])
    steps = np.diff(light)
    assert (steps > -4e-3).all() if theme.is_dark else (steps < 4e-3).all()
    assert abs(light[-1] - light[0]) > 0.25
    assert np.abs(premultiplied[0]).max() == 0


def test_an_unknown_palette_is_the_usual_one():
    for scale in (HeatScale(0.0, 1.0), BALANCE):
        other = HeatScale(scale.low, scale.high, scale.middle, colours="tartan")
        assert np.array_equal(tints(LIGHT, scale), tints(LIGHT, other))


@pytest.mark.parametrize("colours", ["", *DIVERGING])
def test_a_theme_with_colours_of_the_readers_choice_has_them_wherever_none_are_named(colours):
    theme = replace(LIGHT, balances=colours, amounts="blue")
    assert (below(theme), above(theme)) == (below(LIGHT, colours=colours), above(LIGHT, colours=colours))
    assert amount(theme) == amount(LIGHT, colours="blue") != amount(LIGHT)
    assert tuple(balance_colours(theme)[0]) == below(LIGHT, colours=colours).getRgb()[:3]
    assert " to ".join(balance_words(colours)) == (colours or "brown to teal")
