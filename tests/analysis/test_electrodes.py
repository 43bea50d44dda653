"""The table of electrode positions against MNE's own montage in the head frame."""

from __future__ import annotations

import mne
import numpy as np
import pytest
from mne.channels.montage import transform_to_head

from analysis.electrodes import position_of, site_of, spelling, template_positions


def test_positions_are_those_of_mne_in_the_head_frame() -> None:
    try:
        montage = mne.channels.make_standard_montage("colin27_1005")
    except ValueError:  # before MNE 1.13
        montage = mne.channels.make_standard_montage("standard_1005")
    head = transform_to_head(montage).get_positions()
    assert head["coord_frame"] == "head"
    ours = template_positions()
    assert set(ours) == set(head["ch_pos"])
    for name, place in head["ch_pos"].items():
        np.testing.assert_allclose(ours[name], place, atol=1e-6)


def test_old_names_lie_where_the_new_ones_do() -> None:
    for old, new in (("T3", "T7"), ("T4", "T8"), ("T5", "P7"), ("T6", "P8")):
        assert site_of(old) == new
        assert position_of(old) == position_of(new)
    assert site_of("T1") == "T1"
    assert position_of("T1") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FP1", "Fp1"),
        ("fpz", "Fpz"),
        ("poz", "POz"),
        ("01", "O1"),
        ("F1O", "F10"),
        ("t 3", "T3"),
        ("EKG", None),
        ("", None),
    ],
)
def test_spellings(text: str, expected: str | None) -> None:
    assert spelling(text) == expected
