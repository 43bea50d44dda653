"""Scalp topographies: which electrodes take part, where they lie on the head, and the spline between them.

Spherical splines after Perrin et al. 1989 (Electroencephalogr. Clin. Neurophysiol. 72:184, equations 1 to 3, order
m = 4), as one matrix per set of electrodes, so that a map costs one product.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from analysis.electrodes import EARS, position_of, template_positions
from analysis.errors import AnalysisError
from analysis.recording import Channel, Recording

MIN_ELECTRODES = 8
ORDER = 4
TERMS = 50
_ROWS = 128
# Added to the diagonal of g, whose own value there is 0.015. Real pages of 20 to 64 electrodes come back to 1 to 4 % of
# their range (rms); with the usual 1e-5 it is 15 %, and what one electrode alone says is lost.
REGULARISATION = 1e-7
GRID = 64
STANDARD, OWN, MIXED = (
    "standard positions",
    "positions of the file",
    "positions of the file, standard where it has none",
)
_NOWHERE = "no position"
_SAME_PLACE_DEGREES = 1.0
_HEADS = (0.06, 0.14)  # metres; a fitted sphere outside is no head
_MOST_TILT = math.radians(20)
# The outline of the head lies this far from the vertex, or a little beyond the lowest electrode.
_LEAST_EDGE, _MARGIN = math.radians(100), math.radians(6)
# A field is drawn up to one and a half times the usual distance of neighbours away from an electrode, then fades.
_REACH = 1.5
_LEAST_REACH, _MOST_REACH, _FADE = math.radians(20), math.radians(40), math.radians(15)


@dataclass(frozen=True)
class ScalpLayout:
    """The electrodes of a map and where they lie.

    `directions` (n, 3) are unit vectors from the middle of the head (x right, y front, z to the vertex); `left_out`
    names the electrodes that do not take part, each with the reason; `source` says whose positions these are. `edge`
    is the angle from the vertex at which the outline of the head is drawn, in radians.
    """

    ch_names: tuple[str, ...]
    directions: np.ndarray
    source: str
    left_out: tuple[tuple[str, str], ...] = ()
    edge: float = _LEAST_EDGE

    @property
    def points(self) -> np.ndarray:
        """Places on the drawing (n, 2): x to the right, y to the nose, the outline at distance 1."""
        return flatten(self.directions, self.edge)


@dataclass(frozen=True)
class HeadMap:
    """What turns the values of a layout's electrodes into a picture of `size` x `size` points, front row first.

    `matrix` is float32 (size * size, n); `cover` float32 (size, size) is 1 near electrodes and falls to 0 where the
    nearest is so far away (35 to 55 degrees, after how dense they are) that a spline would only guess.
    """

    layout: ScalpLayout
    size: int
    matrix: np.ndarray = field(repr=False)
    cover: np.ndarray = field(repr=False)

    def interpolate(self, values: np.ndarray) -> np.ndarray:
        """Field of the values (n,) of the electrodes, float32 (size, size)."""
        return np.asarray(self.matrix @ values.astype(np.float32)).reshape(self.size, self.size)

    def interpolate_amounts(self, values: np.ndarray) -> np.ndarray:
        """Field of amounts (n,) such as power, float32 (size, size), nowhere beyond the electrodes' own range.

        A spline swings: beside an electrode of great power it finds more than anywhere was measured, and further off
        less than nothing. Here each point is a mean of the electrodes, weighted by the positive weights of the spline
        alone, so that the greatest amount lies at the electrode where it was measured.
        """
        return np.asarray(self._shares @ values.astype(np.float32)).reshape(self.size, self.size)

    @cached_property
    def _shares(self) -> np.ndarray:
        """The positive part of `matrix`, each row with the sum 1."""
        positive = np.maximum(self.matrix, 0)
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def scalp_layout(recording: Recording, left_out: Mapping[str, str] | None = None) -> ScalpLayout:
    """Electrodes of a recording that a map can be made of; AnalysisError says why it has none.

    `left_out` names channels that are not to take part, each with the reason. Ears, bipolar channels and electrodes
    without a position never do.
    """
    brain = [channel for channel in recording.channels if channel.is_brain]
    candidates = [c for c in brain if c.type == "eeg" and c.pair is None and c.site not in EARS]
    _refuse_without_scalp(brain, candidates)
    usable: list[Channel] = []
    missing: list[tuple[str, str]] = []
    for channel in candidates:
        reason = (left_out or {}).get(channel.name, "" if channel.position is not None else _NOWHERE)
        if reason:
            missing.append((channel.name, reason))
        else:
            usable.append(channel)
    return _layout(usable, missing)


def site_layout(sites: Mapping[str, str | None]) -> ScalpLayout:
    """The layout of channels, by name, at sites such as Fp1, all at standard positions; AnalysisError for too few."""
    usable: list[Channel] = []
    missing: list[tuple[str, str]] = []
    for name, site in sites.items():
        position = position_of(site) if site and site not in EARS else None
        if position is None:
            missing.append((name, _NOWHERE))
        else:
            usable.append(Channel(name, name, "eeg", "uV", 1.0, site=site, position=position))
    return _layout(usable, missing)


def _layout(usable: Sequence[Channel], missing: list[tuple[str, str]]) -> ScalpLayout:
    positions = np.array([c.position for c in usable], float).reshape(-1, 3)
    source = source_of_positions(usable)
    directions = _upright(usable, positions - _middle(positions, source), source)
    kept = _first_at_each_place(directions)
    missing += [(c.name, "same place as another") for i, c in enumerate(usable) if i not in set(kept)]
    if len(kept) < MIN_ELECTRODES:
        raise AnalysisError(_too_few(len(kept), missing))
    directions = directions[kept]
    lowest = float(np.arccos(np.clip(directions[:, 2], -1, 1)).max())
    edge = max(_LEAST_EDGE, lowest + _MARGIN)
    return ScalpLayout(tuple(usable[i].name for i in kept), directions, source, tuple(missing), edge)


def build_head_map(layout: ScalpLayout, size: int = GRID) -> HeadMap:
    """The interpolation of a layout on a grid over the square that holds the head; takes some 10 to 100 ms."""
    points = grid_points(size)
    grid = unflatten(points, layout.edge)
    # Outside the outermost electrodes the field of the border goes on: a spline swings there.
    matrix = spline_matrix(layout.directions, unflatten(pulled_inside(points, layout.points), layout.edge))
    nearest = np.arccos(np.clip((grid @ layout.directions.T).max(axis=1), -1, 1))
    share = np.clip((_reach(layout.directions) + _FADE - nearest) / _FADE, 0, 1)
    cover = (share * share * (3 - 2 * share)).astype(np.float32).reshape(size, size)
    return HeadMap(layout, size, matrix.astype(np.float32), cover)


def spline_matrix(sources: np.ndarray, targets: np.ndarray, regularisation: float = REGULARISATION) -> np.ndarray:
    """Weights (targets, sources) that give the spline's values at `targets` (m, 3) from those at `sources` (n, 3).

    Both are unit vectors. Perrin's system for the coefficients c and the constant c0 is G c + c0 = v, sum(c) = 0. The
    weights of a target add up to exactly 1, so that a constant stays what it is.
    """
    n = len(sources)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = _g(sources @ sources.T) + regularisation * np.eye(n)
    system[n, n] = 0.0
    solution = np.linalg.solve(system, np.eye(n + 1)[:, :n])
    weights = _g(targets @ sources.T) @ solution[:n] + solution[n]
    weights += (1.0 - weights.sum(axis=1, keepdims=True)) / n
    return np.asarray(weights)


def grid_points(size: int) -> np.ndarray:
    """Middles of the points of a picture (size * size, 2) over the square from -1 to 1, front row first."""
    steps = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(steps, -steps)
    return np.stack([x.ravel(), y.ravel()], axis=1)


def flatten(directions: np.ndarray, edge: float) -> np.ndarray:
    """Directions (n, 3) on the drawing (n, 2): distance goes with the angle from the vertex, 1 at `edge` radians."""
    angle = np.arccos(np.clip(directions[:, 2], -1, 1))
    across = np.hypot(directions[:, 0], directions[:, 1])
    scale = np.divide(angle / edge, across, out=np.zeros_like(angle), where=across > 1e-12)
    return np.asarray(directions[:, :2] * scale[:, None])


def unflatten(points: np.ndarray, edge: float) -> np.ndarray:
    """Directions (n, 3) of places on the drawing (n, 2), the reverse of `flatten`."""
    distance = np.hypot(points[:, 0], points[:, 1])
    angle = np.minimum(distance * edge, math.pi)
    scale = np.divide(np.sin(angle), distance, out=np.zeros_like(angle), where=distance > 1e-12)
    return np.column_stack([points * scale[:, None], np.cos(angle)])


def pulled_inside(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Points (n, 2), those outside the convex hull of `corners` (m, 2) moved towards (0, 0) until they lie on it.

    Nothing is moved where the hull does not hold (0, 0).
    """
    hull = _hull(corners)
    ahead = np.roll(hull, -1, axis=0) - hull
    outwards = np.column_stack([ahead[:, 1], -ahead[:, 0]])
    distance = (outwards * hull).sum(axis=1)
    if len(hull) < 3 or (distance <= 0).any():
        return points
    beyond = (points @ outwards.T / distance).max(axis=1)
    return points / np.maximum(beyond, 1.0)[:, None]


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull (k, 2) of points (n, 2), counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))
    chains = []
    for run in (ordered, ordered[::-1]):
        chain: list[tuple[float, ...]] = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1]).reshape(-1, 2)


def _turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    """Positive where the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def average_referenced(values: np.ndarray) -> np.ndarray:
    """Values (..., n) minus their mean over the electrodes of the map."""
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def _reach(directions: np.ndarray) -> float:
    """How far from an electrode, in radians, its neighbourhood goes."""
    cosines = directions @ directions.T - 2 * np.eye(len(directions))
    spacing = float(np.median(np.arccos(np.clip(cosines.max(axis=1), -1, 1))))
    return min(max(_REACH * spacing, _LEAST_REACH), _MOST_REACH)


def _g(cosines: np.ndarray) -> np.ndarray:
    """Perrin's g of the cosine between two directions (equation 3)."""
    total = np.empty_like(cosines)
    # A few rows at a time, so that the fifty passes over them stay in the processor's cache.
    for begin in range(0, len(cosines), _ROWS):
        x = np.clip(cosines[begin : begin + _ROWS], -1, 1)
        part, before, legendre, spare = np.zeros_like(x), np.ones_like(x), x.copy(), np.empty_like(x)
        for n in range(1, TERMS + 1):
            part += np.multiply(legendre, (2 * n + 1) / (n * (n + 1.0)) ** ORDER, out=spare)
            # Bonnet's recurrence: (n + 1) P[n + 1] = (2 n + 1) x P[n] - n P[n - 1]
            np.multiply(x, legendre, out=spare)
            spare *= (2 * n + 1) / (n + 1)
            before *= -n / (n + 1)
            before += spare
            before, legendre = legendre, before
        total[begin : begin + _ROWS] = part
    return np.asarray(total / (4 * np.pi))


def _refuse_without_scalp(brain: Sequence[Channel], candidates: Sequence[Channel]) -> None:
    if candidates:
        return
    bipolar = [c.name for c in brain if c.type == "eeg" and c.pair is not None]
    if bipolar:
        raise AnalysisError(
            f"a topography cannot be made: the channels were recorded bipolar ({bipolar[0]}, …), "
            "so the potential at a single electrode is not known"
        )
    if brain:
        raise AnalysisError("a scalp topography needs scalp electrodes: those of this recording are intracranial")
    raise AnalysisError("a scalp topography needs EEG: this recording has none")


def _too_few(count: int, left_out: Sequence[tuple[str, str]]) -> str:
    nowhere = sum(reason == _NOWHERE for _, reason in left_out)
    why = f"; of {nowhere} the place on the head is not known" if nowhere else ""
    return f"a topography needs at least {MIN_ELECTRODES} electrodes with a position: there are {count}{why}"


def source_of_positions(channels: Sequence[Channel]) -> str:
    """Whose the positions of some channels are: STANDARD, OWN (the file's), or MIXED."""
    standard = [c.site is not None and c.position == position_of(c.site) for c in channels]
    return STANDARD if all(standard) else MIXED if any(standard) else OWN


def _middle(positions: np.ndarray, source: str) -> np.ndarray:
    """Middle of the head (3,): that of the sphere through the electrodes where there is a sound one."""
    template = np.array(list(template_positions().values()))
    if source != STANDARD and len(positions) >= MIN_ELECTRODES:
        middle, radius = _sphere(positions)
        off = np.abs(np.linalg.norm(positions - middle, axis=1) - radius)
        if _HEADS[0] <= radius <= _HEADS[1] and off.max() < 0.25 * radius:
            return middle
    return _sphere(template)[0]


def _sphere(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Middle (3,) and radius of the sphere that fits points (n, 3) best in the algebraic sense."""
    system = np.column_stack([2 * points, np.ones(len(points))])
    solution = np.linalg.lstsq(system, (points**2).sum(axis=1), rcond=None)[0]
    return solution[:3], math.sqrt(max(0.0, solution[3] + solution[:3] @ solution[:3]))


def _upright(channels: Sequence[Channel], vectors: np.ndarray, source: str) -> np.ndarray:
    """Unit vectors (n, 3), nodded so that the vertex (Cz) is on top: head coordinates are tied to nose and ears."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    top = next((unit for c, unit in zip(channels, units, strict=True) if c.site == "Cz"), None)
    if top is None and source == STANDARD:
        template = template_positions()
        top = np.array(template["Cz"]) - _sphere(np.array(list(template.values())))[0]
    tilt = math.atan2(top[1], top[2]) if top is not None else 0.0
    if abs(tilt) > _MOST_TILT:
        return units
    cosine, sine = math.cos(tilt), math.sin(tilt)
    turn = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
    return np.asarray(units @ turn.T)


def _first_at_each_place(directions: np.ndarray) -> list[int]:
    """Numbers of the electrodes that do not repeat the place of one before."""
    near = directions @ directions.T > math.cos(math.radians(_SAME_PLACE_DEGREES))
    return [i for i in range(len(directions)) if not near[i, :i].any()]
