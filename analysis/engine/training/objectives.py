"""What is minimised: the pre-training of each family's paper, and the detection of seizures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from analysis.engine.training.drawing import Batch
from analysis.engine.training.feeding import Feeder
from analysis.engine.training.recipe import Recipe
from analysis.errors import AnalysisError
from models.axon.layers import COOLING_STEPS, gate_temperature
from models.axon.model import Axon
from models.axon.pretraining import POSITION_NOISE, AxonPretraining, draw_mask
from models.mvpformer.objective import contrastive_logits, contrastive_loss, draw_confounders
from models.neurduo.objective import next_code_loss, tokenizer_loss
from models.prise.groups import selection_temperature
from models.prise.model import Prise
from models.prise.pretraining import TASK_WEIGHTS, Task, balanced_step, draw_hidden, pretraining_loss

_TASKS: tuple[Task, ...] = ("forecast", "time", "channel")


@dataclass(frozen=True)
class Loss:
    """What goes backwards, and plain numbers to be told of."""

    value: Tensor
    facts: dict[str, float]


class Objective(ABC):
    """A network in training; `module` is all that is trained, `model` the part of it that becomes a checkpoint."""

    module: nn.Module
    model: Any

    def __init__(self, recipe: Recipe, feeder: Feeder, model: Any) -> None:
        self.recipe, self.feeder, self.model = recipe, feeder, model
        self.module = model

    def begin_step(self, step: int, steps: int) -> None:
        """Set what changes with the steps besides the learning rate: temperatures of gates and selections."""
        cooling = min(COOLING_STEPS, max(1, steps // 2))
        for module in self.module.modules():
            if isinstance(module, Axon):
                module.set_temperature(gate_temperature(step * COOLING_STEPS // cooling))
            elif isinstance(module, Prise) and module.selector is not None:
                module.selector.temperature = selection_temperature(step / steps)

    @contextmanager
    def around_step(self) -> Iterator[None]:
        """Around forward, backward and optimiser: PRiSE's experts are balanced by what each was given."""
        if isinstance(self.model, Prise):
            with balanced_step(self.model):
                yield
        else:
            yield

    @abstractmethod
    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        """The loss of one batch; all that is drawn comes from `rng`."""

    def arguments(self, batch: Batch) -> dict[str, Any]:
        """The batch as the model takes it, on the model's device."""
        device = next(self.module.parameters()).device
        signal = torch.from_numpy(np.ascontiguousarray(batch.signal)).to(device)
        return self.feeder.arguments(signal, torch.from_numpy(batch.missing).to(device), batch.sites)


class SeizureDetection(Objective):
    """Cross-entropy of the share of each label's span that is a seizure, the seizure class weighed (supervised).

    PRiSE-EEG may go on reconstructing beside it (spec section 9: 0.1 x its pre-training loss).
    """

    weight = 1.0

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        given = self.arguments(batch)
        scores = self.feeder.scores(self.model, given).float()
        logit = scores[..., 1] - scores[..., 0]
        labels = torch.from_numpy(batch.labels).to(logit.device)
        smooth = self.recipe.objective.label_smoothing
        target = labels * (1 - smooth) + smooth / 2
        weight = torch.tensor(self.weight, device=logit.device)
        value = functional.binary_cross_entropy_with_logits(logit, target, pos_weight=weight)
        share = self.recipe.objective.reconstruction
        if not share:
            return Loss(value, {})
        beside = _reconstruction_loss(self.model, given, step, rng)
        return Loss(value + share * beside.value, {"classes": float(value.detach()), **beside.facts})

    def settle_weight(self, batches: Sequence[Batch]) -> None:
        """Weigh the seizure class by how rare its labels are among those drawn, as the recipe says."""
        rule = self.recipe.objective.class_weight
        share = float(np.clip(np.mean([batch.labels.mean() for batch in batches]), 1e-3, 1 - 1e-3))
        ratio = (1 - share) / share
        self.weight = {"none": 1.0, "inverse": ratio, "inverse-root": ratio**0.5}[rule]


class NextSegment(Objective):
    """MVPFormer: the next segment's embedding among those of others (paper eq. 4; 30 negatives)."""

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        embeddings = self.model.embed(**self.arguments(batch))
        predicted = self.model.predictions_from_embeddings(embeddings)
        shape = (embeddings.shape[0], embeddings.shape[1], embeddings.shape[2])
        others = draw_confounders(shape, self.model.config.num_negatives, _generator(rng)).to(embeddings.device)
        logits = contrastive_logits(predicted.float(), embeddings.float(), others, self.model.config.temperature)
        right = (logits.detach().argmax(-1) == 0).float().mean()
        return Loss(contrastive_loss(logits), {"accuracy": float(right)})


class MaskedPatches(Objective):
    """AXON: hidden patches from the visible ones (spec section 7: L1 + 0.5 x auxiliary L1)."""

    def __init__(self, recipe: Recipe, feeder: Feeder, model: Any) -> None:
        super().__init__(recipe, feeder, model)
        self.module = AxonPretraining(model.config)
        self.module.axon.load_state_dict(model.state_dict())
        self.model = self.module.axon

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        given = self.arguments(batch)
        signal, config = given["signal"], self.model.config
        patches, order = config.n_patches(signal.shape[-1]), range(signal.shape[1])
        masks = np.stack([draw_mask(order, patches, rng) for _ in range(len(signal))])
        noise = rng.normal(0.0, POSITION_NOISE, (len(signal), signal.shape[1], 3)).astype(np.float32)
        places = given["positions"] + torch.from_numpy(noise).to(signal.device)
        hidden = torch.from_numpy(masks).to(signal.device)
        made = self.module.loss(signal, places, hidden, given["missing"])  # type: ignore[operator]
        facts = {"reconstruction": float(made.reconstruction.detach()), "auxiliary": float(made.auxiliary.detach())}
        return Loss(made.total, facts)


class Reconstruction(Objective):
    """PRiSE-EEG: forecast, hidden times and hidden channels in turn, with the experts' balance (spec section 8)."""

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        return _reconstruction_loss(self.model, self.arguments(batch), step, rng)


class SpectralCodes(Objective):
    """NeurDuo's tokenizer: spectra to codes and back (paper eqs. 1 and 2)."""

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        given = self.arguments(batch)
        terms = tokenizer_loss(self.model, given["chunks"], given["missing"], int(rng.integers(2**31)))
        return Loss(terms["total"], {name: float(value.detach()) for name, value in terms.items() if name != "total"})


class NextCode(Objective):
    """NeurDuo: the code of the next half second (paper eq. 12); the tokenizer stays as it is."""

    def __init__(self, recipe: Recipe, feeder: Feeder, model: Any, tokenizer: Any) -> None:
        super().__init__(recipe, feeder, model)
        if tokenizer.config.codebook_size != model.config.codebook_size:
            raise AnalysisError(
                f"the tokenizer has {tokenizer.config.codebook_size} codes and the model predicts "
                f"{model.config.codebook_size} ({recipe.objective.tokenizer}): make model.config.codebook_size equal"
            )
        self.tokenizer = tokenizer.requires_grad_(False)

    def loss(self, batch: Batch, step: int, rng: np.random.Generator) -> Loss:
        given = self.arguments(batch)
        value, right = next_code_loss(self.model, self.tokenizer, **given)
        return Loss(value, {"accuracy": float(right)})


def _reconstruction_loss(model: Any, given: Mapping[str, Any], step: int, rng: np.random.Generator) -> Loss:
    """PRiSE-EEG's loss of the task whose turn it is."""
    signal, index = given["signal"], model.index(given["channels"])
    task = _TASKS[step % len(_TASKS)]
    shape = (len(signal), signal.shape[-1] // model.config.patch_size, signal.shape[1])
    hidden = draw_hidden(task, shape, _generator(rng)).to(signal.device)
    value = pretraining_loss(model, signal, index, task, hidden)
    return Loss(value, {task: float(value.detach()) / TASK_WEIGHTS[task]})


def _generator(rng: np.random.Generator) -> torch.Generator:
    """Random numbers of torch that follow from those of numpy."""
    return torch.Generator().manual_seed(int(rng.integers(2**31)))
