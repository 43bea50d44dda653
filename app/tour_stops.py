"""The stops of the guided tour: where each points, what it says, and the model and kind of analysis that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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

    def text(self, is_simulated: bool) -> str:
        """Both sentences."""
        return f"{self.first} {self.simulated if is_simulated and self.simulated else self.second}"


STOPS: tuple[Stop, ...] = (
    Stop(
        "Seizure probability",
        "Violet is how sure the chosen model is of a seizure, and the amber line is your threshold.",
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
