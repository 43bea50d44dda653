"""The source derivation (Hjorth): each electrode minus the mean of those around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.errors import AnalysisError
from analysis.montages.chains import mirrored_site
from analysis.montages.derivation import Derivation, Montage
from analysis.montages.lists import NEIGHBOURS
from analysis.montages.placing import is_dense, scalp_blocks
from analysis.montages.sources import Sources, listed, refuse_if_bipolar, side_of
from analysis.recording import SCALP_TYPES, Channel

LAPLACIAN = "Laplacian"
MIN_NEIGHBOURS = 2
_NEAREST = 4
# A neighbour lies at most this many times as far as the second nearest, so that an edge does not reach across the head;
# what lies as far as the last one taken is taken too, since a row must not lean to one side.
_FARTHEST, _AS_FAR = 1.6, 1.001
_LEAST_ROWS = 8
_MARK = "*"


def laplacian(sources: Sources, right_first: bool = False) -> Montage:
    """Electrodes minus their neighbours: by the sheet's table, or by position for caps of more than the 10-20 system.

    A row whose neighbours are not all there and good is marked with an asterisk; one with fewer than two is left out.
    """
    refuse_if_bipolar(sources, LAPLACIAN, SCALP_TYPES)
    wanted = _near_by_position(sources) if is_dense(sources) else _near_by_table(sources)
    maker = _Rows(sources, wanted)
    for block, channels in enumerate(scalp_blocks(sources, right_first)):
        for channel in channels:
            maker.add(channel, block)
    if len(maker.rows) < _LEAST_ROWS:
        raise AnalysisError(
            f"{LAPLACIAN} needs electrodes with at least {MIN_NEIGHBOURS} good neighbours each: "
            f"only {len(maker.rows)} of the {len(sources.referential(SCALP_TYPES))} scalp electrodes have them"
        )
    notes = [f"neighbours are the {_NEAREST} nearest electrodes by position"] if is_dense(sources) else []
    notes += maker.notes() + sources.reference_note(maker.rows)
    return Montage(LAPLACIAN, tuple(maker.rows) + sources.polygraphy(maker.rows[-1].block + 1), "; ".join(notes))


class _Rows:
    """Rows as they are made, and what must be said of them."""

    def __init__(self, sources: Sources, wanted: dict[str, list[str]]) -> None:
        """`wanted` gives by channel its neighbours: channel names, or electrodes that the recording does not have."""
        self._sources = sources
        self._wanted = wanted
        self._usable = frozenset(sources.good_names(sources.referential(SCALP_TYPES)))
        self.rows: list[Derivation] = []
        self._marked: list[str] = []
        self._too_few: list[str] = []
        self._unknown: list[str] = []

    def add(self, channel: Channel, block: int) -> None:
        """Make the row of an electrode, or remember why there is none."""
        wanted = self._wanted.get(channel.name)
        if wanted is None:
            self._unknown.append(channel.name)
            return
        near = tuple(name for name in wanted if name in self._usable)
        if len(near) < MIN_NEIGHBOURS:
            self._too_few.append(channel.name)
            return
        lost = [name for name in wanted if name not in near]
        if lost:
            self._marked.append(f"{channel.name} without {' '.join(lost)}")
        label = f"{channel.name}-lap{_MARK if lost else ''}"
        self.rows.append(Derivation(label, channel.name, near, side_of(channel), block))

    def notes(self) -> list[str]:
        """What a reader must know."""
        said = self._sources.notes_on(self._sources.referential(SCALP_TYPES))
        if self._marked:
            said.append(f"{_MARK} not all neighbours: {listed(self._marked)}")
        if self._too_few:
            said.append(f"not shown, fewer than {MIN_NEIGHBOURS} neighbours: {listed(self._too_few)}")
        if self._unknown:
            said.append(f"not shown, neighbours not known: {listed(self._unknown)}")
        return said


def _near_by_table(sources: Sources) -> dict[str, list[str]]:
    """Neighbours by channel name, in the file's spelling; an electrode that is missing keeps the table's."""
    near = {}
    for site, neighbours in NEIGHBOURS.items():
        channel = sources.site(site)
        if channel is not None:
            found = [(sources.site(word), word) for word in neighbours.split()]
            near[channel.name] = [c.name if c is not None else word for c, word in found]
    return near


def _near_by_position(sources: Sources) -> dict[str, list[str]]:
    """The nearest electrodes of each, in the order of their distance; electrodes without a position have none."""
    placed = [c for c in sources.referential(SCALP_TYPES) if c.position is not None]
    points = _symmetrical(placed)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = {}
    for i, channel in enumerate(placed):
        order = np.argsort(distance[i], kind="stable")
        reach = distance[i, order[:_NEAREST]]
        limit = min(_FARTHEST * reach[min(1, reach.size - 1)], _AS_FAR * reach[-1])
        near[channel.name] = [placed[j].name for j in order if distance[i, j] <= limit]
    return near


def _symmetrical(placed: Sequence[Channel]) -> np.ndarray:
    """Positions (channels, 3) in metres, each averaged with the mirror image of its partner on the other side.

    Templates and digitised heads are a little lopsided, and would give C3 other neighbours than C4.
    """
    points = np.array([channel.position for channel in placed], np.float64).reshape(-1, 3)
    by_site = {channel.site: i for i, channel in enumerate(placed) if channel.site}
    partners = [by_site.get(mirrored_site(c.site), i) if c.site else i for i, c in enumerate(placed)]
    flipped = points[partners] * [-1.0, 1.0, 1.0]
    alone = [i for i, c in enumerate(placed) if c.site is None or mirrored_site(c.site) not in by_site]
    flipped[alone] = points[alone]
    return np.asarray((points + flipped) / 2)
