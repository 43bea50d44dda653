"""Which rows of a montage a mark of single channels belongs to, and which channels the rows of a montage stand for.

A mark made on rows keeps the electrodes of those rows, so that it can be shown in every montage: both of a bipolar
row, and the first one of a row whose reference is an average.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.montage import Derivation, Montage


def electrodes(row: Derivation) -> tuple[str, ...]:
    """The channels that a row stands for."""
    return (row.anode, *row.cathode) if len(row.cathode) == 1 else (row.anode,)


def channels_of(montage: Montage, rows: Iterable[int]) -> tuple[str, ...]:
    """The channels that rows stand for, each once, in the order of the rows."""
    return tuple(dict.fromkeys(name for i in rows for name in electrodes(montage.derivations[i])))


class MarkRows:
    """The rows of marks in one montage; each set of channels is looked up once."""

    def __init__(self, montage: Montage) -> None:
        self.montage = montage
        self._named = {row.name: i for i, row in enumerate(montage.derivations)}
        self._electrodes = [electrodes(row) for row in montage.derivations]
        self._found: dict[tuple[str, ...], tuple[int, ...]] = {}

    def of(self, ch_names: tuple[str, ...]) -> tuple[int, ...]:
        """Rows of which all electrodes are named, and for a channel that is in none of these, all rows that touch it.

        So a mark of F7-T7 stands on that row alone where there is one, and on all rows of F7 and of T7 elsewhere.
        Empty where the montage shows none of the channels.
        """
        rows = self._found.get(ch_names)
        if rows is None:
            rows = self._found[ch_names] = self._find(set(ch_names))
        return rows

    def _find(self, wanted: set[str]) -> tuple[int, ...]:
        rows = {i for name, i in self._named.items() if name in wanted}
        rows |= {i for i, names in enumerate(self._electrodes) if wanted.issuperset(names)}
        missing = wanted.difference(*(self._electrodes[i] for i in rows)) - self._named.keys()
        rows |= {i for i, names in enumerate(self._electrodes) if not missing.isdisjoint(names)}
        return tuple(sorted(rows))
