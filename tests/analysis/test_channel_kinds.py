"""Which channels a reader scales and filters together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.channel_kinds import KIND_TITLES, KINDS, kind_of
from analysis.recording import Channel

PLAIN = Channel("A", "A", "eeg", "uV", 100.0)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "eeg"),
        ({"type": "ecog"}, "ieeg"),
        ({"type": "seeg"}, "ieeg"),
        ({"type": "ecg"}, "ecg"),
        ({"type": "eog"}, "eog"),
        ({"type": "emg"}, "emg"),
        ({"type": "resp"}, "resp"),
        ({"type": "resp", "unit": "cmH2O"}, "resp"),
        ({"type": "misc"}, "other"),
        ({"type": "misc", "unit": "%"}, "fixed"),
        ({"type": "stim"}, "fixed"),
        ({"unit": "counts"}, "fixed"),
        ({"calibrated": False}, "fixed"),
    ],
)
def test_kind_of_a_channel(changes: dict[str, object], kind: str) -> None:
    assert kind_of(replace(PLAIN, **changes)) == kind
    assert kind == "fixed" or kind in KINDS


def test_every_kind_has_a_title() -> None:
    assert set(KIND_TITLES) == set(KINDS)
