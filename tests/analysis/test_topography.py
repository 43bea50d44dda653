"""Scalp maps against MNE's spherical splines, closed forms, and recordings that have no map."""

from __future__ import annotations

import mne
import numpy as np
import pytest

from analysis.electrodes import position_of
from analysis.errors import AnalysisError
from analysis.readers import open_recording
from analysis.recording import Channel
from analysis.topography import (
    OWN,
    STANDARD,
    average_referenced,
    build_head_map,
    flatten,
    grid_points,
    pulled_inside,
    scalp_layout,
    spline_matrix,
    unflatten,
)

NAMES = "Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split()


def electrode(name: str, **changes) -> Channel:
    given = {"type": "eeg", "unit": "uV", "sfreq": 100.0, "position": position_of(name), "site": name, **changes}
    return Channel(name, name, **given)


@pytest.fixture
def recording_of(make_recording):
    def make(channels):
        return make_recording(np.zeros((len(channels), 100)), 100.0, channels)

    return make


def random_directions(n: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, 3))
    vectors[:, 2] = np.abs(vectors[:, 2]) * 0.7 - 0.1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("n", [8, 19, 64])
def test_spline_is_that_of_mne(n):
    rng = np.random.default_rng(n)
    directions = random_directions(n + 4, n)
    names = [f"E{i}" for i in range(n + 4)]
    info = mne.create_info(names, 100.0, "eeg")
    montage = mne.channels.make_dig_montage(dict(zip(names, directions * 0.09, strict=True)), coord_frame="head")
    data = rng.standard_normal((n + 4, 7)) * 1e-5
    evoked = mne.EvokedArray(data, info, verbose="error")
    evoked.set_montage(montage, verbose="error")
    evoked.info["bads"] = names[n:]
    evoked.interpolate_bads(origin=(0, 0, 0), verbose="error")
    ours = spline_matrix(directions[:n], directions[n:], regularisation=1e-5) @ data[:n]  # MNE's own
    np.testing.assert_allclose(ours, evoked.data[n:], rtol=0, atol=1e-7 * np.abs(data).max())


def test_values_at_the_electrodes_come_back_within_the_regularisation():
    directions = random_directions(32)
    values = 50 * np.random.default_rng(1).standard_normal(32)
    exact = spline_matrix(directions, directions, regularisation=0.0) @ values
    np.testing.assert_allclose(exact, values, atol=1e-6)
    smooth = 40 * directions[:, 0] + 25 * directions[:, 1] * directions[:, 2]
    usual = spline_matrix(directions, directions) @ smooth
    np.testing.assert_allclose(usual, smooth, atol=0.01)


def test_one_electrode_alone_is_not_smoothed_away(recording_of):
    directions = scalp_layout(recording_of([electrode(name) for name in NAMES])).directions
    shares = np.diag(spline_matrix(directions, directions))
    assert shares.min() > 0.95


def test_a_constant_field_stays_constant():
    matrix = spline_matrix(random_directions(19), unflatten(grid_points(32), 1.9))
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_a_dipolar_field_is_found_between_dense_electrodes():
    sources, targets = random_directions(128), random_directions(40, seed=5)
    inside = targets[(targets @ sources.T).max(axis=1) > np.cos(np.radians(12))]
    field = spline_matrix(sources, inside) @ (100 * sources[:, 0])
    np.testing.assert_allclose(field, 100 * inside[:, 0], atol=1.0)


def test_the_drawing_and_the_head_are_each_other_in_reverse():
    directions = random_directions(50)
    np.testing.assert_allclose(unflatten(flatten(directions, 1.8), 1.8), directions, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(unflatten(grid_points(9), 2.2), axis=1), 1.0, atol=1e-12)


def test_left_is_left_and_the_nose_is_up(recording_of):
    layout = scalp_layout(recording_of([electrode(name) for name in NAMES]))
    place = dict(zip(layout.ch_names, layout.points, strict=True))
    assert place["T7"][0] < -0.8
    assert place["T8"][0] > 0.8
    assert place["Fp1"][1] > 0.8
    assert place["O2"][1] < -0.8
    np.testing.assert_allclose(place["Cz"], 0.0, atol=0.02)  # the template's Cz is not quite on the midline
    assert np.linalg.norm(layout.points, axis=1).max() < 1
    head = build_head_map(layout, 33)
    picture = head.interpolate(layout.points[:, 0] * 100)
    assert (picture[16, :8] < 0).all()
    assert (picture[16, -8:] > 0).all()
    picture = head.interpolate(layout.points[:, 1] * 100)
    assert (picture[:8, 16] > 0).all()
    assert (picture[-8:, 16] < 0).all()


def test_outside_the_electrodes_the_field_of_the_border_goes_on(recording_of):
    head = build_head_map(scalp_layout(recording_of([electrode(name) for name in NAMES])), 65)
    picture = head.interpolate(np.random.default_rng(2).standard_normal(19))
    points = grid_points(65)
    rim = points / np.linalg.norm(points, axis=1, keepdims=True).clip(1e-9)
    on_hull = pulled_inside(rim, head.layout.points)
    assert np.linalg.norm(on_hull, axis=1).max() < 1.0
    np.testing.assert_allclose(pulled_inside(on_hull * 0.99, head.layout.points), on_hull * 0.99)
    top, left = picture[:, 32], picture[32]
    np.testing.assert_allclose(top[0], top[2], atol=1e-4)
    np.testing.assert_allclose(left[0], left[1], atol=1e-4)


def test_nothing_is_moved_where_the_electrodes_lie_on_one_side():
    points = grid_points(8)
    corners = np.array([(0.2, 0.2), (0.8, 0.2), (0.5, 0.9)])
    np.testing.assert_array_equal(pulled_inside(points, corners), points)
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (0.0, 0.0)])
    moved = pulled_inside(np.array([(1.0, 0.0), (0.9, 0.9), (0.3, 0.2)]), square)
    np.testing.assert_allclose(moved, [(0.5, 0.0), (0.5, 0.5), (0.3, 0.2)])


def test_a_map_covers_what_is_near_its_electrodes_and_fades_where_there_are_none(recording_of):
    front = "Fp1 Fp2 F7 F3 Fz F4 F8 AF3 AF4 FC1 FC2".split()
    head = build_head_map(scalp_layout(recording_of([electrode(name) for name in front])), 33)
    assert head.cover[8, 16] == 1.0
    assert head.cover[27, 16] == 0.0


def test_faulty_ears_bipolar_and_unplaced_channels_take_no_part(recording_of):
    channels = [electrode(name) for name in NAMES]
    channels += [electrode("A1"), electrode("X1", site=None, position=None), electrode("C3", site=None)]
    channels[-1] = Channel("C3 (2)", "C3", "eeg", "uV", 100.0, position_of("C3"), "C3")
    channels += [Channel("Fp1-F7", "Fp1-F7", "eeg", "uV", 100.0, position_of("Fp1"), None, ("Fp1", "F7"))]
    layout = scalp_layout(recording_of(channels), {"T7": "flat", "P3": "not calibrated", "F8": "marked bad"})
    assert dict(layout.left_out) == {
        "T7": "flat",
        "P3": "not calibrated",
        "F8": "marked bad",
        "X1": "no position",
        "C3 (2)": "same place as another",
    }
    assert set(layout.ch_names) == set(NAMES) - {"T7", "P3", "F8"}


@pytest.mark.parametrize(
    ("channels", "sentence"),
    [
        ([], "needs EEG"),
        ([electrode("A1", type="seeg", site=None)], "intracranial"),
        ([Channel("Fp1-F7", "", "eeg", "uV", 100.0, None, None, ("Fp1", "F7"))], r"recorded bipolar \(Fp1-F7"),
        ([electrode(name) for name in NAMES[:7]], "at least 8 electrodes with a position: there are 7$"),
        ([electrode(name, position=None) for name in NAMES], "there are 0; of 19 the place"),
    ],
)
def test_what_has_no_map_is_told_why(recording_of, channels, sentence):
    with pytest.raises(AnalysisError, match=sentence):
        scalp_layout(recording_of(channels))


@pytest.mark.parametrize(
    ("name", "count", "source"),
    [
        ("eegmmidb/eegmmidb_overlapping_annotations.edf", 64, STANDARD),
        ("scalp-seizure-46ch/demo_edf.edf", 20, STANDARD),
        ("eeglab/eeglab_data.set", 30, OWN),
    ],
)
def test_real_recordings_have_their_own_names_and_positions(shared, name, count, source):
    with open_recording(shared / "recordings" / name) as recording:
        layout = scalp_layout(recording)
        assert len(layout.ch_names) == count
        assert set(layout.ch_names) <= set(recording.ch_names)
        assert layout.source == source


def test_positions_about_another_middle_give_the_same_map(recording_of):
    shifted = [
        electrode(name, position=tuple(np.array(position_of(name)) * 1.1 + (0.01, -0.02, 0.03))) for name in NAMES
    ]
    here = scalp_layout(recording_of(shifted))
    moved = [electrode(n, position=tuple(np.array(c.position) - 0.02)) for n, c in zip(NAMES, shifted, strict=True)]
    there = scalp_layout(recording_of(moved))
    assert here.source == there.source == OWN
    np.testing.assert_allclose(here.points, there.points, atol=1e-9)


def test_average_reference_is_that_of_the_map():
    values = np.arange(12.0).reshape(3, 4)
    np.testing.assert_allclose(average_referenced(values).mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(average_referenced(values)), 1.0)


@pytest.mark.parametrize("names", [NAMES, [*NAMES, *"FC1 FC2 CP1 CP2 FC5 FC6 CP5 CP6 AF3 AF4 PO3 PO4".split()]])
def test_at_the_electrodes_the_map_is_that_of_plot_topomap(recording_of, names):
    import matplotlib.pyplot as plt

    layout = scalp_layout(recording_of([electrode(name) for name in names]))
    values = 40 * np.sin(3 * layout.points[:, 0]) + 25 * layout.points[:, 1]
    figure, ax = plt.subplots()
    try:
        picture, _ = mne.viz.plot_topomap(values, layout.points * 0.09, axes=ax, res=512, contours=0, show=False)
        field, (left, right, bottom, top) = np.asarray(picture.get_array()), picture.get_extent()
    finally:
        plt.close(figure)
    x, y = (layout.points * 0.09).T
    row, column = (y - bottom) / (top - bottom), (x - left) / (right - left)
    theirs = field[np.round(row * 511).astype(int), np.round(column * 511).astype(int)]
    ours = spline_matrix(layout.directions, layout.directions) @ values
    np.testing.assert_allclose(theirs, values, atol=1.0)  # 512 points across: it is read up to half a point beside
    np.testing.assert_allclose(ours, theirs, atol=1.2)
    head = build_head_map(layout, 256)
    column, row = np.clip(((layout.points * (1, -1) + 1) / 2 * 256).astype(int), 0, 255).T
    np.testing.assert_allclose(head.interpolate(values)[row, column], theirs, atol=1.5)


@pytest.mark.parametrize("seed", range(4))
def test_amounts_lie_within_what_was_measured_and_are_greatest_where_they_were(recording_of, seed):
    head = build_head_map(scalp_layout(recording_of([electrode(name) for name in NAMES])), 128)
    values = np.random.default_rng(seed).gamma(0.5, 20.0, len(NAMES))
    values[seed] = 4 * values.max()
    field = head.interpolate_amounts(values)
    spline = head.interpolate(values)
    assert spline.min() < 0  # which is why
    assert values.min() * 0.999 <= field.min()
    assert field.max() <= values.max() * 1.001
    place = grid_points(128)[int(np.argmax(field))]
    inside = pulled_inside(place[None], head.layout.points)[0]  # the border goes on to the outline
    assert np.linalg.norm(inside - head.layout.points[seed]) < 0.08
    np.testing.assert_allclose(head.interpolate_amounts(np.full(len(NAMES), 7.0)), 7.0, rtol=1e-5)


def test_amounts_at_the_electrodes_are_those_measured(recording_of):
    layout = scalp_layout(recording_of([electrode(name) for name in NAMES]))
    weights = np.maximum(spline_matrix(layout.directions, layout.directions), 0)
    shares = np.diag(weights / weights.sum(axis=1, keepdims=True))
    assert shares.min() > 0.9
