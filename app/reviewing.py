"""Wires of the reviewing half: marks, model events, threshold and agreement, in list, panels and view alike."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from analysis.annotation import Annotation
from analysis.marks import Marks
from analysis.results import SeizurePrediction
from app.dialogs.event_rules import rule_text
from app.inspector import AgreementPanel, PredictionPanel
from app.model_runs import ModelRuns
from app.panel import SectionTitle
from app.sensitivity_panel import SensitivityPanel
from app.session import Session
from viewers.annotation_list import AnnotationList
from viewers.recording_view import RecordingView


class Reviewing(QObject):
    """Keeps every place that shows marks or results in step with the session."""

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        runs: ModelRuns,
        events: AnnotationList,
        heading: SectionTitle,
        sensitivity: SensitivityPanel,
        prediction: PredictionPanel,
        agreement: AgreementPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._view = view
        self._runs = runs
        self._events = events
        self._heading = heading
        self._sensitivity = sensitivity
        self._prediction = prediction
        self._agreement = agreement
        session.marks_changed.connect(self._on_marks)
        session.prediction_changed.connect(self._on_prediction)
        view.event_clicked.connect(self._on_event_clicked)
        view.threshold_changed.connect(runs.set_threshold)
        events.picked.connect(self._on_event_picked)
        sensitivity.threshold_changed.connect(runs.set_threshold)
        runs.threshold_changed.connect(self._on_threshold)
        runs.waiting_changed.connect(view.set_waiting)
        runs.agreement_changed.connect(self._on_agreement)
        self._on_threshold(runs.threshold)

    def _on_marks(self, marks: Marks) -> None:
        self._view.set_marks(marks)
        self._list_events()

    def _on_prediction(self, prediction: SeizurePrediction | None) -> None:
        self._view.set_prediction(prediction)
        self._prediction.show_prediction(prediction, self._session.recording)
        self._show_count()
        self._list_events()

    def _list_events(self) -> None:
        prediction = self._session.prediction
        found = prediction.events if prediction is not None else ()
        self._events.set_items(self._session.marks.items, found)
        count = len(self._events.items())
        remark = f"{len(found)} from the model" if found else f"{count:,}" if count else "none"
        self._heading.set_remark(remark, "accent" if found else "muted")

    def _on_threshold(self, threshold: float) -> None:
        self._view.set_threshold(threshold)
        self._sensitivity.show_threshold(threshold)
        self._show_count()

    def _show_count(self) -> None:
        prediction = self._session.prediction
        count = len(prediction.events) if prediction is not None else None
        self._sensitivity.show_events(self._runs.threshold, count, rule_text(self._runs.rule_in_force()))

    def _on_agreement(self, scores: object) -> None:
        if isinstance(scores, str):
            self._agreement.say(scores)
        else:
            prediction = self._session.prediction
            self._agreement.show_scores(scores, prediction is not None and prediction.random_weights)

    def _on_event_picked(self, annotation: Annotation) -> None:
        self._session.centre_on(annotation.onset)
        self._view.set_current_event(annotation)

    def _on_event_clicked(self, annotation: Annotation) -> None:
        self._events.select(annotation)
        self._on_event_picked(annotation)
