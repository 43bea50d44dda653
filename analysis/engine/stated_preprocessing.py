"""How the signal of AXON and PRiSE-EEG is made, from what a checkpoint says it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.errors import AnalysisError
from analysis.preprocessing import Preprocessing

_REFERENCES = {"as recorded": "none", "none": "none", "average": "average", "median": "median"}


def stated_preprocessing(stated: Mapping[str, Any], method: str = "butterworth") -> Preprocessing:
    """Rate, band, notches and reference that a checkpoint states; AnalysisError names what this program cannot do."""
    reference = str(stated.get("reference", "as recorded"))
    if reference not in _REFERENCES:
        raise AnalysisError(
            f"the checkpoint asks for the reference {reference!r}, which is not known here: "
            f"use one that was trained with {' or '.join(_REFERENCES)}"
        )
    return Preprocessing(
        float(stated["sampling_rate"]),
        stated.get("highpass"),
        stated.get("lowpass"),
        int(stated.get("order", 4)),
        _REFERENCES[reference],
        "polyphase",
        tuple(stated.get("notch") or ()),
        method,
    )
