"""What the training's command prints: its figures, and beside them those of detectors without a model."""

from __future__ import annotations

from pathlib import Path

from app.training_runs import _text


def test_figures_stand_beside_those_without_a_model():
    plain = {
        "way": "line length, raw, max of channels, 5 s",
        "sample_auc_pr": 0.41234,
        "event_f1": 0.5,
        "event_sensitivity": 0.6,
        "false_alarms_per_hour": 2.0,
    }
    test = {"sample_auc_pr": 0.79, "event_f1": None, "threshold_detectors": {"chosen": "a bound", "detectors": [plain]}}
    results = {"validation": {"sample_auc_pr": 0.8}, "test": test}
    text = _text(Path("made.safetensors"), 9, {"name": "AXON", "how": {"seconds": 60.0}, "results": results})
    assert text.splitlines() == [
        "made.safetensors: AXON, 9 steps, 60 s",
        "  validation: area under precision-recall by seconds 0.8",
        "  test: area under precision-recall by seconds 0.79",
        "    beside it, without a model, line length, raw, max of channels, 5 s: area under precision-recall by "
        "seconds 0.412, event F1 0.5, sensitivity 0.6, false alarms an hour 2",
    ]


def test_a_pretraining_has_a_loss_alone():
    card = {"name": "AXON", "how": {"seconds": 6.0}, "results": {"validation": {"loss": 0.25}}}
    assert _text(Path("made.safetensors"), 9, card).splitlines()[1] == "  validation: loss 0.25"
    card["results"]["test"] = {"threshold_detectors": None}
    assert len(_text(Path("made.safetensors"), 9, card).splitlines()) == 3
