"""What the engine answered is asked for once, in this start of the program and the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.analyses import Analysis, NamedArray
from analysis.progress import Cancelled, Progress
from analysis.recording import Window
from analysis.results import AnalysisRequest, SeizurePrediction
from app.kept_results import KeptResults, key_of

FACTS = {"tuple": (1, 2.5, None), "list": [1, {"a": (True,)}], 3: "number", "nan": float("nan"), "numpy": np.float32(2)}


def analysis(**changes) -> Analysis:
    request = AnalysisRequest("gates", "id", ("a", "b"), window=Window(1.0, 2.0), options={"code": ["1", 2]})
    arrays = {"file": NamedArray(np.arange(6.0).reshape(2, 3), ("step", "layer"), "1", "what it is", "paper")}
    made = Analysis(request, "now", "1", {"span": [1.0, 2.0]}, "Gates", ("A",), arrays, FACTS, {"layer": ("x", "y")})
    return replace(made, **changes)


def test_an_analysis_comes_back_as_it_was(tmp_path) -> None:
    made = analysis(notes=("one", "two"), random_weights=True)
    KeptResults(tmp_path).answer("k", Analysis, lambda: made)
    found = KeptResults(tmp_path).answer("k", Analysis, pytest.fail)
    assert found.values("file").tolist() == made.values("file").tolist()
    assert repr(replace(found, facts={}, arrays={})) == repr(replace(made, facts={}, arrays={}))
    assert repr((*found.arrays["file"].axes, found.arrays["file"].meaning)) == "('step', 'layer', 'what it is')"
    assert repr(found.facts) == repr({**FACTS, "numpy": 2.0})
    assert found.request.key() == made.request.key()


def test_an_answer_of_another_type_or_key_is_asked_for_again(tmp_path) -> None:
    kept, request = KeptResults(tmp_path), AnalysisRequest("seizure", "id", ())
    kept.answer("k", Analysis, analysis)
    other = SeizurePrediction(request, "", "", model_title="new")
    assert kept.answer("k", SeizurePrediction, lambda: other) is other
    assert kept.answer("k2", SeizurePrediction, lambda: replace(other, model_title="newer")).model_title == "newer"
    assert kept.answer("k", SeizurePrediction, pytest.fail).model_title == "new"


def test_what_failed_is_not_kept(tmp_path) -> None:
    def fail() -> Analysis:
        raise Cancelled

    with pytest.raises(Cancelled):
        KeptResults(tmp_path).answer("k", Analysis, fail)
    assert KeptResults(tmp_path).answer("k", Analysis, analysis).title == "Gates"


def test_what_json_does_not_know_is_answered_all_the_same(tmp_path) -> None:
    odd = analysis(facts={"odd": object()})
    assert KeptResults(tmp_path).answer("k", Analysis, lambda: odd) is odd
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_everything_is_asked_for(tmp_path) -> None:
    kept, asked = KeptResults(), []
    for _ in range(2):
        kept.facts("k", lambda: asked.append(1) or {"a": 1})
    assert (len(asked), kept.is_on_disk) == (2, False)
    kept = KeptResults(tmp_path)
    assert [kept.facts("k", lambda: asked.append(1) or {"a": 1}) for _ in range(2)] == [{"a": 1}] * 2
    assert len(asked) == 3


def test_keys_tell_models_options_and_recordings_apart() -> None:
    first = key_of("gates", "id", ("a",), {"window": 10.0})
    assert key_of("gates", "id", ("a",), {"window": 10.0}) == first
    others = [("cka", "id", ("a",), {"window": 10.0}), ("gates", "jd", ("a",), {"window": 10.0})]
    others += [("gates", "id", ("b",), {"window": 10.0}), ("gates", "id", ("a",), {"window": 5.0})]
    assert first not in {key_of(*other) for other in others}


def heard(first: float, steps: int) -> Analysis:
    time = NamedArray(np.arange(steps) * 0.5, ("step",), "s", "when")
    facts = {"first_time": first, "step_seconds": 0.5, "resets": [], "n_steps": steps}
    request = AnalysisRequest("streams", "id", ("a",), window=Window(first, first + steps / 2))
    return Analysis(request, "", "", {"span": []}, arrays={"time": time}, facts=facts)


def test_a_stream_is_kept_whole_though_it_is_told_in_parts(tmp_path) -> None:
    told: list[object] = []

    class Listener(Progress):
        def partial(self, result: object) -> None:
            told.append(result)

    def listen(progress: Progress) -> dict[str, Analysis]:
        progress.partial({"streams": heard(0.0, 4)})
        progress.partial({"streams": heard(2.0, 4)})
        return {"streams": heard(4.0, 2)}

    last = KeptResults(tmp_path).heard("k", listen, Listener())
    assert (len(told), last["streams"].facts["n_steps"]) == (2, 2)
    again = KeptResults(tmp_path).heard("k", pytest.fail, Listener())
    assert again["streams"].values("time").tolist() == [i / 2 for i in range(10)]
    assert again["streams"].request.window == Window(0.0, 5.0)
