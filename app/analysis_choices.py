"""What the reader has chosen of analyses: which kind, over what, kept up with the page or not, and with which options.

Each kind keeps its own choices, so that an overlay of one is renewed while the panel shows another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis.kinds import KINDS, Kind, find_kind

PAGE, SELECTION, RECORDING = "page", "selection", "recording"
_QUICK = frozenset({"gates", "cka", "streams", "memory"})  # the usual ones to keep up with the page
_WHOLE = frozenset({"stages"})  # that need the units before and after


@dataclass
class _OfKind:
    span: str
    follows: bool
    partner: str = ""  # checkpoint of the second model
    options: dict[str, Any] = field(default_factory=dict)  # what the reader has set


class AnalysisChoices:
    """The choices of every kind there is, worked out from its table."""

    def __init__(self) -> None:
        self._of: dict[str, _OfKind] = {}

    def _get(self, kind: str) -> _OfKind:
        if kind not in self._of:
            self._of[kind] = _OfKind(_usual_span(find_kind(kind)), kind in _QUICK)
        return self._of[kind]

    def span(self, kind: str) -> str:
        """What is looked at: the page, the selection or the whole recording."""
        return self._get(kind).span

    def set_span(self, kind: str, span: str) -> None:
        """Look at another span."""
        self._get(kind).span = span

    def follows(self, kind: str) -> bool:
        """Whether a kind is done again for every page."""
        return self._get(kind).follows and self._get(kind).span == PAGE

    def set_follows(self, kind: str, follows: bool) -> None:
        """Keep a kind up with the page, or not."""
        self._get(kind).follows = follows

    def partner(self, kind: str) -> str:
        """Checkpoint of the model that is compared with; empty for none."""
        return self._get(kind).partner if KINDS[kind].models[1] > 1 else ""

    def set_partner(self, kind: str, checkpoint: str) -> None:
        """Compare with another model, or none."""
        self._get(kind).partner = checkpoint

    def set_option(self, kind: str, name: str, value: Any) -> None:
        """Set an option."""
        self._get(kind).options[name] = value

    def carry_over(self, kind: str, other: str) -> None:
        """Choose for another kind what is chosen of this one: the span, and the options that both have."""
        self.set_span(other, self.span(kind))
        shared = {option.name for option in find_kind(other).options}
        for name, value in self.options(kind).items():
            if name in shared:
                self.set_option(other, name, value)

    def options(self, kind: str) -> dict[str, Any]:
        """All options of a kind with their values; AnalysisError says which cannot be."""
        return find_kind(kind).parse_options({**self._usual(kind), **self._get(kind).options})

    def _usual(self, kind: str) -> dict[str, Any]:
        """What suits the span better than the defaults: a page has few windows, but many tokens."""
        by_name = {option.name: option for option in find_kind(kind).options}
        few = self.span(kind) != RECORDING and not self.partner(kind)
        return {"rows": "tokens"} if few and "rows" in by_name and "tokens" in by_name["rows"].choices else {}


def _usual_span(kind: Kind) -> str:
    """The page, but for what makes no sense of one window."""
    needs_many = any(option.name == "windows" and (option.least or 0) > 1 for option in kind.options)
    return RECORDING if needs_many or kind.name in _WHOLE else PAGE
