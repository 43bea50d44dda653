"""The stops of the guided tour: where each points, what it says, and the model and kind of analysis that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.results import SeizurePrediction
from analysis.simulation.truth import Truth

Place = Literal["probability", "panel", "row", "lane"]


@dataclass(frozen=True)
class Stop:
    """One stop: `family` empty takes whatever model is chosen, `kind` empty the seizure probability.

    `simulated` takes the place of the second sentence where the truth of the recording is known. `seizure` is the
    number of the one shown, `after` how many seconds after its onset the page begins.
    `brings` names the part of the panel that is scrolled into view.
    """

    title: str
    first: str
    second: str
    place: Place
    family: str = ""
    kind: str = ""
    simulated: str = ""
    seizure: int = 0
    after: float = 8.0
    brings: str = ""

    def start(self, onsets: Sequence[float]) -> float | None:
        """Where the page begins that shows the seizure; None where none is known of."""
        return onsets[min(self.seizure, len(onsets) - 1)] + self.after if onsets else None

    def text(self, is_simulated: bool) -> str:
        """Both sentences."""
        return f"{self.first} {self.simulated if is_simulated and self.simulated else self.second}"


STOPS: tuple[Stop, ...] = (
    Stop(
        "Seizure probability",
        "Violet is how sure the chosen model is of a seizure, and the amber line is the threshold.",
        "What rises above it becomes an event in the list at the left, which Y accepts and X rejects.",
        "probability",
        simulated="It should rise at the three simulated seizures; a rhythmic movement near the end may fool it.",
    ),
    Stop(
        "Channel map",
        "MVPFormer learns how much each channel has to do with each other one; the map shows this, and how much "
        "attention really flows between them.",
        "Click a name beside the traces, and arcs show where the attention of that channel goes.",
        "panel",
        "mvpformer",
        "channel-map",
    ),
    Stop(
        "Gates",
        "AXON weighs time against space in every channel and second, and the colours behind the traces show which of "
        "them wins.",
        "This list switches overlays on and off, the arrow beside each sets its strength and colours, and holding H "
        "hides them all.",
        "row",
        "axon",
        "gates",
    ),
    Stop(
        "Streams",
        "NeurDuo keeps a fast and a slow stream of memory; the lane shows how much each changes from second to second.",
        "Ticks mark what it writes into its memory bank.",
        "lane",
        "neurduo",
        "streams",
    ),
    Stop(
        "Experts",
        "PRiSE-EEG sends every piece of signal to a few of its experts, and the lane shows which of them carry it.",
        "The inspector tells for each layer how the load is shared, and which experts are for all.",
        "lane",
        "prise-eeg",
        "experts",
    ),
    Stop(
        "Attribution",
        "Integrated gradients tell which channels and moments speak for a seizure, and which against it.",
        "The inspector adds them up over the scalp, and says how far the sum can be trusted.",
        "panel",
        "axon",
        "integrated-gradients",
        simulated="The green diamond is the channel where this seizure really begins, which the model was never told.",
        seizure=1,
        after=4.0,
        brings="focus",
    ),
)


def found_words(prediction: SeizurePrediction, truth: Truth) -> str:
    """What a model found of the simulated seizures, and whether the rhythmic movement fools it."""
    spans = [(event.onset, event.stop) for event in prediction.events]
    seizures = [(one.onset, one.stop) for one in truth.events]
    movements = [(a.onset, a.onset + a.duration) for a in truth.artefacts if a.kind == "rhythmic-movement"]
    found = sum(_touches(one, spans) for one in seizures)
    fooled = any(_touches(one, spans) for one in movements)
    others = sum(not _touches(span, [*seizures, *movements]) for span in spans)
    told = f"{prediction.model_title} finds {found} of the {len(seizures)} simulated seizures here"
    if movements:
        told += ", and takes a rhythmic movement for one" if fooled else ", and no rhythmic movement fools it"
    if others:
        told += f"; {'one event is a false alarm' if others == 1 else f'{others} events are false alarms'}"
    return f"{told}."


def _touches(span: tuple[float, float], others: Sequence[tuple[float, float]]) -> bool:
    return any(start < span[1] and stop > span[0] for start, stop in others)
