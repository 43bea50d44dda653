"""Which numbers this program gives: raised by every change of them, so that older ones are not reused."""

from __future__ import annotations

PREDICTIONS = 1  # probabilities of seizures
ANALYSES = 2  # of the inside of models
CHECKPOINTS = 1  # what is said of a checkpoint
