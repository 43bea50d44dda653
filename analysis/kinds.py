"""The kinds of analysis there are: what they are called, what can be chosen, and which model gives which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.errors import AnalysisError
from analysis.recording import Window
from models.families import MODELS


@dataclass(frozen=True)
class Option:
    """A choice of the reader: its default decides its type; `choices` are all it may be, where they can be listed.

    `is_file` is of texts that name files, with commas between where there are several.
    """

    name: str
    default: Any
    text: str
    choices: tuple[Any, ...] = ()
    least: float | None = None
    is_file: bool = False

    def parse(self, value: Any) -> Any:
        """A value from the command line or a panel; AnalysisError names the option and what it may be."""
        try:
            made = _convert(value, self.default)
        except ValueError:
            raise self._wrong(value) from None
        if (self.choices and made not in self.choices) or (self.least is not None and made < self.least):
            raise self._wrong(value)
        return made

    def _wrong(self, value: Any) -> AnalysisError:
        if self.choices:
            allowed = "one of " + ", ".join(map(str, self.choices))
        elif isinstance(self.default, bool):
            allowed = "yes or no"
        elif isinstance(self.default, int | float):
            whole = "a whole number" if isinstance(self.default, int) else "a number"
            allowed = whole if self.least is None else f"{whole} of at least {self.least:g}"
        else:
            allowed = "a text"
        return AnalysisError(f"the option {self.name} cannot be {value!r}: give {allowed}")


def _convert(value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if str(value).lower() not in words:
            raise ValueError(value)
        return words[str(value).lower()]
    if isinstance(default, int | float):
        return type(default)(value)
    return str(value)


@dataclass(frozen=True)
class Kind:
    """One kind of analysis; `functions` names the code ("module:function") by family, or for every one with "*".

    `least_seconds` is the shortest span that it can say anything of, for models as they were published;
    `minds_seizures` whether it depends on where seizures are marked.
    """

    name: str
    title: str
    functions: Mapping[str, str]
    options: tuple[Option, ...] = ()
    models: tuple[int, int] = (1, 1)  # least and most
    least_seconds: float = 0.0
    minds_seizures: bool = False

    def function_for(self, family: str) -> str | None:
        """The code for a family of models; None where it gives no such analysis."""
        return self.functions.get(family, self.functions.get("*"))

    def widen(self, page: Window, duration: float) -> Window:
        """A page as long as this kind needs, about its middle, within a recording of so many seconds."""
        seconds = self.least_seconds
        if page.duration >= min(seconds, duration):
            return page
        start = min(max(0.0, (page.start + page.stop - seconds) / 2), max(0.0, duration - seconds))
        return Window(start, min(start + seconds, duration))

    def parse_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their values; AnalysisError for a name that is not one."""
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                allowed = f"{self.name} takes {', '.join(known)}" if known else f"{self.name} takes none"
                raise AnalysisError(f"no option is called {name!r}: {allowed}")
        return {name: option.parse(given.get(name, option.default)) for name, option in known.items()}


_THREE_SEGMENTS = 15.0  # of MVPFormer: fewer leave nothing to compare a segment with
_AXON = "analysis.engine.axon_gates"
_ATTRIBUTION = "analysis.engine.attribution"
_PRISE = "analysis.engine.prise_groups"
_SIMILARITY = "analysis.engine.similarity"
_NEURDUO = "analysis.engine.neurduo_kinds"
BASELINES = ("interictal", "zero", "mean", "surrogate")
UNITS = ("last", "mean")
PARTS = ("both", "channel", "second")
_WINDOWED = ("mvpformer", "axon", "prise-eeg")
_LAYERED = (*_WINDOWED, "neurduo")
WINDOW = Option("window", 10.0, "length of a window of the model, seconds", least=1.0)
LABELS = Option("labels", "seizure", "seizure, stages (of sleep), or texts of marks with commas between, such as T1,T2")
PROBED = "classes that a probe is to tell apart: seizure, stages, or texts of marks such as T1,T2; empty for none"
EVENTS = Option("events", "", "table of events in place of the recording's own marks", is_file=True)
LABELLED = Option("windows", 400, "at most so many windows, spread over the span", least=1)
SEGMENTS = Option("window", 0.0, "length of a window, seconds; 0 for the length the model was trained with", least=0.0)
FEW_WINDOWS = Option("windows", 4, "at most so many windows, spread over the span", least=1)
TARGET = Option("target", "last", "the class that is explained, or last")
SEED = Option("seed", 0, "of what is drawn at random")
GROUP_LABELS = Option("labels", "seizure", "seizure, stages (of sleep), or texts of marks such as T1,T2")
OTHER = Option("other", "", "another recording beside this one, or several with commas between", is_file=True)
MOST_WINDOWS = Option("windows", 50, "at most so many windows, spread over the span", least=1)
STREAM = (
    Option("normalisation", "causal", "what the scale is taken from", ("causal", "window")),
    Option("precision", "float32", "number format of the signal encoder's products", ("float32", "bfloat16")),
    Option("reset_gap", 60.0, "gap in seconds after which the state starts from zero", least=0.0),
    Option("history", 0.0, "seconds that are read before the span; 0: all since the recording began", least=0.0),
)
BASELINE = Option("baseline", "interictal", "what the signal is compared with", BASELINES)
CARRIED = (
    Option("history", 0.0, "NeurDuo: seconds read before a window; 0: as for its seizure curve", least=0.0),
    Option("units", "last", "NeurDuo: the unit of its head that is explained, the window's last or their mean", UNITS),
)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("gates", "Gates of time and space", {"axon": f"{_AXON}:gate_profile"}, (WINDOW, MOST_WINDOWS)),
        Kind(
            "gate-interventions",
            "What happens if the gates may not choose",
            {"axon": "analysis.engine.axon_interventions:gate_interventions"},
            (
                WINDOW,
                MOST_WINDOWS,
                SEED,
                Option("gate", "axis", "which gates", ("axis", "scale")),
                Option("calibration", 50, "windows that the means of the gates are taken over", least=1),
                Option(
                    "recordings",
                    "",
                    "recordings for means and probe, with commas between; empty for this one",
                    is_file=True,
                ),
                Option("labels", "", PROBED),
                EVENTS,
                Option("probe_windows", 400, "at most so many windows for the probe", least=1),
                Option("set", "", "weight of the first path that is set by hand, from 0 to 1; empty for none"),
                Option("layers", "", "where it is set: a number or a range such as 3-5; empty for all"),
                Option("channels", "", "where it is set: channels with commas between; empty for all"),
                Option("patches", "", "where it is set: a number or a range of each window; empty for all"),
            ),
        ),
        Kind("streams", "How fast the streams move", {"neurduo": f"{_NEURDUO}:stream_rates"}, STREAM),
        Kind("timescales", "How long the streams can remember", {"neurduo": f"{_NEURDUO}:timescales"}, (SEED,)),
        Kind("memory", "What the memory bank recalls", {"neurduo": f"{_NEURDUO}:memory"}, STREAM),
        Kind("stages", "What each unit is taken for", {"neurduo": f"{_NEURDUO}:unit_classes"}),
        Kind(
            "lesion",
            "What a linear probe loses without some electrodes",
            {"axon": "analysis.engine.axon_probe:lesion"},
            (
                WINDOW,
                LABELLED,
                LABELS,
                EVENTS,
                Option("cover", "", "channels to cover, with commas between"),
                Option("recordings", "", "further labelled recordings, with commas between", is_file=True),
            ),
        ),
        Kind("relation-mass", "Where attention goes", {"axon": f"{_AXON}:relation_masses"}, (WINDOW, MOST_WINDOWS)),
        Kind(
            "experts",
            "Which experts carry the tokens",
            {"prise-eeg": "analysis.engine.prise_experts:expert_routing"},
            (
                WINDOW,
                Option("windows", 400, "at most so many windows, spread over the span", least=1),
                OTHER,
            ),
        ),
        Kind(
            "group-attribution",
            "Which groups decide",
            {"prise-eeg": f"{_PRISE}:group_attribution"},
            (FEW_WINDOWS, TARGET),
        ),
        Kind(
            "group-interventions",
            "What happens without groups, priors or experts",
            {"prise-eeg": "analysis.engine.prise_interventions:group_interventions"},
            (
                WINDOW,
                FEW_WINDOWS,
                Option("what", "priors", "what is changed", ("priors", "groups", "experts", "allocations", "all")),
                Option("block", "tokenizer 1", "the block whose experts are forced, one at a time"),
            ),
        ),
        Kind(
            "dynamic-groups",
            "Which channels move together",
            {"prise-eeg": "analysis.engine.prise_dynamic:dynamic_groups"},
            (WINDOW, FEW_WINDOWS),
        ),
        Kind(
            "gradient-geometry",
            "Which way labelled sets would push the encoder",
            {"prise-eeg": "analysis.engine.prise_gradients:gradient_geometry"},
            (
                WINDOW,
                Option("windows", 100, "at most so many windows, spread over the span", least=2),
                GROUP_LABELS,
                OTHER,
                Option("steps", 512, "batches that the gradient is taken of, in each set", least=9),
                Option("batch", 4, "windows of a batch", least=1),
                SEED,
            ),
        ),
        Kind(
            "channel-map",
            "What flows between channels",
            {"mvpformer": "analysis.engine.mvpa_maps:channel_map"},
            (SEGMENTS, FEW_WINDOWS, SEED),
            least_seconds=_THREE_SEGMENTS,
        ),
        Kind(
            "attention",
            "What flows between times",
            {"mvpformer": "analysis.engine.mvpa_times:attention"},
            (SEGMENTS, FEW_WINDOWS),
            least_seconds=_THREE_SEGMENTS,
        ),
        Kind(
            "prediction",
            "How well the next state is foreseen",
            {"mvpformer": "analysis.engine.mvpa_prediction:prediction"},
            (SEGMENTS, Option("windows", 20, "at most so many windows, spread over the span", least=1), EVENTS, SEED),
            least_seconds=_THREE_SEGMENTS,
            minds_seizures=True,
        ),
        Kind(
            "integrated-gradients",
            "Attribution",
            dict.fromkeys(_LAYERED, f"{_ATTRIBUTION}:explain_signal"),
            (
                WINDOW,
                FEW_WINDOWS,
                TARGET,
                BASELINE,
                Option("checks", False, "occlusion, keep-one, deletion and insertion beside the map"),
                Option("smooth", 0, "noisy copies that the map is the mean of; 0: the signal as it is", least=0),
                Option("noise", 0.1, "of these copies, as a share of each channel's standard deviation", least=0.0),
                SEED,
                *CARRIED,
            ),
            minds_seizures=True,
        ),
        Kind(
            "grad-cam",
            "Which tokens speak for a class",
            dict.fromkeys(_LAYERED, "analysis.engine.grad_cam:explain_tokens"),
            (
                WINDOW,
                FEW_WINDOWS,
                TARGET,
                Option("layer", -1, "number of the layer, or -1 for the last", least=-1),
                *CARRIED,
            ),
        ),
        Kind(
            "occlusion",
            "What the score loses without a part",
            dict.fromkeys(_LAYERED, "analysis.engine.occlusion:explain_by_occlusion"),
            (
                WINDOW,
                FEW_WINDOWS,
                TARGET,
                BASELINE,
                Option("by", "both", "what is replaced: a second of a channel, or all of either", PARTS),
                Option("keep", False, "keep-one beside it: the baseline everywhere but in one channel"),
                SEED,
                *CARRIED,
            ),
            minds_seizures=True,
        ),
        Kind(
            "sanity-checks",
            "How far a map can be trusted",
            dict.fromkeys(_LAYERED, "analysis.engine.sanity_checks:check_maps"),
            (
                WINDOW,
                Option("windows", 1, "at most so many windows, spread over the span", least=1),
                TARGET,
                BASELINE,
                Option("seeds", 5, "how often the weights are drawn anew", least=1),
                Option("cascade", True, "draw layer after layer anew, from the output down; no: all at once only"),
                Option("orders", 20, "random orders that deletion and insertion are compared with", least=2),
                Option("parts", "channels", "what is deleted and inserted", ("channels", "channel-seconds")),
                SEED,
                *CARRIED,
            ),
            minds_seizures=True,
        ),
        Kind(
            "cka",
            "How alike the layers are",
            dict.fromkeys(_LAYERED, f"{_SIMILARITY}:layer_similarity"),
            (
                WINDOW,
                Option("windows", 400, "at most so many windows, spread over the span", least=1),
                Option("rows", "windows", "what a row is", ("windows", "tokens")),
                Option(
                    "groups",
                    "none",
                    "compare pairs of windows within and between these groups",
                    ("none", "seizure", "stages", "marks", "recordings"),
                ),
                Option("marks", "", "texts of marks with commas between, for groups=marks"),
                OTHER,
            ),
            (1, 2),
        ),
        Kind(
            "effective-rank",
            "How many dimensions the layers use",
            dict.fromkeys(_LAYERED, f"{_SIMILARITY}:effective_ranks"),
            (
                WINDOW,
                Option("windows", 400, "at most so many windows, spread over the span", least=1),
                Option("rows", "tokens", "what a row is", ("windows", "tokens")),
            ),
        ),
        Kind(
            "embedding",
            "Windows as points",
            dict.fromkeys(_LAYERED, "analysis.engine.embedding:embed_windows"),
            (
                WINDOW,
                Option("windows", 1000, "at most so many windows, spread over the span", least=5),
                Option("method", "pca", "how the plane is found", ("pca", "tsne")),
                Option("perplexity", 30.0, "of t-SNE", least=1.0),
                GROUP_LABELS,
                OTHER,
                SEED,
            ),
        ),
    )
}


def find_kind(name: str) -> Kind:
    """A kind by its name; AnalysisError lists those there are."""
    if name not in KINDS:
        raise AnalysisError(f"no analysis is called {name!r}: choose one of {', '.join(KINDS)}")
    return KINDS[name]


def kinds_of(family: str) -> list[str]:
    """The kinds of analysis that a family of models gives."""
    return [name for name, kind in KINDS.items() if kind.function_for(family)]


def check_families(kind: Kind, families: Sequence[str], names: Sequence[str]) -> None:
    """AnalysisError where there are too few or too many models, or one of a family that gives no such analysis."""
    least, most = kind.models
    if not least <= len(families) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise AnalysisError(f"{kind.name} needs {wanted} checkpoint{'s' if most > 1 else ''}, not {len(families)}")
    for family, name in zip(families, names, strict=True):
        if kind.function_for(family) is None:
            title = MODELS[family].title if family in MODELS else family
            given = ", ".join(kinds_of(family)) or "none yet"
            raise AnalysisError(f"{title} gives no {kind.name} ({name}): it gives {given}")
