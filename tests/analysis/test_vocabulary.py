"""The vocabulary: terms from a file, found as one types, with names by edition and the reader's own types."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from analysis.annotation import Annotation
from analysis.seizure_marks import find_seizures
from analysis.vocabulary import (
    OWN_GROUP,
    SEIZURE,
    SEIZURE_OFFSET,
    SEIZURE_ONSET,
    Vocabulary,
    read_vocabulary,
    score_vocabulary,
)

# Section 8 of the clinical sheet: button and tag; HED 8.4.0 names the artefacts.
SHEET = {
    "Seizure": "Epileptic-seizure",
    "Seizure, EEG only": "Electroencephalographic-seizure",
    "Not epileptic": "Seizure-PNES",
    "Spike": "Epileptiform-interictal-activity, Spike",
    "Sharp wave": "Epileptiform-interictal-activity, Sharp-wave",
    "LPD": "Lateralized-periodic-discharges",
    "GPD": "Generalized-periodic-discharges",
    "BIPD": "Bilateral-independent-periodic-discharges",
    "Rhythmic delta": "Rhythmic-delta-activity",
    "Delta slowing": "Abnormal-interictal-rhythmic-activity, Delta-activity",
    "PDR": "Posterior-dominant-rhythm",
    "Eyes closed": "Manual-eye-closure",
    "Eyes open": "Manual-eye-opening",
    "Hyperventilation": "Hyperventilation",
    "Photic stimulation": "Intermittent-photic-stimulation",
    "Sleep N1": "Sleep-stage-N1",
    "Sleep REM": "Sleep-stage-REM",
    "Spindle": "Sleep-spindles",
    "K-complex": "K-complex",
    "Vertex wave": "Vertex-wave",
    "Wicket": "Wicket-spikes",
    "Small sharp spike": "Small-sharp-spikes",
    "14-and-6": "Fourteen-six-Hz-positive-burst",
    "Artefact": "Data-artifact",
    "Bad segment": "Recording-of-reduced-diagnostic-value-due-to-artifact",
}


@pytest.mark.parametrize(("name", "tag"), SHEET.items())
def test_the_palette_of_the_clinical_sheet_is_there(name: str, tag: str) -> None:
    term = score_vocabulary().named(name)
    assert term is not None
    assert (term.name, term.tag) == (name, tag)


def test_names_and_keys_are_told_apart_and_every_term_is_whole() -> None:
    terms = score_vocabulary().terms
    assert len({term.name.casefold() for term in terms}) == len(terms)
    keys = [term.key for term in terms if term.key]
    assert len(set(keys)) == len(keys)
    assert {term.kind for term in terms} == {"span", "moment"}
    assert all(term.tag and term.group and term.colour for term in terms)


def test_marks_of_seizures_tell_of_seizures_and_no_others_do() -> None:
    for term in score_vocabulary().terms:
        if term.role == SEIZURE_OFFSET:  # which tells of nothing by itself
            continue
        found = find_seizures([Annotation(5.0, 2.0, term.name)])
        is_seizure = "epileptic-seizure" in term.tag.casefold() or "Electroencephalographic" in term.tag
        assert bool(found.spans or found.unended) == is_seizure, term.name
    ends = [score_vocabulary().role(role).name for role in (SEIZURE_ONSET, SEIZURE_OFFSET)]
    marks = [Annotation(at, 0.0, name) for at, name in zip((5.0, 9.0), ends, strict=True)]
    assert find_seizures(marks).spans == ((5.0, 9.0),)


def test_another_edition_renames_seizures_which_are_found_by_either_name() -> None:
    document = json.loads((files("assets") / "score_vocabulary.json").read_text("utf-8"))
    usual, revised = read_vocabulary(document), read_vocabulary({**document, "edition": "ILAE 2025"})
    assert document["edition"] in document["editions"]
    before, after = usual.named("Focal aware seizure"), revised.named("Focal aware seizure")
    assert before is not None
    assert after is not None
    assert before.name == "Focal aware seizure"
    assert after.name == "Focal preserved consciousness seizure"
    assert before.tag == after.tag
    assert usual.named(after.name) == before
    assert [term.tag for term in usual.terms] == [term.tag for term in revised.terms]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("spi", "Spike"),
        ("PNES", "Not epileptic"),
        ("gtcs", "Generalized tonic-clonic seizure"),
        ("sharp spike", "Small sharp spike"),
        ("wave vertex", "Vertex wave"),
        ("posterior", "PDR"),
        ("emg", "Muscle"),
    ],
)
def test_search_finds_by_name_abbreviation_and_tag(text: str, first: str) -> None:
    assert score_vocabulary().search(text)[0].name == first


def test_search_for_nothing_lists_all_and_for_nonsense_none() -> None:
    vocabulary = score_vocabulary()
    assert vocabulary.search("  ") == vocabulary.terms
    assert vocabulary.search("xyzzy") == ()


def test_own_terms_come_last_and_never_replace_others() -> None:
    own = [{"name": "Brush", "tag": "x", "kind": "moment"}, {"name": " spike "}, {"name": ""}, {"name": "brush"}]
    vocabulary = score_vocabulary().with_own(own)
    assert [term.name for term in vocabulary.terms[len(score_vocabulary().terms) :]] == ["Brush"]
    assert vocabulary.groups[-1] == OWN_GROUP
    brush = vocabulary.named("BRUSH")
    assert brush is not None
    assert brush.is_own
    assert brush.written() == own[0]
    assert score_vocabulary().with_own([brush.written()]).named("brush") == brush


def test_a_role_that_no_term_has_is_an_error() -> None:
    assert score_vocabulary().role(SEIZURE).key == "I"
    with pytest.raises(KeyError):
        Vocabulary().role(SEIZURE)
