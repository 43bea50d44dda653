"""Places and gains of rows: true millimetres, negative up, blocks apart, own scales."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.channel_quality import ChannelQuality
from analysis.montage import Derivation, Montage
from analysis.recording import Channel
from viewers.rows import RowLooks, Rows, nice_ceiling, nice_floor

PX_PER_MM = 4.0


def test_calibration_step_is_true_millimetres(eeg_channels, single_montage) -> None:
    """50 uV must be 7.1 mm at 7 uV/mm and 5 mm at 10 uV/mm."""
    for uv_per_mm, millimetres in ((7.0, 7.14), (10.0, 5.0)):
        rows = Rows(single_montage("A"), 400, uv_per_mm, PX_PER_MM, eeg_channels("A"))
        height = rows.y(0, 0.0) - rows.y(0, -50.0)
        assert height / PX_PER_MM == pytest.approx(millimetres, abs=0.01)


def test_negative_is_up(eeg_channels, single_montage) -> None:
    rows = Rows(single_montage("A"), 400, 7, PX_PER_MM, eeg_channels("A"))
    assert rows.y(0, -20) < rows.y(0, 0) < rows.y(0, 20)


def test_phase_reversal_tips_point_at_each_other(eeg_channels) -> None:
    """A negative spike at T7 drives F7-T7 down and T7-P7 up."""
    montage = Montage("LB", (Derivation("F7-T7", "F7", ("T7",)), Derivation("T7-P7", "T7", ("P7",))))
    potentials = {"F7": 0.0, "T7": -80.0, "P7": 0.0}
    values = [potentials[d.anode] - potentials[d.cathode[0]] for d in montage.derivations]
    rows = Rows(montage, 400, 7, PX_PER_MM, eeg_channels("F7", "T7", "P7"))
    assert rows.y(0, values[0]) > rows.centre[0]
    assert rows.y(1, values[1]) < rows.centre[1]


def test_rows_fill_the_height_with_gaps_between_blocks(eeg_channels, single_montage) -> None:
    montage = single_montage("A", "B", "C", "D", blocks="0011")
    rows = Rows(montage, 520, 7, PX_PER_MM, eeg_channels("A", "B", "C", "D"), top=10, bottom=10)
    steps = np.diff(rows.centre)
    assert rows.pitch == pytest.approx(100)
    np.testing.assert_allclose(steps, [100, 200, 100])
    assert rows.band(0)[0] == pytest.approx(10)
    assert rows.band(3)[1] == pytest.approx(510)


def test_gap_between_blocks_belongs_to_no_row(eeg_channels, single_montage) -> None:
    rows = Rows(single_montage("A", "B", blocks="01"), 300, 7, PX_PER_MM, eeg_channels("A", "B"))
    assert rows.row_at(50) == 0
    assert rows.row_at(150) is None
    assert rows.row_at(250) == 1
    assert rows.nearest(140) == 0


def test_hearts_are_drawn_flatter_and_the_row_says_so(eeg_channels, single_montage) -> None:
    channels = (*eeg_channels("A"), *eeg_channels("ECG", type="ecg"))
    rows = Rows(single_montage("A", "ECG"), 400, 7, PX_PER_MM, channels, looks=RowLooks(kinds={"ecg": 70.0}))
    assert rows.gain[1] == pytest.approx(rows.gain[0] / 10)
    assert rows.notes == ("", "70 µV/mm")


def test_kinds_and_single_rows_have_scales_of_their_own(eeg_channels, single_montage) -> None:
    names = ("A", "B", "ECG", "EOG", "Flow")
    kinds = ("eeg", "eeg", "ecg", "eog", "resp")
    channels = tuple(c for name, kind in zip(names, kinds, strict=True) for c in eeg_channels(name, type=kind))
    looks = RowLooks(kinds={"ecg": 70.0, "eog": 7.0, "resp": 100.0}, rows={"B": 3.0, "gone": 1.0})
    quality = {"Flow": ChannelQuality("ok", 500.0, 900.0)}
    rows = Rows(single_montage(*names), 500, 7, PX_PER_MM, channels, quality, looks=looks)
    assert rows.notes == ("", "3 µV/mm", "70 µV/mm", "", "100 µV/mm")
    assert rows.overridden == (False, True, False, False, False)
    for i, uv_per_mm in enumerate((7.0, 3.0, 70.0, 7.0, 100.0)):
        assert rows.scale_of(i) == pytest.approx(uv_per_mm)
    # Brain, heart and eyes are drawn negative up; breath positive up about its own middle.
    assert [rows.y(i, -50) < rows.centre[i] for i in range(4)] == [True] * 4
    assert rows.y(4, 500) == pytest.approx(rows.centre[4])
    assert rows.y(4, 600) == pytest.approx(rows.centre[4] - PX_PER_MM)


def test_a_filtered_breath_is_drawn_about_zero(eeg_channels, single_montage) -> None:
    channels = eeg_channels("Flow", type="resp")
    quality = {"Flow": ChannelQuality("ok", 500.0, 900.0)}
    fitted = RowLooks(centred=frozenset({"resp"}))
    rows = Rows(single_montage("Flow"), 400, 7, PX_PER_MM, channels, quality, looks=fitted)
    assert rows.y(0, 0.0) == pytest.approx(rows.centre[0])
    assert rows.notes == ("span 1 mV",)


def test_a_row_in_another_unit_keeps_the_scale_it_was_given(eeg_channels, single_montage) -> None:
    channels = (Channel("SpO2", "SpO2", "misc", "%", 1.0),)
    quality = {"SpO2": ChannelQuality("ok", 94.75, 4.5)}
    looks = RowLooks(rows={"SpO2": 0.5})
    rows = Rows(single_montage("SpO2"), 400, 7, PX_PER_MM, channels, quality, looks=looks)
    assert rows.notes == ("0.5 %/mm",)
    assert rows.y(0, 95.75) == pytest.approx(rows.centre[0] - 2 * PX_PER_MM)
    assert rows.scale_of(0) == pytest.approx(0.5)


def test_positive_up_turns_the_body_over_and_nothing_else(eeg_channels, single_montage) -> None:
    channels = (*eeg_channels("A"), *eeg_channels("Flow", type="resp"))
    quality = {"Flow": ChannelQuality("ok", 0.0, 900.0)}
    usual = Rows(single_montage("A", "Flow"), 400, 7, PX_PER_MM, channels, quality)
    turned = Rows(single_montage("A", "Flow"), 400, 7, PX_PER_MM, channels, quality, looks=RowLooks(positive_up=True))
    assert turned.gain[0] == -usual.gain[0] < 0
    assert turned.gain[1] == usual.gain[1]


def test_clipped_rows_have_bands_that_meet_and_say_where_they_are_cut(eeg_channels, single_montage) -> None:
    channels = eeg_channels("A", "B")
    plain = Rows(single_montage("A", "B"), 200, 10, PX_PER_MM, channels)
    lo = np.array([[-10.0, -10.0], [-200.0, -10.0], [-10.0, np.nan]], np.float32)
    hi = np.array([[10.0, 10.0], [10.0, 200.0], [10.0, np.nan]], np.float32)
    assert plain.bands() is None
    assert plain.cut(lo, hi) is None
    rows = Rows(single_montage("A", "B"), 200, 10, PX_PER_MM, channels, looks=RowLooks(clipped=True))
    top, bottom = rows.bands()
    np.testing.assert_allclose(top, [0, 100])
    np.testing.assert_allclose(bottom, [100, 200])
    above, below = rows.cut(lo, hi)
    assert above.tolist() == [[False, False], [True, False], [False, False]]
    assert below.tolist() == [[False, False], [False, True], [False, False]]


def test_a_bad_row_is_cut_off_at_its_neighbours_which_may_still_overlap(eeg_channels, single_montage) -> None:
    looks = RowLooks(bad=frozenset("B"))
    rows = Rows(single_montage("A", "B"), 200, 10, PX_PER_MM, eeg_channels("A", "B"), looks=looks)
    top, bottom = rows.bands()
    np.testing.assert_allclose(top, [0, 100])
    np.testing.assert_allclose(bottom, [200, 200])
    far = np.array([[-2000.0, -2000.0]], np.float32), np.array([[2000.0, 2000.0]], np.float32)
    above, below = rows.cut(*far)
    assert (above.tolist(), below.tolist()) == ([[False, True]], [[False, True]])


def test_own_units_have_a_fixed_scale_positive_up(eeg_channels, single_montage) -> None:
    channels = (*eeg_channels("A"), Channel("SpO2", "SpO2", "misc", "%", 1.0))
    quality = {"SpO2": ChannelQuality("ok", 94.75, 4.5)}
    scales = []
    for uv_per_mm in (5.0, 50.0):
        rows = Rows(single_montage("A", "SpO2"), 400, uv_per_mm, PX_PER_MM, channels, quality)
        assert rows.y(1, 97.0) < rows.y(1, 92.5)
        top, bottom = rows.band(1)
        assert top < rows.y(1, 97.0) < rows.y(1, 92.5) < bottom
        assert rows.units[1] == "%"
        assert rows.notes[1] == "92.2–97.2 %"
        scales.append(float(rows.gain[1]))
    assert scales[0] == scales[1]


def test_dc_voltages_are_centred_and_say_their_span(eeg_channels, single_montage) -> None:
    channels = eeg_channels("DC", type="misc")
    rows = Rows(single_montage("DC"), 400, 7, PX_PER_MM, channels, {"DC": ChannelQuality("ok", 22_000.0, 1500.0)})
    assert rows.y(0, 22_000) == pytest.approx(rows.centre[0])
    assert rows.notes == ("span 2 mV",)


def test_rows_of_a_channel(eeg_channels) -> None:
    montage = Montage(
        "m",
        (
            Derivation("F7-T7", "F7", ("T7",)),
            Derivation("T7-P7", "T7", ("P7",)),
            Derivation("Fz-avg", "Fz", ("F7", "T7", "Fz")),
        ),
    )
    rows = Rows(montage, 300, 7, PX_PER_MM, eeg_channels("F7", "T7", "P7", "Fz"))
    assert rows.of_channels(["T7"]) == [0, 1]
    assert rows.of_channels(["Fz"]) == [2]
    assert rows.of_channels(["T7-P7"]) == [1]
    assert rows.index("Fz-avg") == 2
    with pytest.raises(KeyError):
        rows.index("nobody")


def test_no_rows_and_very_many(eeg_channels, single_montage) -> None:
    assert Rows(single_montage(), 100, 7, PX_PER_MM).nearest(5) is None
    names = [f"E{i}" for i in range(400)]
    rows = Rows(single_montage(*names), 300, 7, PX_PER_MM, eeg_channels(*names))
    assert (np.diff(rows.centre) > 0).all()


@pytest.mark.parametrize(("value", "up", "down"), [(1.0, 1, 1), (1.1, 2, 1), (3, 5, 2), (7, 10, 5), (0.03, 0.05, 0.02)])
def test_nice_numbers(value: float, up: float, down: float) -> None:
    assert nice_ceiling(value) == pytest.approx(up)
    assert nice_floor(value) == pytest.approx(down)


def test_rows_of_bad_channels_are_grey_whatever_the_colours(eeg_channels) -> None:
    montage = Montage(
        "m",
        (
            Derivation("A-B", "A", ("B",), "left"),
            Derivation("B-C", "B", ("C",), "right"),
            Derivation("C-avg", "C", ("A", "B"), "midline"),
        ),
    )
    for colours in ("sides", "black", "regions"):
        plain = Rows(montage, 400, 7, PX_PER_MM, eeg_channels(*"ABC"), looks=RowLooks(colours=colours)).inks
        looks = RowLooks(colours=colours, bad=frozenset("A"))
        assert Rows(montage, 400, 7, PX_PER_MM, eeg_channels(*"ABC"), looks=looks).inks == ("muted", *plain[1:])
