"""How published files, or our container, make one NeurDuo-EEG; what `models.checkpoint` asks of this family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import CheckpointError
from models.neurduo import published_config
from models.neurduo.checkpoint_map import (
    BACKBONE_PREFIXES,
    CONTEXT_PREFIX,
    PARTS,
    READOUT_PREFIXES,
    is_head,
    local_name,
    looks_like,
    part,
    shapes,
    size,
)
from models.neurduo.config import PUBLISHED_SIZES, HeadConfig, NeurDuoConfig, size_name
from models.tensor_file import ConfigFile, TensorFile, read_config_file

if TYPE_CHECKING:
    import torch

__all__ = [
    "Resolution",
    "labels",
    "looks_like",
    "part",
    "preprocessing",
    "published_state",
    "resolve",
    "size_name",
    "weights",
]

WINDOW_FIELDS = ("window_seconds",)
HEAD_CONFIG_NAMES = ("config.json", "tiny_config.json")
PRETRAINING_STEPS = 64
_SIGN = "signal_patch_encoder.proj.weight"


@dataclass(frozen=True)
class Resolution:
    """How files make a model: its configuration, and where each tensor comes from.

    `sources` maps a published name to its file and its name there; `take` maps that name to the file. `unused` are
    names without a part in the model, `notes` what a person should know.
    """

    config: NeurDuoConfig
    sources: Mapping[str, tuple[TensorFile, str]]
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    n_params: int = 0
    n_params_used: int = 0
    parameters: Mapping[str, int] = field(default_factory=dict)
    published_size: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def take(self) -> dict[str, TensorFile]:
        """Name in its file -> file, of everything that is used."""
        return {name: file for file, name in self.sources.values()}


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how the files make one model, or refuse them with a CheckpointError.

    `given` is a configuration file, `stated` the configuration in a container's header.
    """
    if is_head(base.shapes):
        raise CheckpointError(
            f"this is a classification head without its backbone ({base.path}): "
            "give the backbone as the checkpoint and this file as its head"
        )
    prefix = _backbone_prefix(base)
    if head and not is_head(head.shapes):
        raise CheckpointError(
            f"this head file holds a whole model ({head.path}): give it as the checkpoint, without a head"
        )
    backbone = {name.removeprefix(prefix): name for name in base.shapes if name.startswith(prefix)}
    backbone = {name: own for name, own in backbone.items() if _is_backbone(name)}
    config, notes = _find_config(base, backbone, given, stated)
    sources = {name: (base, own) for name, own in backbone.items()}
    head_file = head or base
    parts = _head_parts(head_file)
    if parts:
        found, told = _find_head(head_file, parts, given, config if stated is not None and head is None else None)
        config, notes = replace(config, head=found), (*notes, *told)
        readout = {
            f"st_head.{name}" if not name.startswith(CONTEXT_PREFIX) else name: own for name, own in parts.items()
        }
        sources |= {name: (head_file, own) for name, own in readout.items()}
    else:
        config = replace(config, head=None)
    expected = shapes(config)
    _check(base, head, sources, expected)
    sources = {name: sources[name] for name in expected}
    return _describe(Resolution(config, sources, notes=notes), base, head)


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name here -> float32 tensor, one for every parameter of the model."""
    return {local_name(name): file.read_weights(own) for name, (file, own) in resolution.sources.items()}


def published_state(state: Mapping[str, torch.Tensor], config: NeurDuoConfig) -> dict[str, torch.Tensor]:
    """A model's state under the published names, for the container."""
    return {name: state[local_name(name)] for name in shapes(config)}


def preprocessing(config: NeurDuoConfig) -> dict[str, Any]:
    """The signal the model was trained on (paper section 4.1 and appendix A.1).

    Kind and order of the filter and the notch are not published: a Butterworth band of fourth order without phase
    shift, and the mains frequency of the recording, are ours. Fine-tuning data were not filtered.
    """
    head = config.head
    stated = {"sampling_rate": config.sampling_rate_hz, "reference": "none", "unit": "uV", "order": 4}
    chunk = {"chunk_seconds": config.step_seconds}
    if head is None:
        window = PRETRAINING_STEPS * config.step_seconds
        return {**stated, "highpass": 0.5, "lowpass": 75.0, "notch": "mains", "normalisation": "window"} | {
            **chunk,
            "window_seconds": window,
        }
    unit = head.unit_steps * config.step_seconds
    window = unit * (head.context_units if head.normalisation == "sequence" else 1)
    open_band = {"highpass": None, "lowpass": None, "notch": None}
    return {**stated, **open_band, "normalisation": head.normalisation, **chunk, "unit_seconds": unit} | {
        "window_seconds": window
    }


def labels(config: NeurDuoConfig) -> tuple[str, ...]:
    """Names of the classes; empty without a fine-tuned head."""
    return published_config.default_labels(config.head) if config.head else ()


def _backbone_prefix(base: TensorFile) -> str:
    """What the backbone's names begin with in a file; CheckpointError where the file has no backbone."""
    for prefix in BACKBONE_PREFIXES:
        if prefix + _SIGN in base.shapes:
            return prefix
    raise CheckpointError(
        f"this NeurDuo-EEG lacks {_SIGN} ({base.path}): choose a complete checkpoint, such as latest.pt or best.pt"
    )


def _is_backbone(name: str) -> bool:
    """Whether a published name is one of the backbone and its prediction head."""
    prefixes = [prefix for title, group in PARTS.items() if title != "classification head" for prefix in group]
    return name.startswith(tuple(prefixes))


def _head_parts(file: TensorFile) -> dict[str, str]:
    """Name without the readout's prefix -> name in the file, of a fine-tuned head; empty where there is none."""
    prefix = next((prefix for prefix in READOUT_PREFIXES if f"{prefix}mlp.1.weight" in file.shapes), None)
    if prefix is None:
        return {}
    named = {name.removeprefix(prefix): name for name in file.shapes if name.startswith(prefix)}
    return named | {name: name for name in file.shapes if name.startswith(CONTEXT_PREFIX)}


def _find_config(
    base: TensorFile, backbone: Mapping[str, str], given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> tuple[NeurDuoConfig, tuple[str, ...]]:
    """The architecture: of a configuration file that was asked for, the file's own, one beside it, or by its shapes."""
    asked = _read_model(given) if given and given.asked_for else None
    if asked is not None and given is not None:
        return _with_predictor(asked, backbone), (f"Sizes are those of {given.path.name}.",)
    if stated is not None:
        try:
            return NeurDuoConfig.from_dict(stated), ()
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"its header does not describe a NeurDuo-EEG, {error} ({base.path}): "
                "open it with the version that wrote it, or convert it again"
            ) from error
    own = {name.removeprefix("config.model."): value for name, value in base.extras.items() if "config.model." in name}
    if own:
        return _with_predictor(_read_own(own, base), backbone), _training_notes(base)
    known = published_config.recognise({name: base.shapes[own_name] for name, own_name in backbone.items()})
    if known is not None:
        return known, ("Sizes are recognised by their shapes; those without one are the published values.",)
    beside = _read_model(given) if given and not given.asked_for else None
    if beside is not None and given is not None:
        return _with_predictor(beside, backbone), (f"Sizes are those of {given.path.name}.",)
    raise CheckpointError(
        f"this NeurDuo-EEG has none of the published sizes {', '.join(PUBLISHED_SIZES)} and does not state its own "
        f"({base.path}): put its config.json beside it or give one with --config"
    )


def _with_predictor(config: NeurDuoConfig, backbone: Mapping[str, str]) -> NeurDuoConfig:
    return replace(config, has_predictor=any(name.startswith("future_latent_predictor.") for name in backbone))


def _read_own(values: Mapping[str, Any], base: TensorFile) -> NeurDuoConfig:
    try:
        return NeurDuoConfig.from_published(values)
    except (ValueError, TypeError) as error:
        raise CheckpointError(
            f"its configuration does not describe a NeurDuo-EEG, {error} ({base.path}): give one with --config"
        ) from error


def _read_model(given: ConfigFile) -> NeurDuoConfig | None:
    """The architecture in a configuration file; one that merely lies beside the checkpoint may be of another kind."""
    try:
        return published_config.read_model(given.values)
    except (ValueError, TypeError) as error:
        if not given.asked_for:
            return None
        raise CheckpointError(
            f"this file does not describe a NeurDuo-EEG, {error} ({given.path}): correct it or give another"
        ) from error


def _training_notes(base: TensorFile) -> tuple[str, ...]:
    step = base.extras.get("global_step")
    if not any(name.startswith("optimizer.") for name in base.shapes):
        return ()
    return (f"The file is a training state after {step} updates; only its weights are used.",)


def _find_head(
    file: TensorFile, parts: Mapping[str, str], given: ConfigFile | None, stated: NeurDuoConfig | None
) -> tuple[HeadConfig, tuple[str, ...]]:
    """What a fine-tuned head reads: as stated, as a configuration says, or as of a published task."""
    if stated is not None and stated.head is not None:
        return stated.head, ()
    tensors = {name: file.shapes[own] for name, own in parts.items()}
    try:
        for config in _head_configs(file, given):
            if head := published_config.read_head(config.values, tensors, _STEP_SECONDS):
                return head, (f"Channels and units of the head are those of {config.path.name}.",)
        known = published_config.recognise_head(tensors)
    except (KeyError, ValueError, TypeError, ZeroDivisionError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise CheckpointError(
            f"this head cannot be made out, {what} ({file.path}): give the configuration that belongs to it"
        ) from error
    if known is None:
        raise CheckpointError(
            f"nothing says which channels this head reads ({file.path}): put a config.json with its channels and "
            "seg_sec beside it or give one with --config"
        )
    return known[0], (f"Channels and units of the head are those of the published task {known[1]}, by its size.",)


_STEP_SECONDS = 0.5


def _head_configs(file: TensorFile, given: ConfigFile | None) -> Iterable[ConfigFile]:
    """Configuration files that may speak of the head: the one asked for, then those beside the head."""
    if given is not None and given.asked_for:
        yield given
    for name in HEAD_CONFIG_NAMES:
        path = Path(file.path).parent / name
        if path.is_file():
            yield read_config_file(path, asked_for=False)


def _check(
    base: TensorFile,
    head: TensorFile | None,
    sources: Mapping[str, tuple[TensorFile, str]],
    expected: Mapping[str, tuple[int, ...]],
) -> None:
    """Refuse missing names, unknown ones, and the first tensor of another shape or of a type that holds no weights."""
    if missing := [name for name in expected if name not in sources]:
        file = head if head and all(part(name) == "classification head" for name in missing) else base
        raise CheckpointError(
            f"this checkpoint lacks {_listed(missing)} ({file.path}): "
            "choose a complete NeurDuo-EEG file, or the configuration that belongs to it"
        )
    if unknown := [name for name in sources if name not in expected]:
        file = sources[unknown[0]][0]
        raise CheckpointError(
            f"this checkpoint has names that its NeurDuo-EEG does not know, {_listed(unknown)} ({file.path}): "
            "choose the configuration that belongs to it"
        )
    for name, shape in expected.items():
        file, own = sources[name]
        if file.shapes[own] != shape:
            raise CheckpointError(
                f"{own} has the shape {file.shapes[own]}, but its configuration asks for {shape} ({file.path}): "
                "give the configuration or the head that belongs to this file"
            )
        if not file.dtypes[own].startswith(("float", "bfloat")):
            raise CheckpointError(
                f"{own} holds {file.dtypes[own]} values, not weights ({file.path}): choose a NeurDuo-EEG file"
            )


def _describe(resolution: Resolution, base: TensorFile, head: TensorFile | None) -> Resolution:
    """Add to a resolution what a person should know of it."""
    expected = shapes(resolution.config)
    counts = dict.fromkeys(PARTS, 0)
    for name, shape in expected.items():
        counts[part(name)] += size(shape)
    taken = set(resolution.take)
    idle = [name for file in (base, head) if file for name in file.shapes if name not in taken]
    idle = [name for name in idle if not name.startswith("optimizer.")]
    total = sum(counts.values())
    notes = list(resolution.notes)
    if idle:
        notes.append(f"{len(idle)} entries of the file take no part in the model: {_listed(idle)}.")
    fine_tuned = resolution.config.head
    return replace(
        resolution,
        unused=tuple(idle),
        notes=tuple(notes),
        n_params=total,
        n_params_used=total,
        parameters={title: count for title, count in counts.items() if count},
        published_size=size_name(resolution.config) in PUBLISHED_SIZES,
        details={"backbone_params": total - counts["prediction head"] - counts["classification head"]}
        | ({"channels": list(fine_tuned.channels)} if fine_tuned else {}),
    )


def _listed(names: Iterable[str], limit: int = 5) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
