"""Recipes: everything that decides a training, read from a TOML file into frozen dataclasses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from analysis.errors import AnalysisError

Tuning = Literal["full", "lora", "probe"]
Objective = Literal["contrastive", "masked", "tokenizer", "next-code", "reconstruction", "seizure"]
T = TypeVar("T")


@dataclass(frozen=True)
class ModelRecipe:
    """Which model: `config` holds the fields of its configuration, `start_from` a checkpoint whose weights it takes.

    `tuning` says what is trained: all weights; the head and low-rank updates of linear maps, of `lora_rank` and
    `lora_alpha`, where `lora_maps` are given of those maps whose names hold one of them; or the head alone. For the
    first `frozen_steps` the head is trained alone in any case. `whiten` starts the first layer of MVPFormer or NeurDuo
    at the scale of the data, `freeze_gates` leaves AXON's gates alone.
    """

    family: str
    config: Mapping[str, Any] = field(default_factory=dict)
    start_from: str = ""
    tuning: Tuning = "full"
    lora_rank: int = 8
    lora_alpha: float = 16.0
    lora_maps: tuple[str, ...] = ()
    frozen_steps: int = 0
    freeze_gates: bool = False
    whiten: bool = False


@dataclass(frozen=True)
class ObjectiveRecipe:
    """What is learned; `tokenizer` is the checkpoint whose codes "next-code" predicts.

    Of "seizure": `class_weight` weighs the seizure class by the inverse of its share of the labels drawn, or by its
    root; labels move by `label_smoothing` towards a half; of PRiSE-EEG, `reconstruction` is the weight of its
    pre-training loss beside that of the classes.
    """

    kind: Objective
    tokenizer: str = ""
    class_weight: Literal["none", "inverse", "inverse-root"] = "none"
    label_smoothing: float = 0.0
    reconstruction: float = 0.0


@dataclass(frozen=True)
class DataRecipe:
    """Recordings of one split: `files` (patterns, beside the recipe), or simulated on the fly.

    Simulated are `recordings` of `minutes` from the seeds `first_seed`, `first_seed` + 1, …; `settings` are those of
    the simulator. `subject` "folder" takes a file's folder for its subject where its name tells none.
    """

    kind: Literal["simulated", "recordings"]
    files: tuple[str, ...] = ()
    subject: Literal["name", "folder"] = "name"
    recordings: int = 0
    minutes: float = 5.0
    first_seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SplitRecipe:
    """Training data, validation data for calibration and early stop, and test data that are looked at once."""

    train: DataRecipe
    validation: DataRecipe
    test: DataRecipe | None = None


@dataclass(frozen=True)
class SignalRecipe:
    """The signal the model is given: band in Hz (0 for an open edge), notches, reference, and channels by site.

    Without `channels` all brain channels of a recording are taken, and a batch comes from one recording.
    """

    channels: tuple[str, ...] = ()
    highpass: float = 0.5
    lowpass: float = 70.0
    notch: tuple[float, ...] = (50.0, 60.0)
    reference: Literal["average", "median", "none"] = "average"


@dataclass(frozen=True)
class DrawRecipe:
    """How windows are drawn: shares that touch a seizure, or an artefact longer than a second; the rest is anywhere.

    `pool` stretches are held at a time; one leaves after `windows_per_stretch` windows were drawn.
    """

    window_seconds: float = 10.0
    seizure: float = 0.5
    artefact: float = 0.2
    pool: int = 16
    windows_per_stretch: int = 400


@dataclass(frozen=True)
class AugmentRecipe:
    """Chances of mirroring left and right, turning the sign, and silencing channels; SD of the log of the gain.

    From `fewest` to `most` channels are set to zero where any are.
    """

    mirror: float = 0.5
    sign: float = 0.5
    gain: float = 0.3
    silence: float = 0.6
    fewest: int = 1
    most: int = 14


@dataclass(frozen=True)
class OptimiserRecipe:
    """AdamW; `head` and `front` multiply the learning rate of the head and of the input layers, `clip` is the norm.

    `ema` is the decay of the moving average of the weights that is kept in the end, 0 for none.
    """

    learning_rate: float
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    head: float = 1.0
    front: float = 1.0
    clip: float = 1.0
    ema: float = 0.0


@dataclass(frozen=True)
class ScheduleRecipe:
    """The learning rate over the steps: it rises over a share `warm_up` from the factor `warm_up_from`.

    "cosine" then falls to the factor `floor`, in waves of `period` steps where that is above 0.
    """

    kind: Literal["cosine", "constant"] = "cosine"
    warm_up: float = 0.04
    warm_up_from: float = 0.0
    floor: float = 0.01
    period: int = 0


@dataclass(frozen=True)
class LengthRecipe:
    """How long: `steps`, or `minutes` from which a speed test makes a number of steps once and for all."""

    batch: int
    steps: int = 0
    minutes: float = 0.0
    threads: int = 0


@dataclass(frozen=True)
class ValidationRecipe:
    """How often validation looks at `recordings` of its data (0 for all), and after how many without gain it stops.

    `stride_seconds` is the distance of windows; `patience` 0 never stops. At the end all data are looked at.
    """

    every: int = 0
    recordings: int = 6
    patience: int = 0
    stride_seconds: float = 0.0
    keep: Literal["best", "last"] = "last"


@dataclass(frozen=True)
class CardRecipe:
    """What the checkpoint's card says that the run cannot know."""

    name: str
    licence: str
    intended_use: str
    limits: str
    trained_on: str = ""


@dataclass(frozen=True)
class Recipe:
    """One training from data to checkpoint."""

    seed: int
    model: ModelRecipe
    objective: ObjectiveRecipe
    data: SplitRecipe
    optimiser: OptimiserRecipe
    length: LengthRecipe
    card: CardRecipe
    signal: SignalRecipe = SignalRecipe()
    draw: DrawRecipe = DrawRecipe()
    augment: AugmentRecipe = AugmentRecipe()
    schedule: ScheduleRecipe = ScheduleRecipe()
    validation: ValidationRecipe = ValidationRecipe()


def read_recipe(path: str | Path) -> Recipe:
    """The recipe of a TOML file; AnalysisError says in one sentence what is wrong with it."""
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AnalysisError(f"the recipe cannot be read, {error.strerror or error} ({path}): check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AnalysisError(f"the recipe is no TOML, {error} ({path}): correct it") from error
    try:
        recipe = build(Recipe, table, "")
        _check(recipe)
    except ValueError as error:
        raise AnalysisError(f"the recipe is wrong, {error} ({path}): correct it") from error
    return recipe


def build(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """A dataclass of nested tables; ValueError names an unknown key, a missing one, or a value of another type."""
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    known = {item.name: item for item in fields(kind)}
    if unknown := sorted(set(table) - set(known)):
        where = place or "it"
        raise ValueError(f"{where} has no key {unknown[0]} (known are {', '.join(known)})")
    needed = [n for n, item in known.items() if item.default is MISSING and item.default_factory is MISSING]
    if missing := [name for name in needed if name not in table]:
        raise ValueError(f"{_at(place, missing[0])} is missing")
    return kind(**{name: _value(hints[name], value, _at(place, name)) for name, value in table.items()})


def _value(kind: Any, value: Any, place: str) -> Any:
    """A value of TOML as a field of this type takes it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _value(next(a for a in arguments if a is not type(None)), value, place)
    if is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, Mapping):
            raise ValueError(f"{place} must be a table, not {value!r}")
        return build(kind, value, place)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{place} must be one of {', '.join(map(str, arguments))}, not {value!r}")
        return value
    if origin is tuple:
        if not isinstance(value, list) or (arguments[-1] is not ... and len(value) != len(arguments)):
            raise ValueError(f"{place} must be a list of {len(arguments)} values, not {value!r}")
        return tuple(_value(arguments[0], item, place) for item in value)
    if origin is not None:  # a table that is read elsewhere
        if not isinstance(value, Mapping):
            raise ValueError(f"{place} must be a table, not {value!r}")
        return dict(value)
    accepted = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{place} must be of the kind {kind.__name__}, not {value!r}")
    return float(value) if kind is float else value


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _check(recipe: Recipe) -> None:
    """ValueError for values that are each of the right type and make no sense."""
    length, draw, augment, optimiser = recipe.length, recipe.draw, recipe.augment, recipe.optimiser
    if (length.steps > 0) == (length.minutes > 0):
        raise ValueError("length needs either steps or minutes above 0")
    for name, value in (("length.batch", length.batch), ("draw.pool", draw.pool)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")
    shares = {"draw.seizure": draw.seizure, "draw.artefact": draw.artefact, "augment.mirror": augment.mirror}
    shares |= {"augment.sign": augment.sign, "augment.silence": augment.silence, "optimiser.ema": optimiser.ema}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be from 0 to 1, not {share:g}")
    if draw.seizure + draw.artefact > 1:
        raise ValueError("draw.seizure and draw.artefact are more than 1 together")
    if not optimiser.learning_rate > 0:
        raise ValueError(f"optimiser.learning_rate must be above 0, not {optimiser.learning_rate:g}")
    if recipe.objective.kind == "next-code" and not recipe.objective.tokenizer:
        raise ValueError("objective.tokenizer is missing: next-code predicts the codes of a tokenizer")
    if recipe.model.whiten and recipe.model.family not in ("mvpformer", "neurduo"):
        raise ValueError("model.whiten is for mvpformer and neurduo: leave it out")
    beside, family = recipe.objective.reconstruction, recipe.model.family
    if beside and (family, recipe.objective.kind) != ("prise-eeg", "seizure"):
        raise ValueError("objective.reconstruction is for the seizure objective of prise-eeg: leave it out")
    if beside < 0:
        raise ValueError(f"objective.reconstruction must be 0 or more, not {beside:g}")
    splits = {"train": recipe.data.train, "validation": recipe.data.validation, "test": recipe.data.test}
    for name, split in splits.items():
        if split is not None and not (split.files if split.kind == "recordings" else split.recordings):
            what = "files" if split.kind == "recordings" else "recordings above 0"
            raise ValueError(f"data.{name} needs {what}")
