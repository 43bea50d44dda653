"""Settings of kinds of channels: what follows the page, what is usual, and the filters and looks that come of it."""

from __future__ import annotations

import pytest

from analysis.filtering import OFF, DisplayFilter
from app.view import HIGHPASSES, SENSITIVITIES, USUAL_KINDS, KindSettings, View, kept_kinds, step


def test_kinds_follow_the_page_where_nothing_else_is_usual_or_chosen():
    view = View(highpass=1.0, lowpass=35.0, notch=50.0, uv_per_mm=10.0, harmonics=True)
    assert view.display_filter == DisplayFilter(1.0, 35.0, 50.0, harmonics=True)
    for kind in ("eeg", "eog", "ecg", "ieeg"):
        assert view.filters.of_kind(kind) == view.display_filter
    assert view.filters.of_kind("emg") == DisplayFilter(10.0, 100.0, 50.0, harmonics=True)
    assert view.filters.of_kind("resp") == view.filters.of_kind("other") == OFF
    looks = view.row_looks.kinds
    assert (looks["eog"], looks["ecg"], looks["emg"], looks["ieeg"], looks["resp"]) == (10.0, 70.0, 20.0, 50.0, 0.0)
    assert "eeg" not in looks


def test_a_kind_with_settings_of_its_own():
    heart = KindSettings(uv_per_mm=50.0, highpass=0.3, lowpass=40.0, notch=60.0)
    view = View(notch=50.0, harmonics=True)
    view = View(**{**vars(view), "kinds": view.with_kind("ecg", heart)})
    assert view.filters.own == (("emg", DisplayFilter(10.0, 100.0, 50.0, harmonics=True)), *view.filters.own[1:])
    assert view.filters.of_kind("ecg") == DisplayFilter(0.3, 40.0, 60.0)
    assert view.row_looks.kinds["ecg"] == 50.0
    assert view.with_kind("ecg", USUAL_KINDS["ecg"]) == ()


def test_breath_can_be_filtered_and_is_then_drawn_about_zero():
    view = View(kinds=(("resp", KindSettings(100.0, 0.1, 15.0, 0.0)),))
    assert view.filters.of_kind("resp") == DisplayFilter(0.1, 15.0)
    assert "resp" in view.row_looks.centred
    assert "resp" not in View().row_looks.centred
    assert "eeg" not in View(highpass=0.0).row_looks.centred


def test_the_page_is_that_of_its_kind():
    view = View(page_kind="ieeg", uv_per_mm=70.0, lowpass=250.0)
    assert view.filters.of_kind("ieeg") == DisplayFilter(0.5, 250.0)
    assert "ieeg" not in view.row_looks.kinds


def test_rows_are_given_scales_and_lose_them_again():
    view = View(gains=View().with_gain("F8-T4", 20.0))
    assert view.row_looks.rows == {"F8-T4": 20.0}
    assert view.with_gain("A", 3.0) == (("A", 3.0), ("F8-T4", 20.0))
    assert view.with_gain("F8-T4", None) == ()


def test_what_is_kept_of_kinds_comes_back_and_nonsense_is_left_out():
    settings = KindSettings(100.0, None, 30.0, 50.0, True)
    assert KindSettings.read(settings.written()) == settings
    assert KindSettings.read({"uv_per_mm": -5.0, "lowpass": float("inf"), "colour": 1.0}) == KindSettings()
    assert kept_kinds({"nobody": settings, "ecg": settings}) == (("ecg", settings),)


@pytest.mark.parametrize(
    ("value", "steps", "expected"), [(7, 1, 10), (7, -1, 5), (8.4, 1, 10), (1, -3, 1), (1e9, 1, SENSITIVITIES[-1])]
)
def test_steps_along_the_choices(value, steps, expected):
    assert step(SENSITIVITIES, value, steps) == expected


def test_low_filters_are_those_of_the_sheet():
    assert HIGHPASSES == (0.0, 0.1, 0.3, 0.5, 1.0, 1.6, 2.0, 5.0, 10.0)
