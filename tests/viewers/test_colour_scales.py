"""Colour scales: zero has the colour of the ground, signs differ for every eye, and steps look even."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QColor

from viewers.colour_scales import amount_scale, enlarged, enlarged_parts, image, indices, signed_scale
from viewers.theme import DARK, LIGHT

# Brettel, Viénot and Mollon 1997 as a matrix each on linear light (Machado et al. 2009, severity 1).
BLIND = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def luminance(rgb: np.ndarray) -> np.ndarray:
    linear = np.where(rgb / 255 <= 0.04045, rgb / 255 / 12.92, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_zero_is_the_ground_and_both_ends_stand_out(theme):
    for table, place in ((signed_scale(theme), 127), (amount_scale(theme), 0)):
        ground = QColor(theme.canvas)
        assert np.abs(table[place].astype(int) - [ground.red(), ground.green(), ground.blue()]).max() <= 14
        ends = luminance(table[[0, -1]]) if place else luminance(table[[-1]])
        assert (np.abs(ends - luminance(table[place])) > 0.35).all()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_amounts_grow_steadily_in_lightness(theme):
    steps = np.diff(luminance(amount_scale(theme)))
    assert (steps >= -1e-3).all() if theme.is_dark else (steps <= 1e-3).all()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("kind", sorted(BLIND))
def test_signs_differ_for_colour_blind_readers(theme, kind):
    table = signed_scale(theme)
    for share in (0.4, 0.7, 1.0):
        pair = table[[round(127.5 - 127.5 * share), round(127.5 + 127.5 * share)]] / 255.0
        seen = np.clip((pair**2.2) @ np.array(BLIND[kind]).T, 0, 1) ** (1 / 2.2)
        assert np.abs(seen[0] - seen[1]).max() > 0.2


def test_values_find_their_places_and_what_lies_beyond_the_nearer_end():
    values = np.array([-200.0, -100.0, 0.0, 99.9, 300.0])
    assert indices(values, -100.0, 100.0).tolist() == [0, 0, 127, 254, 255]
    assert indices(np.array([np.nan]), -1.0, 1.0).tolist() == [0]


def test_a_picture_keeps_its_colours_and_is_clear_where_nothing_is_shown():
    rgb = np.array([[[1, 2, 3], [250, 128, 0]]], np.uint8)
    made = image(rgb, np.array([[True, False]]))
    assert made.pixelColor(0, 0) == QColor(1, 2, 3)
    assert made.pixelColor(1, 0).alpha() == 0


def test_a_finer_grid_keeps_a_smooth_field():
    y, x = np.mgrid[0:32, 0:32] / 32.0
    fine = (np.arange(128) + 0.5) / 4 - 0.5
    found = enlarged(np.sin(3 * x) * np.cos(2 * y), 128)
    expected = np.sin(3 * fine / 32)[None] * np.cos(2 * fine / 32)[:, None]
    np.testing.assert_allclose(found[8:-8, 8:-8], expected[8:-8, 8:-8], atol=2e-4)
    np.testing.assert_allclose(enlarged(np.ones((8, 8)), 37), 1.0, atol=1e-6)


@pytest.mark.parametrize(("size", "finer"), [(64, 308), (64, 410), (40, 41), (8, 37)])
def test_a_finer_grid_is_made_in_parts_that_follow_one_another(size, finer):
    field = np.random.default_rng(0).normal(size=(size, size))
    whole, upright = enlarged(field, finer), enlarged(field.T, finer).T
    np.testing.assert_allclose(whole, upright, atol=1e-5)  # both directions are treated alike
    ends = [0]
    for rows, part in enlarged_parts(field, finer):
        assert rows.start == ends[-1]
        np.testing.assert_array_equal(part, whole[rows])
        ends.append(rows.stop)
    assert ends[-1] == finer
    # Keys' kernel at a fine point between coarse ones, for a column that all rows share.
    line = np.tile(field[:, :1], (1, size))
    at = (finer // 2 + 0.5) * size / finer - 0.5
    t, i = at % 1, int(at)
    kernel = [
        ((2 - t) * t - 1) * t / 2,
        (t * t * (3 * t - 5) + 2) / 2,
        t * ((4 - 3 * t) * t + 1) / 2,
        t * t * (t - 1) / 2,
    ]
    expected = sum(w * field[min(i - 1 + k, size - 1), 0] for k, w in enumerate(kernel))
    np.testing.assert_allclose(enlarged(line, finer)[finer // 2], expected, atol=1e-5)
