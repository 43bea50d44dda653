"""Montages on disk: what is written comes back, what is damaged is skipped in one sentence, names are unique."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.electrodes import site_of, template_positions
from analysis.errors import AnalysisError
from analysis.montages.custom import CustomMontage, CustomRow, Electrode
from analysis.montages.own import OwnMontages, read_montage, write_montage

ROW = CustomRow(Electrode("F7"), (Electrode("T7"),))


def one(name: str) -> CustomMontage:
    return CustomMontage(name, ((ROW,),))


texts = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12).filter(str.strip)
electrodes = st.one_of(
    st.sampled_from(sorted({site_of(name) for name in template_positions()})).map(Electrode),
    texts.map(lambda name: Electrode(name, is_site=False)),
)
rows = st.one_of(
    st.builds(CustomRow, electrodes, st.lists(electrodes, max_size=3).map(tuple), label=st.one_of(st.just(""), texts)),
    st.builds(CustomRow, electrodes, to_average=st.just(True)),
)
montages = st.builds(
    CustomMontage,
    texts.map(str.strip),
    st.lists(st.lists(rows, min_size=1, max_size=4).map(tuple), min_size=1, max_size=4).map(tuple),
)


@given(montage=montages)
def test_what_is_written_comes_back(montage, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "montage.json"
    write_montage(montage, path)
    assert read_montage(path) == montage


def test_the_file_can_be_written_by_hand(tmp_path):
    path = tmp_path / "lab.json"
    path.write_text(
        '{"version": 1, "name": "lab", "blocks": [[{"input1": "t3", "input2": "A1"}, {"input1": "LA\'3"}],'
        '[{"input1": {"channel": "A1"}, "input2": "average", "label": "deep"}]]}',
        "utf-8",
    )
    assert read_montage(path).blocks == (
        (CustomRow(Electrode("T7"), (Electrode("A1"),)), CustomRow(Electrode("LA'3", is_site=False))),
        (CustomRow(Electrode("A1", is_site=False), to_average=True, label="deep"),),
    )


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "Expecting value"),
        ("[1]", "a name and blocks"),
        ('{"version": 2, "name": "x", "blocks": []}', "version is 2, not 1"),
        ('{"version": 1, "name": "", "blocks": [[]]}', "no name"),
        ('{"version": 1, "name": "x", "blocks": []}', "0 rows"),
        ('{"version": 1, "name": "x", "blocks": [{}]}', "list of rows"),
        ('{"version": 1, "name": "x", "blocks": [[5]]}', "input1 and input2"),
        ('{"version": 1, "name": "x", "blocks": [[{"input2": ["Cz"]}]]}', "not None"),
        ('{"version": 1, "name": "x", "blocks": [[{"input1": "Cz", "input2": [3]}]]}', "not 3"),
        ('{"version": 1, "name": "x", "blocks": [[{"input1": "Cz", "label": 3}]]}', "label must be text"),
        ("[" * 100_000, "holds no montage"),
    ],
)
def test_damaged_files_are_skipped_in_one_sentence_and_stay(text, cause, tmp_path):
    (tmp_path / "a.json").write_text(text, "utf-8")
    write_montage(one("good"), tmp_path / "b.json")
    kept = OwnMontages(tmp_path)
    assert [montage.name for montage in kept.montages()] == ["good"]
    assert len(kept.complaints) == 1
    assert cause in kept.complaints[0]
    assert str(tmp_path / "a.json") in kept.complaints[0]
    assert (tmp_path / "a.json").read_text("utf-8") == text


def test_montages_are_kept_renamed_and_deleted_with_their_files(tmp_path):
    folder = tmp_path / "montages"
    kept = OwnMontages(folder)
    for name in ("b", "A", "Übung: 1/2"):
        kept.save(one(name))
    assert [montage.name for montage in OwnMontages(folder).montages()] == ["A", "b", "Übung: 1/2"]
    kept.save(one("c"), instead_of="b")
    changed = CustomMontage("c", ((ROW, ROW),))
    kept.save(changed, instead_of="c")
    again = OwnMontages(folder)
    assert [montage.name for montage in again.montages()] == ["A", "c", "Übung: 1/2"]
    assert again.get("c") == changed
    assert again.get("b") is None
    again.delete("Übung: 1/2")
    assert len(list(folder.iterdir())) == 2
    with pytest.raises(KeyError):
        again.delete("b")


def test_a_file_that_was_put_there_by_hand_is_replaced_by_what_it_becomes(tmp_path):
    write_montage(one("lab"), tmp_path / "from the other hospital.json")
    kept = OwnMontages(tmp_path)
    kept.save(CustomMontage("lab", ((ROW, ROW),)), instead_of="lab")
    assert len(list(tmp_path.iterdir())) == 1
    assert len(OwnMontages(tmp_path).get("lab").rows) == 2


@pytest.mark.parametrize("name", ["", "  ", "lb-18.1", "reference Cz", "Mine", "x" * 61])
def test_names_that_cannot_be(name, tmp_path):
    kept = OwnMontages(tmp_path, reserved=("LB-18.1",))
    kept.save(one("mine"))
    assert kept.name_fault(name)
    with pytest.raises(AnalysisError, match="choose another name"):
        kept.save(one(name))
    assert not kept.name_fault("mine", instead_of="mine")


def test_two_files_of_one_name_are_one_montage_and_a_complaint(tmp_path):
    for name in ("a.json", "b.json"):
        write_montage(one("same"), tmp_path / name)
    kept = OwnMontages(tmp_path)
    assert len(kept.montages()) == 1
    assert "there is another montage called same" in kept.complaints[0]


def test_a_folder_that_cannot_be_written_loses_nothing(tmp_path):
    (tmp_path / "montages").write_text("a file in the way")
    kept = OwnMontages(tmp_path / "montages")
    with pytest.raises(OSError, match="montages"):
        kept.save(one("mine"))
    assert kept.get("mine") is None


def test_without_a_folder_montages_live_in_memory():
    kept = OwnMontages(None)
    kept.save(one("mine"))
    kept.save(one("other"), instead_of="mine")
    assert [montage.name for montage in kept.montages()] == ["other"]
    kept.delete("other")
    assert kept.montages() == ()


def test_places_are_written_by_their_present_names(tmp_path):
    write_montage(one("mine"), tmp_path / "m.json")
    entry = json.loads((tmp_path / "m.json").read_text("utf-8"))["blocks"][0][0]
    assert entry == {"input1": "F7", "input2": ["T7"]}
