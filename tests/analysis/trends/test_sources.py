"""Which rows the trends come from: like with like on both sides, shafts by side, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.channel_quality import CLIPPED, FLAT, ChannelQuality
from analysis.channels import RawChannel, build_channels
from analysis.errors import AnalysisError
from analysis.trends.sources import ALL, BIPOLAR, LEFT, REFERENTIAL, RIGHT, SHAFTS, choose_sources, mirror

TEN_TWENTY = "Fp1 F3 C3 P3 O1 F7 T3 T5 Fz Cz Pz Fp2 F4 C4 P4 O2 F8 T4 T6 A1 A2".split()


@pytest.fixture
def sources(make_recording):
    def choose(labels, faults=None, bad=(), **more):
        channels = build_channels([RawChannel(label, "uV", 100.0, **more) for label in labels])
        recording = make_recording(np.zeros((len(labels), 200)), 100.0, channels)
        quality = {name: ChannelQuality(state) for name, state in (faults or {}).items()}
        return choose_sources(recording, quality, bad)

    return choose


def groups(found) -> dict[str, tuple[str, ...]]:
    return dict(zip((g.name for g in found.groups), found.names, strict=True))


def test_scalp_is_taken_as_bipolar_chains_of_both_sides(sources):
    found = sources(TEN_TWENTY)
    assert found.kind == BIPOLAR
    assert groups(found) == {
        LEFT: ("Fp1-F7", "F7-T3", "T3-T5", "T5-O1", "Fp1-F3", "F3-C3", "C3-P3", "P3-O1"),
        RIGHT: ("Fp2-F8", "F8-T4", "T4-T6", "T6-O2", "Fp2-F4", "F4-C4", "C4-P4", "P4-O2"),
    }
    assert found.left_out == ()
    assert (found.groups[0].rows[0].anode, found.groups[0].rows[0].cathode) == (0, 5)


def test_a_faulty_electrode_takes_its_derivations_and_their_mirror_images_out(sources):
    found = sources(TEN_TWENTY, faults={"F3": FLAT}, bad=("T6",))
    assert groups(found) == {
        LEFT: ("Fp1-F7", "F7-T3", "C3-P3", "P3-O1"),
        RIGHT: ("Fp2-F8", "F8-T4", "C4-P4", "P4-O2"),
    }
    assert found.left_out == (("F3", "flat"), ("T6", "marked bad"))


def test_recorded_bipolar_channels_are_used_as_they_are(sources):
    chb = "FP1-F7 F7-T7 T7-P7 P7-O1 FP1-F3 F3-C3 C3-P3 P3-O1 FP2-F4 F4-C4 C4-P4 P4-O2 FP2-F8 F8-T8 T8-P8 P8-O2 FZ-CZ"
    found = sources(chb.split())
    assert found.kind == BIPOLAR
    assert [len(names) for names in found.names] == [8, 8]
    assert all(row.cathode == -1 for group in found.groups for row in group.rows)


def test_few_electrodes_are_compared_with_their_mirror_images(sources):
    found = sources(["C3", "C4", "Cz", "O1", "A1", "A2"])
    assert found.kind == REFERENTIAL
    assert groups(found) == {LEFT: ("C3",), RIGHT: ("C4",)}


def test_a_net_without_site_names_is_split_by_positions_or_not_at_all(sources):
    labels = [f"E{i}" for i in range(1, 25)]
    assert [g.name for g in sources(labels).groups] == [ALL]
    found = sources(labels, position=(-0.05, 0.0, 0.05))
    assert [g.name for g in found.groups] == [LEFT]


def test_shafts_are_taken_along_their_contacts_and_never_over_a_missing_one(sources):
    labels = [f"{s}{i}" for s in ("LA", "RB") for i in (1, 2, 3, 4, 5)]
    found = sources(labels, faults={"LA3": CLIPPED})
    assert found.kind == SHAFTS
    assert groups(found) == {LEFT: ("LA1-LA2", "LA4-LA5"), RIGHT: ("RB1-RB2", "RB2-RB3", "RB3-RB4", "RB4-RB5")}
    assert found.left_out == (("LA3", "clipped"),)


@pytest.mark.parametrize(
    ("shafts", "names"),
    [(("A'", "B"), [LEFT, RIGHT]), (("GA", "HC"), [ALL]), (("LA", "LB"), [LEFT]), (("LA", "MB"), [ALL])],
)
def test_the_side_of_a_shaft_is_told_by_prime_or_letter_or_not_at_all(sources, shafts, names):
    found = sources([f"{s}{i}" for s in shafts for i in range(1, 7)])
    assert [g.name for g in found.groups] == names


def test_without_a_channel_of_the_brain_it_says_so(sources):
    with pytest.raises(AnalysisError, match="no channel of brain signal"):
        sources(["C3", "C4"], faults={"C3": FLAT, "C4": FLAT})


@pytest.mark.parametrize(("site", "other"), [("F7", "F8"), ("F8", "F7"), ("TP10", "TP9"), ("Cz", "Cz")])
def test_mirror(site, other):
    assert mirror(site) == other
