"""The bench of attribution: its rows and its words are what was counted, and what is not there is said."""

from __future__ import annotations

import pytest

from app import bench_attribution as bench
from app.bench_cases import gains, value, verdict
from app.benches import BENCHES, Plan


def told(number, trained, random):
    return {
        "trained": dict(zip(bench.METHODS, trained, strict=True)),
        "random": dict(zip(bench.METHODS, random, strict=True)),
        "seed": number % 2,
        "heard": number < 3,
    }


@pytest.fixture
def parts():
    """Four seizures, the even ones in the first part."""
    yes, no = (True, True, False, True), (False, False, False, True)
    return [
        {
            "seizures": [{"number": n} for n in numbers],
            bench.RMS_RATIO: [n < 2 for n in numbers],
            "models": {"axon": [told(n, yes if n else no, no) for n in numbers]},
        }
        for numbers in ((0, 2), (1, 3))
    ]


def test_parts_are_joined_in_the_order_of_the_seizures(parts):
    found = bench.joined(parts)
    assert [one["number"] for one in found["seizures"]] == [0, 1, 2, 3]
    assert found[bench.RMS_RATIO] == [True, True, False, False]
    assert [one["seed"] for one in found["models"]["axon"]] == [0, 1, 0, 1]
    assert [one["trained"]["IG signed"] for one in found["models"]["axon"]] == [False, True, True, True]


def test_rows_and_words_are_what_was_counted(parts):
    found = bench.joined(parts)
    rows = {case.name: (case, measured) for case, measured in bench.attribution_rows(found)}
    assert {name: value(*row) for name, row in rows.items()} == {
        "attribution RMS ratio": 50.0,
        "attribution axon IG signed": 25.0,
        "attribution axon occlusion": 25.0,
        "attribution axon keep one": 100.0,
        "attribution axon IG unsigned": 0.0,
    }
    assert {name: verdict(*row) for name, row in rows.items() if verdict(*row)} == {
        "attribution axon IG signed": "pass",
        "attribution axon occlusion": "pass",
        "attribution axon keep one": "over",
    }
    rivals = {name: measured.rival for name, (_, measured) in rows.items() if measured.rival}
    assert rivals == {
        "attribution axon IG signed": (100.0,),
        "attribution axon occlusion": (100.0,),
        "attribution axon keep one": (100.0,),
        "attribution axon IG unsigned": (0.0,),
    }
    assert gains(*rows["attribution axon IG signed"]) == (4.0, 4.0, 4.0)
    assert gains(*rows["attribution axon IG unsigned"]) is None, "nothing is missed: no number of times is better"
    assert rows["attribution axon keep one"][0].missed == (
        "of the 4 missed, the RMS ratio misses 2 too; in these first seconds the model reaches its threshold in "
        "3 of all 4, in 3 of the missed"
    )
    text = bench.explain(found)
    assert "no model, RMS ratio: 2 of 4, 50 % (15-85)" in text
    assert "IG signed    3 of 4, 75 % (30-95); randomised weights 0 of 4, 0 % (0-49), by seed 0 0" in text
    assert "IG unsigned  4 of 4, 100 % (51-100); randomised weights 4 of 4, 100 % (51-100), by seed 100 100" in text


def test_seizures_are_shared_out_and_checkpoints_named(monkeypatch, tmp_path):
    asked = []

    def measure(module, part, of, count, *checkpoints, threads):
        asked.append((part, of, count, checkpoints))
        numbers = range(part, count, of)
        rows = [told(n, (True,) * 4, (False,) * 4) for n in numbers]
        return {
            "seizures": [{"number": n} for n in numbers],
            bench.RMS_RATIO: [False for _ in numbers],
            "models": dict.fromkeys(checkpoints, rows),
        }

    monkeypatch.setattr(bench, "measure_apart", measure)
    monkeypatch.setattr(bench, "CHECKPOINTS", tmp_path)
    for name in ("axon", "neurduo"):
        (tmp_path / f"{name}.safetensors").write_bytes(b"")
    found = bench.bench(Plan("quick"))
    assert sorted({part for part, *_ in asked}) == list(range(asked[0][1]))
    assert {count for _, _, count, _ in asked} == {4}
    asked.clear()
    bench.bench(Plan("quick", seizures=7))
    assert {count for _, _, count, _ in asked} == {7}
    names = {case.name: measured for case, measured in found.rows}
    assert {"attribution axon keep one", "attribution neurduo keep one"} < set(names)
    assert names["attribution mvpformer"] == names["attribution prise-eeg"] == "not measured: no such checkpoint"
    assert "AXON:" in found.remarks[0]
    monkeypatch.setattr(bench, "measure_apart", lambda *_, threads: "failed: no torch")
    assert [said for _, said in bench.bench(Plan("quick")).rows] == ["failed: no torch"]
    assert BENCHES["attribution"][0] == "app.bench_attribution:bench"
