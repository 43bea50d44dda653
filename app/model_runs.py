"""Runs the chosen model over the open recording and keeps events and agreement up to date with the result.

Events are made by the threshold and rule of the model on show, until the reader chooses others for it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from analysis.annotation import model_author
from analysis.postprocessing import Rule, derive_events, describe_rule
from analysis.progress import Progress
from analysis.recording import Recording
from analysis.results import SeizurePrediction
from analysis.review.decisions import reviewed
from app.engine_process import EngineProcess
from app.event_making import EventMaking, ReadersMakings, making_of
from app.jobs import Job, JobRunner
from app.kept_results import KeptResults, key_of
from app.left_out import bad_channels_of
from app.model_stamp import stamp
from app.session import ModelChoice, Session
from app.settings import Settings

_AGREEMENT_PAUSE_MS = 400
_THRESHOLD_STEP = 0.05


class ModelRuns(QObject):
    """Starts, streams and ends predictions; a moved threshold re-derives the events at once, without the model."""

    agreement_changed = pyqtSignal(object)  # a dict of scores, or a sentence
    threshold_changed = pyqtSignal(float)
    making_changed = pyqtSignal()  # the rule or the model's own threshold and rule are others
    waiting_changed = pyqtSignal(str)  # title of the model at work; empty when none is

    def __init__(
        self,
        session: Session,
        runner: JobRunner,
        engine: EngineProcess,
        settings: Settings,
        kept: KeptResults,
        parent: QObject | None = None,
    ) -> None:
        """`settings` remember what the reader chose for a model; a model asked again answers at once from `kept`."""
        super().__init__(parent)
        self._session = session
        self._runner = runner
        self._engine = engine
        self._kept = kept
        self._readers = ReadersMakings(settings)
        self._name = ""  # of the model whose events are made, by which what the reader chooses is remembered
        self.own = EventMaking()  # of that model
        self.making = EventMaking()  # in force
        self.job: Job | None = None
        self._comparison: Job | None = None
        self.compared = "raw"  # or "reviewed": accepted and undecided events, without rejected ones
        self._agreement_timer = QTimer(self)
        self._agreement_timer.setSingleShot(True)
        self._agreement_timer.setInterval(_AGREEMENT_PAUSE_MS)
        self._agreement_timer.timeout.connect(self._score)
        session.marks_changed.connect(lambda _marks: self._compare_soon())
        session.opened.connect(self._on_opened)
        session.prediction_changed.connect(self._on_prediction)
        session.model_changed.connect(self._on_model)

    @property
    def threshold(self) -> float:
        """How sure the model must be."""
        return self.making.threshold

    @property
    def is_own(self) -> bool:
        """Whether events are made as the model itself has it."""
        return self.making == self.own

    @property
    def busy(self) -> bool:
        """Whether a prediction, or the agreement that follows it, is still to come."""
        return (self.job is not None and not self.job.ended) or self._agreement_timer.isActive()

    def shows(self, model: ModelChoice) -> bool:
        """Whether the whole answer of a model is on show."""
        prediction = self._session.prediction
        return prediction is not None and prediction.complete and self._name == model.name

    def rule_in_force(self) -> Rule:
        """The rule events are made by: the reader's, or the one that suits the model or the length of the recording."""
        return self.making.rule_for(self._session.duration)

    @staticmethod
    def author_of(prediction: SeizurePrediction) -> str:
        """Who says that an event of a prediction is there."""
        return model_author(prediction.model_title, prediction.random_weights)

    def run(self, model: ModelChoice, device: str = "auto") -> Job | None:
        """Start a model over the whole recording, nearest to the page first; None without a recording."""
        if self._session.recording is None:
            return None
        self.job = self._make_job(model, device, self._session.recording, replaces="prediction")
        show = partial(self._show, model=model)
        self.job.partial.connect(show)
        self.job.succeeded.connect(show)
        self.job.cancelled.connect(self._drop_partial)
        self.job.failed.connect(lambda _error: self._drop_partial())
        self.job.finished.connect(self._on_finished)
        self.waiting_changed.emit(model.title)
        self._runner.submit(self.job)
        return self.job

    def prepare(self, model: ModelChoice, device: str = "auto") -> Job | None:
        """Have the answer of a model ready for when it is run, after all that somebody waits for.

        None without a recording, and where no results are kept.
        """
        if self._session.recording is None or not self._kept.is_on_disk:
            return None
        return self._runner.submit(self._make_job(model, device, self._session.recording, priority=1.0))

    def _make_job(
        self, model: ModelChoice, device: str, recording: Recording, replaces: str | None = None, priority: float = 0.0
    ) -> Job:
        """A prediction of the whole recording; two that give the same have the same key."""
        asked = {"segments": model.segments, "device": device, "bad_channels": bad_channels_of(self._session)}
        arguments: dict[str, Any] = {
            "path": str(recording.path),
            "checkpoint": model.checkpoint,
            "head": model.head,
            "config": model.config,
            "first_time": (self._session.window.start + self._session.window.stop) / 2,
            **asked,
        }
        key = key_of("seizure", recording.id, (stamp(model),), asked)

        def ask(progress: Progress) -> SeizurePrediction:
            return self._engine.call("analysis.engine.predict:predict_seizures", arguments, progress)

        def work(progress: Progress) -> SeizurePrediction:
            return _found_at(recording, self._kept.answer(key, SeizurePrediction, partial(ask, progress)))

        title = f"Seizure probability, {model.title}"
        return Job(title, work, lane="gpu", key=key, replaces=replaces, priority=priority)

    def _on_finished(self) -> None:
        # A job that was replaced ends after its successor has begun.
        if self.job is None or self.job.ended:
            self.waiting_changed.emit("")

    def set_threshold(self, threshold: float) -> None:
        """Move the threshold and re-derive the events."""
        self._choose(replace(self.making, threshold=threshold))

    def step_threshold(self, steps: int) -> None:
        """Ask for more certainty (positive) or less, by twentieths."""
        self.set_threshold(round(min(max(self.threshold + _THRESHOLD_STEP * steps, 0.01), 0.99), 2))

    def set_compared(self, which: str) -> None:
        """Compare the model's events as found ("raw") or as "reviewed" with the annotated seizures."""
        self.compared = which
        self._compare_soon()

    def set_rule(self, rule: Rule | None) -> None:
        """Make events by another rule; None: by the model's own."""
        self._choose(replace(self.making, rule=rule or self.own.rule))

    def use_own(self) -> None:
        """Make events by the model's own threshold and rule again."""
        self._choose(self.own)

    def show_saved(self, prediction: SeizurePrediction) -> None:
        """Show a result that comes from files, by the threshold and the rule that made its events."""
        self._attend("", making_of(prediction, EventMaking(prediction.threshold), self._session.duration))
        self._set(prediction)

    def _show(self, prediction: SeizurePrediction, model: ModelChoice | None = None) -> None:
        model = model or self._session.model
        if model is not None:
            self._attend(model.name, making_of(prediction, model.making, self._session.duration))
        self._set(prediction)

    def _set(self, prediction: SeizurePrediction) -> None:
        self._session.set_prediction(self._with_events(prediction))
        self._compare_soon()

    # Threshold and rule

    def _on_model(self, model: ModelChoice | None) -> None:
        """What is on show keeps its threshold until the chosen model answers."""
        if model is not None and self._session.prediction is None:
            self._attend(model.name, model.making)

    def _attend(self, name: str, own: EventMaking) -> None:
        """Make events of what a model says, as it has it itself or as the reader chose for it."""
        self._name, self.own = name, own
        self._use(self._readers.get(name, own) if name else own)

    def _choose(self, making: EventMaking) -> None:
        """Make events as the reader chooses, and remember it for the model."""
        if making == self.making:
            return
        if self._name:
            self._readers.keep(self._name, making, self.own)
        self._use(making)
        self._derive_again()

    def _use(self, making: EventMaking) -> None:
        before, self.making = self.making, making
        if before.threshold != making.threshold:
            self.threshold_changed.emit(making.threshold)
        self.making_changed.emit()

    def _compare_soon(self) -> None:
        """Compare with the marks once threshold and marks have come to rest."""
        if self._session.prediction is not None and self._session.prediction.complete:
            self._agreement_timer.start()

    def _derive_again(self) -> None:
        if self._session.prediction is not None:
            self._session.set_prediction(self._with_events(self._session.prediction))
            self._compare_soon()

    def _with_events(self, prediction: SeizurePrediction) -> SeizurePrediction:
        rule = self.rule_in_force()
        events = derive_events(
            prediction.times,
            prediction.durations,
            prediction.probability,
            self.threshold,
            rule,
            self.author_of(prediction),
        )
        made = {"rule": dict(describe_rule(rule)), "threshold": self.threshold}
        return replace(
            prediction, threshold=self.threshold, events=events, provenance={**prediction.provenance, **made}
        )

    def _drop_partial(self) -> None:
        if self._session.prediction is not None and not self._session.prediction.complete:
            self._session.set_prediction(None)

    def _on_opened(self, _recording: object) -> None:
        for job in (self.job, self._comparison):
            if job is not None:
                job.cancel()
        self.job = self._comparison = None
        self._agreement_timer.stop()

    def _on_prediction(self, prediction: SeizurePrediction | None) -> None:
        """Leave no figures standing that speak of another prediction."""
        if prediction is None:
            self._on_model(self._session.model)
            self.agreement_changed.emit("Run a model on a recording with annotated seizures to see how they agree.")
        elif not prediction.complete:
            self.agreement_changed.emit("The model is still running.")

    def compared_spans(self) -> list[tuple[float, float]]:
        """The spans in seconds that are compared with the annotated seizures."""
        prediction = self._session.prediction
        if prediction is None:
            return []
        events = prediction.events
        if self.compared == "reviewed":
            events = reviewed(events, self._session.marks.of_source("model").items, self.author_of(prediction))
        return [(event.onset, event.stop) for event in events]

    def _score(self) -> None:
        prediction, duration = self._session.prediction, self._session.duration
        if prediction is None or not prediction.complete:
            return
        reference = self._session.marks.seizures
        if not reference:
            self.agreement_changed.emit("No annotated seizures in this recording to compare with.")
            return
        self.agreement_changed.emit("Comparing with the annotated seizures…")
        arguments = {"reference": list(reference), "hypothesis": self.compared_spans(), "duration": duration}

        def work(progress: Progress) -> dict[str, Any]:
            return self._engine.call("analysis.scoring:score_events", arguments, progress)

        self._comparison = job = Job("Agreement with the annotations", work, lane="gpu", replaces="agreement")
        job.succeeded.connect(self.agreement_changed)
        job.failed.connect(lambda error: self.agreement_changed.emit(str(error)))
        self._runner.submit(job)


def _found_at(recording: Recording, prediction: SeizurePrediction) -> SeizurePrediction:
    """A prediction that may have been kept from when the recording lay elsewhere."""
    told = {**prediction.provenance.get("recording", {}), "path": str(recording.path)}
    return replace(prediction, provenance={**prediction.provenance, "recording": told})
