"""Temperature and bias by which a trained detector's scores become probabilities at the true rate of seizures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Calibration:
    """Class scores s become softmax(s / T + b for the seizure class); a temperature of 1 and a bias of 0 are nothing.

    Both come from validation data, which hold seizures as often as recordings do and not as often as training does.
    """

    temperature: float = 1.0
    bias: float = 0.0

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Calibration:
        """What a checkpoint's card says; nothing where it says nothing."""
        found = card.get("calibration")
        if not isinstance(found, Mapping):
            return cls()
        return cls(float(found.get("temperature", 1.0)), float(found.get("bias", 0.0)))

    def adjusted(self, scores: Tensor, class_index: int | None) -> Tensor:
        """Class scores (…, K) in float32, the bias on the class of seizures, where there is one."""
        shift = torch.zeros(scores.shape[-1], device=scores.device)
        if class_index is not None:
            shift[class_index] = self.bias
        return scores.float() / self.temperature + shift

    def probability(self, scores: Tensor, class_index: int) -> Tensor:
        """Probability (…) of one class from class scores (…, K)."""
        return self.adjusted(scores, class_index).softmax(-1)[..., class_index]
