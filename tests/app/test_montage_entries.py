"""The list of montages: titles, keys, lines, and reasons."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.montage import INTRACRANIAL_MONTAGES, MONTAGES, SCALP_MONTAGES
from analysis.recording import Channel
from app.montage_entries import TITLES, MontageEntry, entries_for, title_of


@pytest.fixture
def scalp(array_recording):
    return array_recording([Channel(n, n, "eeg", "uV", 10.0, site=n) for n in ("Cz", "Pz")], np.zeros((2, 10)), 10.0)


@pytest.fixture
def implant(array_recording):
    channels = [Channel(f"A{i}", f"A{i}", "seeg", "uV", 10.0) for i in (1, 2)]
    return array_recording(channels, np.zeros((2, 10)), 10.0)


def test_every_montage_has_a_title_and_titles_differ_where_the_toolbar_cuts_them():
    assert set(TITLES) == {*MONTAGES, "reference"}
    shorts = [MontageEntry(name, title).short for name, title in TITLES.items()]
    assert len(set(shorts)) == len(shorts)


def test_the_first_nine_have_keys_and_ones_own_come_last(scalp):
    entries = entries_for(scalp, ("mine", "yours"), None, lambda name: "because" if name == "Laplacian" else "")
    assert [e.name for e in entries] == [*SCALP_MONTAGES, "mine", "yours"]
    assert [e.key for e in entries] == [*"123456789", *[""] * (len(entries) - 9)]
    assert {e.name: e.refusal for e in entries if e.refusal} == {"Laplacian": "because"}
    assert [e.name for e in entries if e.starts_group] == ["LB-18.2", "linked ears", "TUH TCP", "mine"]
    assert entries[3].text == "Transverse TB-18.1\t4"
    assert entries[-1].text == "yours"


def test_intracranial_recordings_have_the_keys_of_their_own_and_ones_montages_follow(implant):
    entries = entries_for(implant, ("mine",), None, lambda _name: "")
    assert [(e.name, e.key) for e in entries] == [
        *zip(INTRACRANIAL_MONTAGES, "12345", strict=True),
        ("mine", "6"),
    ]


def test_a_chosen_reference_takes_the_place_of_the_choice(implant):
    entries = entries_for(implant, (), "A2", lambda _name: "")
    assert (entries[4].name, entries[4].title, entries[4].key) == ("reference A2", "Reference A2", "5")
    assert title_of("reference A2", "A2") == "Reference A2"


def test_where_nothing_can_be_a_reference_the_choice_is_refused(array_recording):
    pair = Channel("F3-C3", "F3-C3", "eeg", "uV", 10.0, pair=("F3", "C3"))
    entries = entries_for(array_recording([pair], np.zeros((1, 10)), 10.0), (), None, lambda _name: "")
    (choice,) = (e for e in entries if e.name == "reference")
    assert "recorded bipolar (F3-C3, …)" in choice.refusal
