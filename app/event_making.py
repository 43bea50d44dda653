"""How events are made of what a model says: by its own threshold and rule, or by those the reader chose for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from analysis.postprocessing import AUTO, RULES, Rule, choose_rule, rule_of, stated_rule
from analysis.results import SeizurePrediction
from app.settings import Settings

USUAL_THRESHOLD = 0.5
_MOST_MODELS = 50

Kept = dict[str, float | str]


@dataclass(frozen=True)
class EventMaking:
    """A threshold and a rule; `rule` None is the one that suits the length of the recording."""

    threshold: float = USUAL_THRESHOLD
    rule: Rule | None = None

    @property
    def is_stated(self) -> bool:
        """Whether it is anything but what is usual for models that state nothing."""
        return self != USUAL

    def rule_for(self, duration: float) -> Rule:
        """The rule for a recording of so many seconds."""
        return self.rule or choose_rule(AUTO, duration)


USUAL = EventMaking()


def making_of_card(card: Mapping[str, Any]) -> EventMaking:
    """What the card of a checkpoint states, as `predict` uses it."""
    return EventMaking(float(card.get("threshold", USUAL_THRESHOLD)), stated_rule(card))


def making_of(prediction: SeizurePrediction, usual: EventMaking, duration: float) -> EventMaking:
    """What made the events of a prediction that comes from the engine or from files; what it does not tell is usual."""
    told = prediction.provenance
    rule = rule_of(told["rule"]) if "rule" in told else usual.rule
    if usual.rule is None and rule == choose_rule(AUTO, duration):
        rule = None
    return EventMaking(float(told.get("threshold", usual.threshold)), rule)


class ReadersMakings:
    """What the reader chose in place of a model's own, by model; those chosen last are remembered."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def get(self, model: str, own: EventMaking) -> EventMaking:
        """What events of a model are made by."""
        kept = self._settings.model_events.get(model, {})
        threshold = kept.get("threshold")
        is_one = isinstance(threshold, int | float) and 0.0 <= threshold <= 1.0
        return EventMaking(float(threshold) if is_one else own.threshold, _rule(kept) or own.rule)

    def keep(self, model: str, making: EventMaking, own: EventMaking) -> None:
        """Remember what differs from the model's own."""
        kept: Kept = {} if making.threshold == own.threshold else {"threshold": making.threshold}
        if making.rule is not None and making.rule != own.rule:
            kept |= {"rule": making.rule.name, **asdict(making.rule)}
        others = {name: value for name, value in self._settings.model_events.items() if name != model}
        table = {**others, model: kept} if kept else others
        self._settings.model_events = dict(list(table.items())[-_MOST_MODELS:])


def _rule(kept: Mapping[str, float | str]) -> Rule | None:
    """The rule that the settings keep; None where they keep none that there is."""
    kind = RULES.get(str(kept.get("rule", "")))
    if kind is None:
        return None
    known = [field.name for field in fields(kind)]
    return kind(**{name: kept[name] for name in known if isinstance(kept.get(name), int | float)})  # type: ignore[arg-type]
