"""Potentials of dipoles in a head of four concentric spheres, and the sphere that fits the template electrodes.

The series of Legendre polynomials of concentric shells (de Munck and Peters 1993, section II): in every shell the
potential of order n is A r^n + B r^-(n+1), and it and the current through each boundary are continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.electrodes import template_positions

# Outer radii as shares of the head's, and conductivities in siemens per metre: brain, liquor, skull, scalp.
RADII = (0.90, 0.92, 0.97, 1.0)
CONDUCTIVITIES = (0.33, 1.0, 0.004, 0.33)
SOURCE_DEPTH = 0.80  # of the head's radius
_ORDERS = 80  # 0.8^80 is 2e-8
_LOWEST = -0.45  # no brain below this share of the radius under the centre
_GRID = 600
_CONTACT_GAP = 0.003  # metres; keeps the potential beside a contact finite


@dataclass(frozen=True)
class Sphere:
    """Centre (3,) and radius of the head in metres, in the head frame."""

    centre: np.ndarray
    radius: float

    def directions(self, positions: np.ndarray) -> np.ndarray:
        """Unit vectors from the centre to positions (n, 3)."""
        away = positions - self.centre
        return away / np.linalg.norm(away, axis=1, keepdims=True)


@dataclass(frozen=True)
class SourceGrid:
    """Places of the sources (n, 3) in metres, and the direction outwards at each (n, 3)."""

    positions: np.ndarray
    outwards: np.ndarray


@cache
def head_sphere() -> Sphere:
    """The sphere nearest to the template positions above the ears, by least squares of |p|^2 = 2 p.c + k."""
    positions = np.array([place for place in template_positions().values() if place[2] > 0])
    design = np.column_stack([2 * positions, np.ones(len(positions))])
    solution = np.linalg.lstsq(design, (positions**2).sum(1), rcond=None)[0]
    centre = solution[:3]
    return Sphere(centre, float(np.sqrt(solution[3] + centre @ centre)))


@cache
def source_grid(depths: tuple[float, ...] = (SOURCE_DEPTH,)) -> SourceGrid:
    """Sources on Fibonacci spheres at shares of the head's radius, without those below the brain."""
    sphere = head_sphere()
    count = np.arange(_GRID) + 0.5
    height = 1 - 2 * count / _GRID
    angle = count * np.pi * (3 - np.sqrt(5.0))
    flat = np.sqrt(1 - height**2)
    directions = np.column_stack([flat * np.cos(angle), flat * np.sin(angle), height])
    kept = directions[height > _LOWEST]
    places = np.concatenate([sphere.centre + depth * sphere.radius * kept for depth in depths])
    return SourceGrid(places, np.tile(kept, (len(depths), 1)))


@cache
def shell_factors(
    radii: tuple[float, ...] = RADII, conductivities: tuple[float, ...] = CONDUCTIVITIES, orders: int = _ORDERS
) -> np.ndarray:
    """What the shells make of each order 1..n of the surface potential; (2n + 1) / n for a uniform sphere."""
    return np.array([_shell_factor(n, np.array(radii), np.array(conductivities)) for n in range(1, orders + 1)])


def _shell_factor(n: int, radii: np.ndarray, conductivities: np.ndarray) -> float:
    """Surface potential of order n where that of the source in an infinite brain would be 1, all radii in shares of 1.

    Goes inwards from the surface, where no current leaves: A = (n + 1) / n of B, whatever B is.
    """
    a, b = (n + 1) / n, 1.0
    surface = a + b
    for k in range(len(radii) - 2, -1, -1):
        r, ratio = radii[k], conductivities[k + 1] / conductivities[k]
        rising, falling = a * r**n, b * r ** -(n + 1)
        value = rising + falling
        slope = ratio * (n * rising - (n + 1) * falling)
        a = ((n + 1) * value + slope) / (2 * n + 1) * r**-n
        b = (n * value - slope) / (2 * n + 1) * r ** (n + 1)
    return float(surface / b)


def dipole_gain(
    electrodes: np.ndarray,
    sources: np.ndarray,
    sphere: Sphere,
    radii: tuple[float, ...] = RADII,
    conductivities: tuple[float, ...] = CONDUCTIVITIES,
) -> np.ndarray:
    """Potential against infinity at electrodes (c, 3), projected onto the sphere, of unit dipoles at sources (s, 3).

    Returns (c, s, 3) in microvolts per nanoampere-metre for moments along x, y and z. Sources must lie in the brain.
    """
    to_electrode = sphere.directions(electrodes)
    away = sources - sphere.centre
    distance = np.linalg.norm(away, axis=1)
    radial = away / np.maximum(distance, 1e-9)[:, None]
    cosine = np.clip(to_electrode @ radial.T, -1, 1)  # (c, s)
    along, across = _series(cosine, distance / sphere.radius, shell_factors(radii, conductivities))
    tangential = to_electrode[:, None, :] - cosine[..., None] * radial[None]
    scale = 1e-3 / (4 * np.pi * conductivities[0] * sphere.radius**2)  # nA m to A m, V to uV
    return scale * (along[..., None] * radial[None] + across[..., None] * tangential)


def _series(cosine: np.ndarray, depth: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the orders for a radial moment and for a tangential one, the latter per sine of the angle."""
    before, now = np.ones_like(cosine), cosine.copy()
    slope_before, slope_now = np.zeros_like(cosine), np.ones_like(cosine)
    along, across = np.zeros_like(cosine), np.zeros_like(cosine)
    power = np.ones_like(depth)
    for n, factor in enumerate(factors, 1):
        along += factor * power * n * now
        across += factor * power * slope_now
        power = power * depth
        slope_before, slope_now = slope_now, slope_before + (2 * n + 1) * now
        before, now = now, ((2 * n + 1) * cosine * now - n * before) / (n + 1)
    return along, across


def contact_gain(contacts: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Potential of each source (s, 3) at contacts in the brain (c, 3): (c, s), 1 where they meet.

    It falls with the square of the distance, as that of a dipole, from 3 mm on.
    """
    distance = np.linalg.norm(contacts[:, None] - sources[None], axis=2)
    return (_CONTACT_GAP / (distance + _CONTACT_GAP)) ** 2
