"""Reads a checkpoint safely, recognises its family, loads it strictly; writes our own container.

A family's `loading` module gives: `looks_like(names)`, `resolve(base, head, given, stated)` (how files make a model,
with `config`, `take`, `notes`, names and counts, or a
CheckpointError), `weights(resolution)`, `published_state(state, config)`,
`preprocessing(config)` with its `WINDOW_FIELDS`, `labels(config)` and `size_name(config)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import CheckpointError
from models.families import MODELS, Checkpoint, ModelSpec
from models.known_weights import RANDOM_WEIGHTS
from models.tensor_file import ConfigFile, TensorFile, open_tensor_file, read_config_file
from models.whole_files import whole_file

if TYPE_CHECKING:
    import torch

FORMAT = "cerebroscope/1"
CONFIG_NAMES = ("config.json", "tiny_config.json")
RANDOM_NOTE = "These are random weights, not trained ones: what the model says means nothing."


@dataclass(frozen=True)
class _Opened:
    """A checkpoint whose files were read, recognised and found to fit together."""

    spec: ModelSpec
    base: TensorFile
    head: TensorFile | None
    resolution: Any
    facts: Checkpoint


def load(
    path: str | PathLike[str],
    head: str | PathLike[str] | None = None,
    device: str | torch.device = "cpu",
    config: str | PathLike[str] | None = None,
) -> torch.nn.Module:
    """The model of `models.registry.load_model`."""
    import torch

    opened = _open(path, head, config)
    with torch.device("meta"):
        model = opened.spec.build(opened.resolution.config)
    model.load_state_dict(opened.spec.loading_rules().weights(opened.resolution), strict=True, assign=True)
    return _finish(model, opened.facts, device)


def initialise(spec: ModelSpec, config: Any, seed: int, device: str | torch.device) -> torch.nn.Module:
    """The model of `models.registry.untrained_model`."""
    import torch

    rules = spec.loading_rules()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = spec.build(config)
    n_params = sum(parameter.numel() for parameter in model.parameters())
    facts = Checkpoint(
        path=None,
        sha256=None,
        model_name=spec.name,
        config=config,
        n_params=n_params,
        n_params_used=n_params,
        size=rules.size_name(config),
        labels=rules.labels(config),
        preprocessing=rules.preprocessing(config),
        notes=(RANDOM_NOTE,),
        random_weights=True,
    )
    return _finish(model, facts, device)


def describe(
    path: str | PathLike[str], head: str | PathLike[str] | None = None, config: str | PathLike[str] | None = None
) -> dict[str, Any]:
    """What `inspect` reports, ready for JSON, without building the model; raises CheckpointError as loading does.

    `keys` lists names the files have or lack without harm; `parameters` counts by part of the model. Weights are read
    one by one to see that they are finite numbers, and not kept.
    """
    opened = _open(path, head, config)
    facts, resolution = opened.facts, opened.resolution
    for name, file in resolution.take.items():
        file.read_weights(name)
    used = {file.dtypes[name] for name, file in resolution.take.items()}
    return {
        "path": str(facts.path),
        "sha256": facts.sha256,
        "head": str(facts.head_path) if facts.head_path else None,
        "head_sha256": facts.head_sha256,
        "format": FORMAT if opened.base.is_container else f"published {opened.spec.title}, {opened.base.format}",
        "family": facts.model_name,
        "title": opened.spec.title,
        "size": facts.size,
        "config": json.loads(json.dumps(asdict(facts.config))),
        "n_params": facts.n_params,
        "n_params_used": facts.n_params_used,
        "parameters": dict(resolution.parameters),
        "dtype": ", ".join(sorted(used)),
        "keys": {
            "used": len(resolution.take),
            "missing": list(resolution.missing),
            "unknown": list(resolution.unknown),
            "unused": list(resolution.unused),
        },
        **resolution.details,
        "labels": list(facts.labels),
        "preprocessing": dict(facts.preprocessing),
        "card": dict(facts.card),
        "random_weights": facts.random_weights,
        "notes": list(facts.notes),
    }


def configs_beside(path: Path) -> tuple[Path, ...]:
    """Where configuration files beside a checkpoint would lie; the first that is there counts."""
    return tuple(path.parent / name for name in CONFIG_NAMES)


def save_container(
    model: torch.nn.Module,
    path: str | PathLike[str],
    card: Mapping[str, Any] | None = None,
    preprocessing: Mapping[str, Any] | None = None,
    labels: Iterable[str] | None = None,
) -> None:
    """Write a model to one .safetensors file that states everything needed to use it.

    What is not given is taken from the model's own checkpoint. The file appears whole or not at all; a failure to
    write is a CheckpointError.
    """
    from safetensors.torch import save

    spec = MODELS[str(model.family)]
    rules = spec.loading_rules()
    facts = model.checkpoint if isinstance(model.checkpoint, Checkpoint) else None
    card = dict(card if card is not None else facts.card if facts else {})
    if facts and facts.random_weights:
        card.setdefault("trained", False)
    if preprocessing is None:
        preprocessing = facts.preprocessing if facts else rules.preprocessing(model.config)
    if labels is None:
        labels = facts.labels if facts else rules.labels(model.config)
    metadata = {
        "format": FORMAT,
        "family": spec.name,
        "config": json.dumps(asdict(model.config)),  # type: ignore[call-overload]
        "preprocessing": json.dumps(dict(preprocessing)),
        "labels": json.dumps(list(labels)),
        "card": json.dumps(card),
    }
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    content = save(rules.published_state(state, model.config), metadata)
    try:
        with whole_file(Path(path)) as file:
            file.write(content)
    except OSError as error:
        raise CheckpointError(
            f"the checkpoint cannot be written, {error.strerror or error} ({path}): "
            "check the folder, its permissions and the space on the disk"
        ) from error


def rewrite_card(path: str | PathLike[str], card: Mapping[str, Any]) -> None:
    """Give one of our checkpoints another card; the bytes of its weights and the rest of its header stay as they are.

    The file is replaced whole or not at all. CheckpointError for a file that is not ours or cannot be written.
    """
    path = Path(path)
    if not open_tensor_file(path).is_container:
        raise CheckpointError(f"only a checkpoint of this program has a card ({path}): choose one of those")
    try:
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        header["__metadata__"]["card"] = json.dumps(dict(card))
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes
        with whole_file(path) as file:
            file.write(len(text).to_bytes(8, "little") + text + content[8 + length :])
    except OSError as error:
        raise CheckpointError(
            f"the checkpoint cannot be written, {error.strerror or error} ({path}): "
            "check the folder, its permissions and the space on the disk"
        ) from error


def _open(path: Any, head: Any, config: Any) -> _Opened:
    """Read the files, find their family and decide how they make a model."""
    base = open_tensor_file(Path(path))
    spec = _recognise(base)
    head_file = open_tensor_file(Path(head)) if head is not None else None
    if head_file and _recognise(head_file) is not spec:
        raise CheckpointError(f"this head is not for an {spec.title} ({head_file.path}): choose a head of its family")
    stated = _metadata(base, "config", dict) if base.is_container else None
    given = _config_file(base, config)
    resolution = spec.loading_rules().resolve(base, head_file, given, stated)
    return _Opened(spec, base, head_file, resolution, _facts(spec, base, head_file, resolution))


def _recognise(file: TensorFile) -> ModelSpec:
    """The family of a file, by its header or by its names."""
    if file.is_container:
        if file.metadata["format"] != FORMAT:
            raise CheckpointError(
                f"this checkpoint has the format {file.metadata['format']}, not {FORMAT} ({file.path}): "
                "open it with the version of the program that wrote it"
            )
        family = file.metadata.get("family", "")
        if family in MODELS:
            return MODELS[family]
        raise _foreign(file, f'"{family}"')
    for spec in MODELS.values():
        if spec.loading_rules().looks_like(file.shapes):
            return spec
    inner = next((name.split(".")[0] for name in file.shapes if ".mvpformer." in name), None)
    if inner:
        raise CheckpointError(
            f'this is a training state that keeps its weights under "{inner}" ({file.path}): '
            "save that table alone, as the published files have it"
        )
    raise CheckpointError(
        f"this holds weights of no family that this program knows, first {next(iter(file.shapes))} ({file.path}): "
        f"choose a checkpoint of {_titles()}"
    )


def _foreign(file: TensorFile, title: str) -> CheckpointError:
    return CheckpointError(
        f"this looks like a checkpoint of {title}, which cannot be read here ({file.path}): "
        f"choose a checkpoint of {_titles()}"
    )


def _titles() -> str:
    return " or ".join(spec.title for spec in MODELS.values())


def _config_file(base: TensorFile, config: Any) -> ConfigFile | None:
    """The configuration file that was asked for, else one beside an official checkpoint."""
    if config is not None:
        return read_config_file(Path(config), asked_for=True)
    if base.is_container:
        return None
    return next((read_config_file(path, asked_for=False) for path in configs_beside(base.path) if path.is_file()), None)


def _metadata(file: TensorFile, name: str, kind: type) -> Any:
    """One JSON value of a container's header."""
    try:
        value = json.loads(file.metadata[name])
    except (KeyError, ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise CheckpointError(
            f'its header has no readable "{name}" ({file.path}): open it with the version that wrote it'
        )
    return value


def _facts(spec: ModelSpec, base: TensorFile, head: TensorFile | None, resolution: Any) -> Checkpoint:
    """The facts of an opened checkpoint."""
    rules, config = spec.loading_rules(), resolution.config
    preprocessing, labels, card = rules.preprocessing(config), rules.labels(config), {}
    source = head if head and head.is_container else base
    if source.is_container:
        card = _metadata(source, "card", dict)
        stated = _metadata(source, "preprocessing", dict)
        # A window changed by a configuration file is the one that counts.
        preprocessing = stated | {name: preprocessing[name] for name in rules.WINDOW_FIELDS}
        labels = tuple(_metadata(source, "labels", list)) if labels else ()
    digests = {file.sha256 for file in (base, head) if file}
    random_weights = bool(digests & RANDOM_WEIGHTS) or card.get("trained") is False
    return Checkpoint(
        path=base.path,
        sha256=base.sha256,
        model_name=spec.name,
        config=config,
        n_params=resolution.n_params,
        n_params_used=resolution.n_params_used,
        size=rules.size_name(config),
        head_path=head.path if head else None,
        head_sha256=head.sha256 if head else None,
        labels=labels,
        preprocessing=preprocessing,
        card=card,
        notes=(*_training_notes(random_weights, card, resolution.published_size), *resolution.notes),
        random_weights=random_weights,
    )


def _training_notes(random_weights: bool, card: Mapping[str, Any], published_size: bool) -> Iterable[str]:
    """What is known of the training, where a reader has to know."""
    if random_weights:
        yield RANDOM_NOTE
    elif not published_size and "trained" not in card:
        yield "Training not stated: this is not a published size, and the file does not say how it was trained."


def _finish(model: torch.nn.Module, facts: Checkpoint, device: str | torch.device) -> torch.nn.Module:
    model.checkpoint = facts  # type: ignore[assignment]
    return model.to(device).eval()
