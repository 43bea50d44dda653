"""Wires of the reviewing half: marks, model events, threshold and agreement, in list, panels and view alike."""

from __future__ import annotations

from PyQt6.QtCore import QObject

from analysis.results import SeizurePrediction
from analysis.review.queue import TO_REVIEW, Queue
from app.dialogs.event_rules import rule_text
from app.inspector import AgreementPanel, PredictionPanel
from app.left_out import bad_channels_of, stale_words
from app.model_runs import ModelRuns
from app.panel import SectionTitle
from app.review_queue import ReviewQueue
from app.sensitivity_panel import SensitivityPanel
from app.session import Session
from viewers.recording_view import RecordingView


class Reviewing(QObject):
    """Keeps every panel that speaks of marks or results in step with the session and the queue of events."""

    def __init__(
        self,
        session: Session,
        view: RecordingView,
        runs: ModelRuns,
        queue: ReviewQueue,
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
        self._queue = queue
        self._heading = heading
        self._sensitivity = sensitivity
        self._prediction = prediction
        self._agreement = agreement
        session.prediction_changed.connect(self._on_prediction)
        session.bad_channels_changed.connect(self._on_bad_channels)
        queue.queue_changed.connect(self._on_queue)
        queue.listed_changed.connect(self._say_count)
        view.threshold_changed.connect(runs.set_threshold)
        sensitivity.threshold_changed.connect(runs.set_threshold)
        sensitivity.own_requested.connect(runs.use_own)
        agreement.compared_changed.connect(runs.set_compared)
        runs.threshold_changed.connect(self._on_threshold)
        runs.making_changed.connect(self._on_making)
        runs.waiting_changed.connect(view.set_waiting)
        runs.agreement_changed.connect(self._on_agreement)
        self._on_threshold(runs.threshold)
        self._on_making()

    def _on_prediction(self, prediction: SeizurePrediction | None) -> None:
        self._prediction.show_prediction(prediction, self._session.recording)
        self._on_bad_channels()
        self._show_events()

    def _on_bad_channels(self, _names: object = None) -> None:
        """Say of a prediction that was made with other channels that it was."""
        bad, prediction = bad_channels_of(self._session), self._session.prediction
        self._prediction.show_bad_channels(bad)
        self._view.probability_lane.set_stale(stale_words(prediction, bad) if prediction is not None else "")

    def _on_queue(self, _queue: Queue) -> None:
        self._say_count()
        self._show_events()

    def _say_count(self) -> None:
        """What is left to do, or how many events there are, in the heading of the list."""
        queue, listed = self._queue.queue, self._queue.listed_count
        waiting = queue.number_of(TO_REVIEW)
        if waiting:
            self._heading.set_remark(f"{waiting:,} to review", "accent")
        elif listed < len(queue):
            self._heading.set_remark(f"{listed:,} of {len(queue):,}")
        else:
            self._heading.set_remark(f"{listed:,}" if listed else "none")

    def _on_threshold(self, threshold: float) -> None:
        self._view.set_threshold(threshold)
        self._sensitivity.show_threshold(threshold)
        self._show_events()

    def _on_making(self) -> None:
        """Say whose threshold and rule count."""
        self._sensitivity.show_own(self._runs.own, self._runs.is_own)
        self._show_events()

    def _show_events(self) -> None:
        prediction, queue = self._session.prediction, self._queue.queue
        rule = rule_text(self._runs.rule_in_force())
        if prediction is None:
            self._sensitivity.show_events(self._runs.threshold, None, rule)
            return
        author = self._runs.author_of(prediction)
        found = self._session.marks.of_source("model").items
        decided = sum(bool(mark.review.decision) and mark.author == author for mark in found)
        lost = decided - queue.decided_by(author) if self._queue.is_current else 0
        waiting = len(self._queue.live) + sum(m.author == author and not m.review.decision for m in found)
        self._sensitivity.show_events(self._runs.threshold, waiting, rule, decided, lost)

    def _on_agreement(self, scores: object) -> None:
        if isinstance(scores, str):
            self._agreement.say(scores)
        else:
            prediction = self._session.prediction
            self._agreement.show_scores(scores, prediction is not None and prediction.random_weights)
