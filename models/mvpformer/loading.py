"""How published files, or our container, make one MVPFormer; what `models.checkpoint` asks of this family.

The rules are those of the published loaders, so that a pair of files gives the model its makers evaluated; where
these go on with random weights or fail without a reason, ours refuse in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from models.errors import CheckpointError
from models.mvpformer import published_config
from models.mvpformer.checkpoint_map import (
    CLASS_WEIGHTS,
    ENCODER_NORM,
    HEAD,
    PARTS,
    UNUSED_BUFFERS,
    local_name,
    looks_like,
    part,
    size,
    unused_names,
    used_shapes,
)
from models.mvpformer.config import PUBLISHED_SIZES, MVPFormerConfig, Task, size_name
from models.mvpformer.lora import is_folded
from models.tensor_file import ConfigFile, TensorFile

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

DEFAULT_LORA_RANK = 8
WINDOW_FIELDS = ("n_segments", "window_seconds")
LABELS = ("background", "seizure")


@dataclass(frozen=True)
class Resolution:
    """How files make a model: its configuration, which file each published name is taken from, and what to tell.

    `take` maps a published name to the file that has it; the names in `ones` are filled with ones instead. `missing`,
    `unknown` and `unused` are the harmless ones: a harmful one was refused. `details` is what only this family has.
    """

    config: MVPFormerConfig
    take: Mapping[str, TensorFile]
    ones: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    lora_folded: str = "no"
    n_params: int = 0
    n_params_used: int = 0
    parameters: Mapping[str, int] = field(default_factory=dict)
    published_size: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


def resolve(
    base: TensorFile, head: TensorFile | None, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> Resolution:
    """Decide how the files make one model, or refuse them with a CheckpointError.

    `given` is a configuration file, `stated` the configuration in a container's header.
    """
    _check_roles(base, head)
    official = stated is None
    config, notes = _find_config(base, given, stated)
    if head or official:
        config = replace(config, task=_task(config, base, head))
    has_lora = any(".lora_" in name for file in (base, head) if file for name in file.shapes)
    config = replace(config, lora_rank=(config.lora_rank or DEFAULT_LORA_RANK) if has_lora else 0)
    expected, unused = used_shapes(config), unused_names(config)
    ones = (ENCODER_NORM,) if official and config.task == "generation" else ()

    optional = _optional_in_base(expected, base, head, ones)
    _check_names(base, [name for name in expected if name not in optional], {*expected, *unused})
    _check_shapes(base, expected, skip={HEAD} if head else set())
    if head:
        _check_head(head, expected, unused)
        _check_shapes(head, expected)
    take = {name: head if head and name in head.shapes else base for name in expected if name not in ones}
    resolution = _settle_folding(Resolution(config, take, ones), base)
    return _describe(resolution, base, head, official, notes)


def weights(resolution: Resolution) -> dict[str, torch.Tensor]:
    """Name here -> float32 tensor, one for every parameter of the model."""
    import torch

    state = {local_name(name): file.read_weights(name) for name, file in resolution.take.items()}
    for name in resolution.ones:
        state[local_name(name)] = torch.ones(used_shapes(resolution.config)[name])
    return state


def published_state(state: Mapping[str, torch.Tensor], config: MVPFormerConfig) -> dict[str, torch.Tensor]:
    """A model's state under the published names, for the container."""
    return {name: state[local_name(name)] for name in used_shapes(config)}


def preprocessing(config: MVPFormerConfig) -> dict[str, Any]:
    """The signal the published models were trained on (paper section 4), at this configuration's window."""
    return {
        "sampling_rate": config.sampling_rate_hz,
        "highpass": 0.5,
        "lowpass": 120.0,
        "order": 4,
        "reference": "median",
        "unit": "uV",
        "normalisation": "none",
        "segment_seconds": config.segment_seconds,
        "n_segments": config.n_segments,
        "window_seconds": config.n_segments * config.segment_seconds,
        "stride_seconds": config.segment_seconds,
    }


def labels(config: MVPFormerConfig) -> tuple[str, ...]:
    """Names of the classes; empty for a generative model."""
    if config.task == "generation":
        return ()
    return LABELS if config.n_classes == 2 else tuple(f"class {i}" for i in range(config.n_classes))


def _is_head_only(file: TensorFile) -> bool:
    """Whether a file has a head or LoRA matrices but no base weights."""
    return all(".lora_" in name or name in (HEAD, CLASS_WEIGHTS) for name in file.shapes)


def _check_roles(base: TensorFile, head: TensorFile | None) -> None:
    """Refuse a head without its base, however the two were given."""
    if not _is_head_only(base):
        return
    if head and not _is_head_only(head):
        raise CheckpointError(f"this is a head file, given as the base ({base.path}): swap the two files")
    raise CheckpointError(
        f"this is a classification head without its base model ({base.path}): "
        "give the base file as the checkpoint and this one as its head"
    )


def _find_config(
    base: TensorFile, given: ConfigFile | None, stated: Mapping[str, Any] | None
) -> tuple[MVPFormerConfig, tuple[str, ...]]:
    """The configuration, stated or recognised by shapes, with a configuration file on top; and what to tell of it."""
    known = _stated_config(base, stated) if stated is not None else published_config.recognise(base.shapes)
    if given is not None:
        try:
            config = published_config.read(given.values, known)
        except (ValueError, TypeError, ArithmeticError) as error:
            if known is None or given.asked_for:
                raise CheckpointError(
                    f"this file does not describe an MVPFormer, {error} ({given.path}): correct it or give another"
                ) from error
            return known, (f"{given.path.name} beside the checkpoint is of another kind and was not used.",)
        if stated is not None or published_config.states_window(given.values):
            return config, (f"Sizes are those of {given.path.name}.",)
        return config, (f"Sizes are those of {given.path.name}.", _assumed_window(config))
    if known is None:
        raise CheckpointError(
            f"this MVPFormer has neither of the published sizes {' and '.join(PUBLISHED_SIZES)} and does not state "
            f"its own ({base.path}): put its config.json beside it or give one with --config"
        )
    return known, () if stated is not None else (_assumed_window(known),)


def _stated_config(base: TensorFile, stated: Mapping[str, Any]) -> MVPFormerConfig:
    """The configuration in a container's header."""
    try:
        return MVPFormerConfig.from_dict(stated)
    except (ValueError, TypeError) as error:
        raise CheckpointError(
            f"its header does not describe an MVPFormer, {error} ({base.path}): "
            "open it with the version that wrote it, or convert it again"
        ) from error


def _assumed_window(config: MVPFormerConfig) -> str:
    """What to tell where nothing says how many segments the model was trained with."""
    return (
        f"The number of segments it was trained with is not stated; {config.n_segments} is taken, as in the published "
        "example configurations (the paper says 100). A config.json with n_segments changes it."
    )


def _task(config: MVPFormerConfig, base: TensorFile, head: TensorFile | None) -> Task:
    """What a model is for: classification with a head file, else what the base file's own head says."""
    outputs = base.shapes.get(HEAD, (config.n_embd,))[:1]
    return "classification" if head or outputs == (config.n_classes,) else "generation"


def _optional_in_base(
    expected: Mapping[str, Any], base: TensorFile, head: TensorFile | None, ones: tuple[str, ...]
) -> set[str]:
    """Names of `expected` that a base file may lack because they come from elsewhere."""
    optional = set(ones)
    if head:
        base_has_lora = any(".lora_" in name for name in base.shapes)
        optional |= {HEAD} | {name for name in expected if ".lora_" in name and not base_has_lora}
    return optional


def _check_names(file: TensorFile, required: Iterable[str], known: set[str]) -> None:
    """Refuse a file that lacks a required name or has an unknown one."""
    missing = [name for name in required if name not in file.shapes]
    if missing:
        raise CheckpointError(
            f"this checkpoint lacks {_listed(missing)} ({file.path}): "
            "choose a complete MVPFormer file, or the configuration that belongs to it"
        )
    unknown = [name for name in file.shapes if name not in known]
    if unknown:
        raise CheckpointError(
            f"this checkpoint has names that its MVPFormer does not know, {_listed(unknown)} ({file.path}): "
            "choose a file that holds an MVPFormer and nothing else, or the configuration that belongs to it"
        )


def _check_head(head: TensorFile, expected: Mapping[str, Any], unused: tuple[str, ...]) -> None:
    """A head file needs the head and all LoRA matrices; class weights alone may come on top (published rule)."""
    from_head = [name for name in expected if name == HEAD or ".lora_" in name]
    if _is_head_only(head) and not any(".lora_" in name for name in head.shapes):
        raise CheckpointError(
            f"this head file has no LoRA matrices, so the base model would not be the one it was trained on "
            f"({head.path}): choose a head file with lora_A and lora_B, or a complete classification file"
        )
    has_lora = any(".lora_" in name for name in head.shapes)
    required = from_head if has_lora else [HEAD]
    _check_names(head, required, known={*expected, *unused, CLASS_WEIGHTS})


def _check_shapes(file: TensorFile, expected: Mapping[str, tuple[int, ...]], skip: Iterable[str] = ()) -> None:
    """Refuse the first tensor, in the published order, of another shape or of a type that holds no weights."""
    for name, shape in expected.items():
        if name not in file.shapes or name in skip:
            continue
        if file.shapes[name] != shape:
            raise CheckpointError(
                f"{name} has the shape {file.shapes[name]}, but its configuration asks for {shape} ({file.path}): "
                "give the configuration or the head that belongs to this file"
            )
        if not file.dtypes[name].startswith(("float", "bfloat")):
            raise CheckpointError(
                f"{name} holds {file.dtypes[name]} values, not weights ({file.path}): choose an MVPFormer file"
            )


def _settle_folding(resolution: Resolution, base: TensorFile) -> Resolution:
    """Find out whether weights that come together with LoRA matrices already contain them.

    Nothing in a file says so. With the base file beside it the weights themselves do; without, they are taken as not
    folded, as the published loader takes them.
    """
    probe = "mvpformer.h.0.attn.q_attn."
    config = resolution.config
    if not config.lora_rank or resolution.take[probe + "weight"] is not resolution.take[probe + "lora_A"]:
        return resolution
    source = resolution.take[probe + "lora_A"]
    if source is base:
        return resolution if base.is_container else replace(resolution, lora_folded="not stated")
    after, lora_a, lora_b = (source.read(probe + name) for name in ("weight", "lora_A", "lora_B"))
    if not is_folded(base.read(probe + "weight"), after, lora_a, lora_b, config.lora_alpha / config.lora_rank):
        return resolution
    take = {name: file for name, file in resolution.take.items() if ".lora_" not in name}
    return replace(resolution, config=replace(config, lora_rank=0), take=take, lora_folded="yes")


def _describe(
    resolution: Resolution, base: TensorFile, head: TensorFile | None, official: bool, notes: tuple[str, ...]
) -> Resolution:
    """Add to a resolution what a person should know of it."""
    present = {name: file for file in (base, head) if file for name in file.shapes}
    used = {*resolution.take, *resolution.ones}
    layout = (*unused_names(resolution.config), *resolution.ones) if official else ()
    resolution = replace(
        resolution,
        missing=tuple(name for name in layout if name not in present),
        unknown=tuple(name for name in present if name == CLASS_WEIGHTS),
        unused=tuple(name for name in present if name not in resolution.take and name != CLASS_WEIGHTS),
    )
    counts = dict.fromkeys((*PARTS, "lora", "unused"), 0)
    shapes = used_shapes(resolution.config) | {name: file.shapes[name] for name, file in present.items()}
    for name, shape in shapes.items():
        if name in used:
            counts[part(name)] += size(shape)
        elif not name.endswith(UNUSED_BUFFERS) and name != CLASS_WEIGHTS:
            counts["unused"] += size(shape)
    total = sum(counts.values())
    return replace(
        resolution,
        notes=(*notes, *_notes(resolution, base, head, official)),
        n_params=total,
        n_params_used=total - counts["unused"],
        parameters=counts,
        published_size=size_name(resolution.config) in PUBLISHED_SIZES,
        details={"lora": _lora_facts(resolution)},
    )


def _lora_facts(resolution: Resolution) -> dict[str, Any]:
    """Whether there are low-rank updates, and whether the weights already contain them: "no", "yes" or "not stated"."""
    config = resolution.config
    present = config.lora_rank > 0
    return {
        "present": present,
        "rank": config.lora_rank,
        "alpha": config.lora_alpha if present else None,
        "folded": resolution.lora_folded,
    }


def _notes(resolution: Resolution, base: TensorFile, head: TensorFile | None, official: bool) -> Iterable[str]:
    """Sentences about the rules that were applied and the names that were left aside."""
    if resolution.ones:
        yield (
            "The encoder's norm weight is set to ones, as the published loader does for a generative model; "
            "with a head file the base file's own value is used."
        )
    elif official:
        yield "The encoder's norm weight is the file's own, as the published loader has it for classification."
    if head and HEAD in base.shapes:
        yield f"The base file's own {HEAD} {base.shapes[HEAD]} is replaced by the head file's."
    if head and not _is_head_only(head):
        yield "The head file holds base weights as well; they replace the base file's."
    yield from _name_notes(resolution)
    if resolution.lora_folded == "not stated":
        yield (
            "The file holds LoRA matrices beside the weights they change and does not say whether they were already "
            "added; they are taken as not added, as the published loader takes them."
        )
    if resolution.lora_folded == "yes":
        yield "The head file's weights already contain its LoRA matrices, so these were not added a second time."


def _name_notes(resolution: Resolution) -> Iterable[str]:
    """Sentences that list the names that are ignored and those that are absent without harm."""
    if resolution.unknown:
        yield f"The head file's {CLASS_WEIGHTS} belongs to its training loss and is ignored."
    idle = [name for name in resolution.unused if name not in resolution.ones]
    if idle:
        yield f"{len(idle)} entries of the file take no part in the model: {_listed(idle)}."
    absent = [name for name in resolution.missing if name not in resolution.ones]
    if absent:
        yield f"{len(absent)} entries of the published layout are absent and not needed: {_listed(absent)}."


def _listed(names: Iterable[str], limit: int = 5) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
