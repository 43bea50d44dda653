"""Where a simulated recording is taken, what its sensors see of sources, and where its seizures may begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from analysis.electrodes import template_positions
from analysis.simulation.draws import Rng, stream
from analysis.simulation.head import SOURCE_DEPTH, contact_gain, dipole_gain, head_sphere, source_grid

ELECTRODES_19 = tuple("Fp1 Fp2 F7 F3 Fz F4 F8 T7 C3 Cz C4 T8 P7 P3 Pz P4 P8 O1 O2".split())
ELECTRODES_64 = tuple(
    "Fp1 Fpz Fp2 AF7 AF3 AFz AF4 AF8 F7 F5 F3 F1 Fz F2 F4 F6 F8 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8 T7 C5 C3 C1 Cz C2 "
    "C4 C6 T8 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 P9 P7 P5 P3 P1 Pz P2 P4 P6 P8 P10 PO7 PO3 POz PO4 PO8 O1 Oz O2 "
    "Iz".split()
)
EARS = ("A1", "A2")
SETS = ("10-20", "64", "ieeg")

# Region of a focus -> the electrode that is nearest to it.
REGIONS: Mapping[str, str] = {
    "anterior-temporal-left": "F7",
    "anterior-temporal-right": "F8",
    "mid-temporal-left": "T7",
    "mid-temporal-right": "T8",
    "posterior-temporal-left": "P7",
    "posterior-temporal-right": "P8",
    "frontal-left": "F3",
    "frontal-right": "F4",
    "frontopolar-left": "Fp1",
    "frontopolar-right": "Fp2",
    "central-left": "C3",
    "central-right": "C4",
    "parietal-left": "P3",
    "parietal-right": "P4",
    "occipital-left": "O1",
    "occipital-right": "O2",
    "midline-frontal": "Fz",
    "midline-central": "Cz",
    "midline-parietal": "Pz",
}
# Shaft -> its innermost contact, in shares of the head's radius from the centre (x to the left on shafts of that side).
_SHAFTS: Mapping[str, tuple[float, float, float]] = {
    "A": (0.22, 0.20, -0.22),  # amygdala
    "H": (0.24, -0.05, -0.20),  # hippocampus
    "F": (0.14, 0.48, 0.05),  # orbitofrontal
    "C": (0.10, 0.15, 0.42),  # cingulate
}
SHAFTS = tuple(side + name for side in "LR" for name in _SHAFTS)
_SPACING = 0.005  # metres between contacts
_DEPTHS_INSIDE = (0.25, 0.45, 0.62, SOURCE_DEPTH)


@dataclass(frozen=True)
class Sensors:
    """Channels with places (c, 3) in metres, and what each sees of each source of the grid.

    `names` are the channels that are recorded; `places` and the fields have those of the reference's ears after them.
    `gain` is (c, s, 3) for dipoles in a head, or (c, s) for sources beside contacts, against a screw in the skull.
    `regions` -> point of a focus.
    """

    kind: str
    names: tuple[str, ...]
    places: np.ndarray
    gain: np.ndarray
    sources: np.ndarray
    outwards: np.ndarray
    regions: Mapping[str, np.ndarray]
    squares: np.ndarray = field(repr=False)  # squared distances between sources (s, s)

    @property
    def inside(self) -> bool:
        """Whether the contacts lie in the brain."""
        return self.gain.ndim == 2

    def fields(self, weights: np.ndarray, orientation: np.ndarray) -> np.ndarray:
        """Potentials (c, s) of sources with weights (s,) along unit vectors (s, 3); contacts see polarities (s, 1)."""
        if self.inside:
            return self.gain * weights * orientation[:, 0]
        return np.einsum("csk,sk->cs", self.gain, orientation) * weights

    def jittered(self, rng: Rng, spread: float) -> np.ndarray:
        """Orientations around the radial one, unit vectors (s, 3); polarities by chance (s, 1) for contacts."""
        if self.inside:
            return rng.choice((-1.0, 1.0), (len(self.sources), 1))
        tilted = self.outwards + spread * rng.standard_normal(self.outwards.shape)
        return tilted / np.linalg.norm(tilted, axis=1, keepdims=True)

    def covariance(self, weights: np.ndarray, length: float, orientation: np.ndarray) -> np.ndarray:
        """Covariance (c, c) of sources alike over `length` metres; mean variance 1 (scalp: average reference)."""
        seen = self.fields(weights, orientation)
        covariance = seen @ np.exp(-self.squares / (2 * length**2)) @ seen.T
        n = len(self.names)
        own = covariance[:n, :n]
        variance = np.diag(own) if self.inside else np.diag(own) - 2 * own.mean(1) + own.mean()
        return covariance / variance.mean()

    def around(self, point: np.ndarray, width: float) -> np.ndarray:
        """Gaussian weights (s,) of sources around a point, `width` in metres."""
        return np.exp(-((self.sources - point) ** 2).sum(1) / (2 * width**2))

    def patch(self, point: np.ndarray, width: float, tilt: np.ndarray) -> np.ndarray:
        """Field (c,) of sources around a point, `width` in metres, that lean by the vector `tilt` (scalp only).

        It is 1 at its best channel in the average reference, of contacts 1 at the point itself: what lies far from
        them all they hardly see.
        """
        weights = self.around(point, width)
        if self.inside:
            return self.gain @ weights / (contact_gain(point[None], self.sources)[0] @ weights)
        leaning = self.outwards + tilt
        seen = self.fields(weights, leaning / np.linalg.norm(leaning, axis=1, keepdims=True)).sum(1)
        return self.scaled(seen)

    def scaled(self, field_: np.ndarray) -> np.ndarray:
        """A field (c,) with 1 at its best channel in the average reference."""
        against = self.centred(field_)
        return field_ / against[np.argmax(np.abs(against))]

    def centred(self, field_: np.ndarray) -> np.ndarray:
        """A field (c,) in the average reference of the recorded channels, without the ears."""
        own = field_[: len(self.names)]
        return own - own.mean()

    def best(self, field_: np.ndarray, count: int = 1) -> tuple[str, ...]:
        """The channels with the largest |field - its mean|."""
        order = np.argsort(-np.abs(self.centred(field_)), kind="stable")
        return tuple(self.names[i] for i in order[:count])

    def seen_by(self, field_: np.ndarray) -> tuple[str, ...]:
        """The channels that see at least half of a field's largest value."""
        size = np.abs(field_[: len(self.names)])
        return tuple(name for name, value in zip(self.names, size, strict=True) if value >= size.max() / 2)


def sensors_of(kind: str, seed: int) -> Sensors:
    """The sensors of a set; the shafts of `ieeg` differ from seed to seed."""
    return _inside(seed) if kind == "ieeg" else _on_scalp(kind)


@cache
def _on_scalp(kind: str) -> Sensors:
    names = ELECTRODES_64 if kind == "64" else ELECTRODES_19
    sphere, grid, template = head_sphere(), source_grid(), template_positions()
    places = np.array([template[name] for name in (*names, *EARS)])
    centres = np.array([template[name] for name in REGIONS.values()])
    points = sphere.centre + SOURCE_DEPTH * sphere.radius * sphere.directions(centres)
    gain = dipole_gain(places, grid.positions, sphere)
    regions = dict(zip(REGIONS, points, strict=True))
    return Sensors(kind, names, places, gain, grid.positions, grid.outwards, regions, _squares(grid.positions))


def _inside(seed: int) -> Sensors:
    rng = stream(seed, "shafts")
    sphere, grid = head_sphere(), source_grid(_DEPTHS_INSIDE)
    names: list[str] = []
    places: list[np.ndarray] = []
    regions: dict[str, np.ndarray] = {}
    for shaft in SHAFTS:
        side = np.array([-1.0 if shaft[0] == "L" else 1.0, 1, 1])
        start = sphere.centre + sphere.radius * side * (np.array(_SHAFTS[shaft[1:]]) + rng.normal(0, 0.02, 3))
        lean = np.array([1.0, *rng.normal(0, 0.15, 2)]) * side
        count = int(rng.integers(4, 9))
        along = start + np.arange(count)[:, None] * _SPACING * lean / np.linalg.norm(lean)
        names += [f"{shaft}{k + 1}" for k in range(count)]
        places += list(along)
        regions[shaft] = along[int(rng.integers(0, count))]
    contacts = np.array(places)
    screw = sphere.centre + sphere.radius * np.array([0.0, 0.3, 0.95])  # the reference, in the skull
    gain = contact_gain(contacts, grid.positions) - contact_gain(screw[None], grid.positions)
    squares = _inside_squares()
    return Sensors("ieeg", tuple(names), contacts, gain, grid.positions, grid.outwards, regions, squares)


@cache
def _inside_squares() -> np.ndarray:
    return _squares(source_grid(_DEPTHS_INSIDE).positions)


def _squares(points: np.ndarray) -> np.ndarray:
    return ((points[:, None] - points[None]) ** 2).sum(2)


def reference_matrix(sensors: Sensors, reference: str) -> np.ndarray:
    """What turns potentials (c with the ears) into the recorded channels (names,)."""
    n = len(sensors.names)
    matrix = np.eye(n, len(sensors.places))
    if reference == "ears":
        matrix[:, n:] = -0.5
    elif reference == "cz-pz":
        for name in ("Cz", "Pz"):
            matrix[:, sensors.names.index(name)] -= 0.5
    return matrix
