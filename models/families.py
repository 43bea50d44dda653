"""The families of models there are, and the facts of a loaded checkpoint; torch comes in only when one is built."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from models.axon.config import AxonConfig
from models.mvpformer.config import MVPFormerConfig
from models.neurduo.config import NeurDuoConfig, TokenizerConfig
from models.prise.config import PriseConfig

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class InputSpec:
    """What a model is fed: rate in Hz, samples per piece, channel names (None for any), and how values are scaled."""

    sfreq: float
    n_times: int
    ch_names: tuple[str, ...] | None
    normalisation: str


@dataclass(frozen=True)
class ModelSpec:
    """One model family.

    `network` ("module:class", built from a `config`) and `loading` (the module that knows the family's files; what it
    has to have stands in `models.checkpoint`) are names, so that this table costs no import.
    `capabilities` are the kinds of analysis the interface may offer, in the vocabulary of the command line.
    """

    name: str
    title: str
    config: type[Any]
    network: str
    loading: str
    input: InputSpec
    capabilities: frozenset[str]

    def build(self, config: Any) -> torch.nn.Module:
        """A network of this configuration with the weights training starts from."""
        module, _, name = self.network.partition(":")
        network: torch.nn.Module = getattr(importlib.import_module(module), name)(config)
        return network

    def loading_rules(self) -> ModuleType:
        """The module that knows the family's files."""
        return importlib.import_module(self.loading)


@dataclass(frozen=True)
class Checkpoint:
    """Facts about where a model's weights come from, not the weights.

    `path` and `sha256` are None without a file; the `head_` fields without a head file. `config` is the model's
    configuration dataclass, `size` its name ("S", "M", "tiny", "other"). `n_params` counts the parameters in the
    files, `n_params_used` those that take part. `preprocessing` says what signal it was trained on, `card` what its
    makers say of it. `notes` are sentences a reader should know: names ignored or missing, rules applied.
    `random_weights` must be said wherever the output is drawn.
    """

    path: Path | None
    sha256: str | None
    model_name: str
    config: Any
    n_params: int
    n_params_used: int
    size: str
    head_path: Path | None = None
    head_sha256: str | None = None
    labels: tuple[str, ...] = ()
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    random_weights: bool = False

    @property
    def has_classifier(self) -> bool:
        """Whether the model gives logits."""
        return bool(self.labels)

    @property
    def asked_for(self) -> str:
        """The file, or the name that a model without one goes by."""
        return str(self.path or self.card.get("name") or self.model_name)

    @property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each file, base first: what a stored result is keyed by; without a file the name it goes by."""
        named = (str(self.card["name"]),) if not self.sha256 and "name" in self.card else ()
        return (*named, *(digest for digest in (self.sha256, self.head_sha256) if digest))


MODELS: Mapping[str, ModelSpec] = {
    "mvpformer": ModelSpec(
        name="mvpformer",
        title="MVPFormer",
        config=MVPFormerConfig,
        network="models.mvpformer.model:MVPFormer",
        loading="models.mvpformer.loading",
        input=InputSpec(sfreq=512.0, n_times=2560, ch_names=None, normalisation="none, microvolts"),
        capabilities=frozenset(
            {
                "seizure",
                "channel-map",
                "attention",
                "prediction",
                "embedding",
                "cka",
                "effective-rank",
                "integrated-gradients",
                "sanity-checks",
                "grad-cam",
                "occlusion",
                "group-attribution",
            }
        ),
    ),
    "axon": ModelSpec(
        name="axon",
        title="AXON",
        config=AxonConfig,
        network="models.axon.model:Axon",
        loading="models.axon.loading",
        input=InputSpec(sfreq=200.0, n_times=2000, ch_names=None, normalisation="z-score per channel and window"),
        capabilities=frozenset(
            {
                "seizure",
                "gates",
                "gate-interventions",
                "lesion",
                "relation-mass",
                "attention",
                "embedding",
                "cka",
                "effective-rank",
                "integrated-gradients",
                "sanity-checks",
                "grad-cam",
                "occlusion",
            }
        ),
    ),
    "neurduo": ModelSpec(
        name="neurduo",
        title="NeurDuo-EEG",
        config=NeurDuoConfig,
        network="models.neurduo.model:NeurDuo",
        loading="models.neurduo.loading",
        input=InputSpec(sfreq=256.0, n_times=128, ch_names=None, normalisation="mean per channel, one scale for all"),
        capabilities=frozenset(
            {
                "seizure",
                "streams",
                "timescales",
                "memory",
                "stages",
                "embedding",
                "cka",
                "effective-rank",
                "integrated-gradients",
                "sanity-checks",
                "grad-cam",
                "occlusion",
            }
        ),
    ),
    "neurduo-tokenizer": ModelSpec(
        name="neurduo-tokenizer",
        title="NeurDuo-EEG tokenizer",
        config=TokenizerConfig,
        network="models.neurduo.tokenizer:SpectralTokenizer",
        loading="models.neurduo.tokenizer_loading",
        input=InputSpec(sfreq=256.0, n_times=128, ch_names=None, normalisation="mean per channel, one scale for all"),
        capabilities=frozenset(),
    ),
    "prise-eeg": ModelSpec(
        name="prise-eeg",
        title="PRiSE-EEG",
        config=PriseConfig,
        network="models.prise.model:Prise",
        loading="models.prise.loading",
        input=InputSpec(sfreq=256.0, n_times=2560, ch_names=None, normalisation="z-score per channel and window"),
        capabilities=frozenset(
            {
                "seizure",
                "experts",
                "group-attribution",
                "group-interventions",
                "dynamic-groups",
                "gradient-geometry",
                "embedding",
                "cka",
                "effective-rank",
                "integrated-gradients",
                "sanity-checks",
                "grad-cam",
                "occlusion",
            }
        ),
    ),
}
