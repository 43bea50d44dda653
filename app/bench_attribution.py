"""How often attributions of the bundled checkpoints find the known focus of simulated seizures, and what that is worth.

Beside each stands the same map of the same model with randomised weights, and the map that needs no model. The counting
is done by `analysis.engine.focus_finding`, in processes of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

from analysis.proportions import wilson_interval
from app.bench_apart import measure_apart
from app.bench_cases import Case, Measured
from app.benches import Found, Plan

CHECKPOINTS = Path(str(files("assets"))) / "checkpoints"
TITLES = {"axon": "AXON", "mvpformer": "MVPFormer", "neurduo": "NeurDuo", "prise-eeg": "PRiSE-EEG"}
GOAL = 70.0  # per cent of the seizures
JUDGED = ("IG signed", "occlusion", "keep one")
CONTROL = "IG unsigned"
METHODS = (*JUDGED, CONTROL)
RMS_RATIO = "RMS ratio"
_MODULE = "analysis.engine.focus_finding"


def bench(plan: Plan) -> Found:
    """Count with all cores, one process each; a checkpoint that is not there is said to be missing."""
    from app.engine_process import core_count

    names = [name for name in TITLES if (CHECKPOINTS / f"{name}.safetensors").is_file()]
    missing = [_missing(name) for name in TITLES if name not in names]
    if not names:
        return Found(missing)
    seizures = plan.seizures or plan.pick(4, 12, 30)
    found = count_foci([str(CHECKPOINTS / f"{name}.safetensors") for name in names], seizures, core_count())
    if isinstance(found, str):
        return Found([(Case("attribution", "focus by attribution", None), found)])
    told = {**found, "models": dict(zip(names, found["models"].values(), strict=True))}
    return Found([*attribution_rows(told), *missing], [explain(told)])


def count_foci(checkpoints: Sequence[str], seizures: int, processes: int) -> dict[str, Any] | str:
    """Whether each seizure's focus was found, by model and method, or what a process complained of."""
    of = max(1, min(processes, seizures))
    with ThreadPoolExecutor(of) as pool:
        parts = list(
            pool.map(lambda part: measure_apart(_MODULE, part, of, seizures, *checkpoints, threads=1), range(of))
        )
    troubles = [part for part in parts if isinstance(part, str)]
    return troubles[0] if troubles else joined([part for part in parts if not isinstance(part, str)])


def joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What several processes counted, as one had counted all, in the order of the seizures."""
    order = sorted((one["number"], p, i) for p, part in enumerate(parts) for i, one in enumerate(part["seizures"]))

    def pick(of: Any) -> list[Any]:
        return [of(parts[p])[i] for _, p, i in order]

    return {
        "seizures": pick(lambda part: part["seizures"]),
        RMS_RATIO: pick(lambda part: part[RMS_RATIO]),
        "models": {name: pick(lambda part, name=name: part["models"][name]) for name in parts[0]["models"]},
    }


def _missing(name: str) -> tuple[Case, str]:
    return Case(f"attribution {name}", f"{TITLES[name]}: focus missed", None), "not measured: no such checkpoint"


def attribution_rows(found: Mapping[str, Any]) -> list[tuple[Case, Measured]]:
    """The rows of the table: how many foci are missed, in per cent, beside the same with randomised weights."""
    title = "no model: focus missed by the RMS ratio"
    rows = [(Case("attribution RMS ratio", title, None, unit="%"), Measured((_missed(found[RMS_RATIO]),)))]
    for name, told in found["models"].items():
        for method in METHODS:
            trained, random = ([one[which][method] for one in told] for which in ("trained", "random"))
            case = Case(
                f"attribution {name} {method}",
                f"{TITLES.get(name, name)}: focus missed by {method}",
                100.0 - GOAL if method in JUDGED else None,
                unit="%",
                rival="randomised weights",
                missed=_reason(trained, [one["heard"] for one in told], found[RMS_RATIO]),
            )
            rows.append((case, Measured((_missed(trained),), rival=(_missed(random),))))
    return rows


def _missed(hits: Sequence[bool]) -> float:
    return 100.0 * (1 - sum(hits) / len(hits))


def _reason(hits: Sequence[bool], heard: Sequence[bool], by_power: Sequence[bool]) -> str:
    """Whether the missed foci are those that no map shows, and whether the model answers at all so early."""
    missed = [i for i, hit in enumerate(hits) if not hit]
    return (
        f"of the {len(missed)} missed, the RMS ratio misses {sum(not by_power[i] for i in missed)} too; in these first "
        f"seconds the model reaches its threshold in {sum(heard)} of all {len(hits)}, "
        f"in {sum(heard[i] for i in missed)} of the missed"
    )


def explain(found: Mapping[str, Any]) -> str:
    """The same as counts of foci that were found, with intervals, and what they are to be held against."""
    count = len(found["seizures"])
    lines = [
        f"focus among the top 3 of 19 channels in the first 15 s of {count} simulated seizures that no split holds; "
        f"found, per cent, 95 % interval (Wilson); goal {GOAL:.0f} %; chance 16 %",
        f"no model, {RMS_RATIO}: {share(found[RMS_RATIO])}",
    ]
    for name, told in found["models"].items():
        lines.append(f"{TITLES.get(name, name)}:")
        for method in METHODS:
            trained, random = ([one[which][method] for one in told] for which in ("trained", "random"))
            by_seed = _by_seed([(one["seed"], one["random"][method]) for one in told])
            lines.append(f"  {method:<12} {share(trained)}; randomised weights {share(random)}, by seed {by_seed}")
    lines.append(
        "randomised: each seizure is also explained by one of five copies whose weights were drawn anew, in turn; a "
        "map that finds the focus about as often with those shows the signal and not the model"
    )
    return "\n".join(lines)


def share(hits: Sequence[bool]) -> str:
    """A share with its interval, such as "26 of 36, 72 % (56-84)"."""
    low, high = wilson_interval(sum(hits), len(hits))
    return f"{sum(hits)} of {len(hits)}, {100 * sum(hits) / len(hits):.0f} % ({100 * low:.0f}-{100 * high:.0f})"


def _by_seed(told: Sequence[tuple[int, bool]]) -> str:
    seeds = sorted({seed for seed, _ in told})
    shares = [[hit for seed, hit in told if seed == one] for one in seeds]
    return " ".join(f"{100 * sum(hits) / len(hits):.0f}" for hits in shares)
