"""The head of four spheres against MNE's, and the series against the closed form of a uniform sphere."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.electrodes import template_positions
from analysis.simulation.head import contact_gain, dipole_gain, head_sphere, shell_factors, source_grid
from analysis.simulation.sensors import ELECTRODES_19, ELECTRODES_64


def places(names) -> np.ndarray:
    return np.array([template_positions()[name] for name in names])


def test_the_sphere_fits_the_electrodes():
    sphere = head_sphere()
    distance = np.linalg.norm(places(ELECTRODES_64) - sphere.centre, axis=1)
    assert sphere.radius == pytest.approx(0.0975, abs=0.0005)
    assert np.abs(distance / sphere.radius - 1).max() < 0.14


def test_the_grid_lies_at_its_depth_and_above_the_base():
    sphere, grid = head_sphere(), source_grid()
    assert len(grid.positions) == 435
    assert np.linalg.norm(grid.positions - sphere.centre, axis=1) == pytest.approx(0.8 * sphere.radius)
    assert grid.outwards[:, 2].min() > -0.45
    assert np.linalg.norm(grid.outwards, axis=1) == pytest.approx(1)


def test_the_factors_of_a_uniform_sphere_are_those_of_the_closed_form():
    factors = shell_factors((0.3, 0.7, 1.0), (0.33, 0.33, 0.33), 20)
    n = np.arange(1, 21)
    assert factors == pytest.approx((2 * n + 1) / n, rel=1e-12)


def test_a_uniform_sphere_gives_the_potential_of_brody():
    """Closed form of a dipole in a uniform sphere (Brody et al. 1973), at its surface."""
    sphere = head_sphere()
    rng = np.random.default_rng(0)
    electrodes = sphere.centre + sphere.radius * sphere.directions(sphere.centre + rng.normal(size=(12, 3)))
    sources = sphere.centre + sphere.radius * 0.6 * rng.uniform(0.1, 1, (7, 1)) * sphere.directions(
        sphere.centre + rng.normal(size=(7, 3))
    )
    gain = dipole_gain(electrodes, sources, sphere, (1.0,), (0.33,))
    r, r0 = (electrodes - sphere.centre)[:, None], (sources - sphere.centre)[None]
    d = r - r0
    size, radius = np.linalg.norm(d, axis=2, keepdims=True), sphere.radius
    outward = r / radius
    inner = (d * outward).sum(2, keepdims=True)
    expected = 2 * d / size**3 + (outward + d / size) / (radius * (size + inner))
    # Written for the gradient of 1/|d| and of ln(|d| + d.r/R): potential of a unit moment along each axis.
    expected = expected * 1e-3 / (4 * np.pi * 0.33)
    assert gain == pytest.approx(expected, rel=1e-6, abs=1e-9 * np.abs(expected).max())


def test_four_spheres_give_what_mne_gives():
    mne = pytest.importorskip("mne")
    sphere, grid = head_sphere(), source_grid()
    electrodes = places(ELECTRODES_19)
    projected = sphere.centre + sphere.radius * sphere.directions(electrodes)
    info = mne.create_info(list(ELECTRODES_19), 256.0, "eeg")
    montage = mne.channels.make_dig_montage(dict(zip(ELECTRODES_19, projected, strict=True)), coord_frame="head")
    info.set_montage(montage)
    model = mne.make_sphere_model(r0=sphere.centre, head_radius=sphere.radius, info=info, verbose="error")
    source = mne.setup_volume_source_space(pos={"rr": grid.positions, "nn": grid.outwards}, verbose="error")
    made = mne.make_forward_solution(
        info, trans=None, src=source, bem=model, eeg=True, meg=False, mindist=0, verbose="error"
    )
    theirs = made["sol"]["data"].reshape(19, -1, 3) * 1e-3
    ours = dipole_gain(electrodes, grid.positions, sphere)
    # MNE stands for the skull with three dipoles fitted to the series, so a tenth of a per cent is its own error.
    assert np.abs(ours - theirs).max() < 0.003 * np.abs(theirs).max()


def test_a_contact_sees_a_source_by_the_square_of_the_distance_from_three_millimetres_on():
    gain = contact_gain(np.zeros((1, 3)), np.array([[0, 0, 0], [0.003, 0, 0], [0, 0.027, 0]]))
    assert gain[0] == pytest.approx([1, 1 / 4, 1 / 100])
