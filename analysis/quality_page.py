"""The quality page as Markdown, from what its parts gave and from the cards of the bundled detectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TITLES = {"axon": "AXON", "mvpformer": "MVPFormer", "neurduo": "NeurDuo-EEG", "prise-eeg": "PRiSE-EEG"}
NOT_THERE = "Not measured yet."
Card = Mapping[str, Any]
Kept = Mapping[str, Mapping[str, Any]]

_COLUMNS = {
    "sample_auc_pr": "AUC-PR",
    "sample_auroc": "AUROC",
    "event_f1": "event F1",
    "event_sensitivity": "sensitivity",
    "false_alarms_per_hour": "false alarms/h",
}
_INTRODUCTION = """# Quality

Small versions of the papers' own ablations, and the figures of the four bundled detectors. All signals but those of
one section are simulated, so none of this says how well a model does on patients. The numbers stand as they came out
of `python -m analysis.engine.quality`, from fixed seeds that no recipe trains, chooses or tests with; nothing was
chosen by them. The trainings are minutes long and each was done once, with one seed: differences of a few hundredths
between two rows mean nothing.

AUC-PR and AUROC are over seconds (what chance gives as AUC-PR is the share of seconds in seizures); events by SzCORE's
rule, at a threshold that was chosen on validation data."""
_SECTIONS: Sequence[tuple[str, str, Sequence[str]]] = (
    (
        "With and without pre-training",
        "The same tiny detector for equally many steps: from random weights, and from weights that learned by its "
        "paper's objective first (on simulated EEG as well). The steps are a small share of those of the bundled "
        "detectors, so the figures are lower than theirs.",
        ("pretraining-axon", "pretraining-mvpformer", "pretraining-neurduo", "pretraining-prise-eeg"),
    ),
    (
        "NeurDuo-EEG with its state carried and begun anew",
        "The bundled detector on the same input; only the state is set back to zero, as often as the row says.",
        ("state",),
    ),
    (
        "AXON with its gates forced",
        "The bundled detector with the weights of its axis gates replaced: 1 is attention over time alone, 0 over "
        "channels alone. Means are over windows of validation data.",
        ("gates",),
    ),
    (
        "PRiSE-EEG with other splits of its experts",
        "How many of each block's eight experts are shared by all tokens. First, models that were trained with each "
        "split from the same random weights; then the bundled detector, whose weights were trained with its own.",
        ("allocations-trained", "allocations"),
    ),
    (
        "Whole focus regions left out",
        "AXON trained with seizures that begin anywhere, and without those of the middle temporal and occipital "
        "regions of both sides; both are tested on seizures of these regions alone.",
        ("regions",),
    ),
)


def make_page(kept: Kept, cards: Mapping[str, Card]) -> str:
    """The page of what was kept of the parts by name, and of the cards by family; what is not there is said to be."""
    blocks = [_INTRODUCTION, *_held_out(cards), *_real(cards)]
    for title, text, parts in _SECTIONS:
        blocks += [f"## {title}", text]
        blocks += [block for name in parts for block in _part(name, kept.get(name), len(parts) > 1)]
    blocks += ["## Where the numbers come from", *_sources(kept, cards)]
    return "\n\n".join(blocks) + "\n"


def _held_out(cards: Mapping[str, Card]) -> Iterator[str]:
    yield "## The four bundled detectors on held-out simulated EEG"
    if not cards:
        yield NOT_THERE
        return
    rows = []
    for family, title in TITLES.items():
        figures = _test(cards.get(family))
        rows.append([title, *(_cells(figures) if figures else ["-"] * len(_COLUMNS)), _data(figures)])
    told = next((_test(card)["threshold_detectors"] for card in cards.values() if _thresholds(card)), None)
    for one in told["detectors"] if told else ():
        rows.append([f"no model: {one['way']}", *_cells(one), ""])
    yield _table(["", *_COLUMNS.values(), "data"], rows)
    if told:
        yield f"No model: detectors that compare one number with a threshold; {told['chosen']}."
    yield (
        "Goals: event F1 of 0.85 or more, AUC-PR of 0.80 (MVPFormer, whose grid is 5 s: 0.75), fewer than 0.5 false "
        "alarms an hour. What is missed is printed as it is."
    )
    yield from _kinds(cards)


def _test(card: Card | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (card or {}).get("results", {}).get("test", {})
    return found


def _thresholds(card: Card) -> bool:
    return bool(_test(card).get("threshold_detectors"))


def _data(figures: Mapping[str, Any]) -> str:
    return f"{figures['hours']:g} h, {figures['n_seizures']} seizures" if "hours" in figures else ""


def _kinds(cards: Mapping[str, Card]) -> Iterator[str]:
    """Seizures found by region and contrast, false alarms by artefact; of those detectors whose cards tell."""
    told = {TITLES[family]: kinds for family, card in cards.items() if (kinds := _test(card).get("by_kind"))}
    for kind, text in (("region", "where they begin"), ("contrast", "peak over the background's SD")):
        if told:
            groups = list(dict.fromkeys(row["group"] for kinds in told.values() for row in kinds[kind]))
            rows = [[title, *(_found(kinds[kind], group) for group in groups)] for title, kinds in told.items()]
            yield f"Seizures found, by {text}:"
            yield _table(["", *groups], rows)
    if told:
        names = list(dict.fromkeys(row["kind"] for kinds in told.values() for row in kinds["artefact"]))
        rows = [[title, *(_alarms(kinds["artefact"], name) for name in names)] for title, kinds in told.items()]
        yield "False alarms, by the artefacts longer than a second under them (an alarm may lie on several):"
        yield _table(["", *names], rows)


def _found(rows: Sequence[Mapping[str, Any]], group: str) -> str:
    return next((f"{row['found']} of {row['seizures']}" for row in rows if row["group"] == group), "-")


def _alarms(rows: Sequence[Mapping[str, Any]], kind: str) -> str:
    return next((f"{row['false_alarms']}" for row in rows if row["kind"] == kind), "0")


def _real(cards: Mapping[str, Card]) -> Iterator[str]:
    yield "## Real scalp seizures"
    told = {TITLES[family]: card["real_recordings"] for family, card in cards.items() if "real_recordings" in card}
    if not told:
        yield NOT_THERE
        return
    rows = []
    for title, real in told.items():
        for one in real["figures"]:
            means = f"{_number(one['mean_inside'])} / {_number(one['mean_outside'])}"
            alarms = ", ".join(f"{a:g}-{z:g} s" for a, z in one["alarms"]) or "none"
            seizure = ", ".join(f"{a:g}-{z:g} s" for a, z in one["seizures"])
            rows.append([title, one["recording"], seizure, _number(one["auroc"]), means, alarms])
    first = next(iter(told.values()))
    for one in first["figures"]:
        for plain in one["threshold_detectors"]:
            rows.append([f"no model: {plain['way']}", one["recording"], "", _number(plain["auroc"]), "", ""])
    yield f"The models never saw real EEG: {first['what']}. A few recordings prove nothing."
    yield _table(["", "recording", "seizure", "AUROC", "mean inside / outside", "alarms"], rows)


def _part(name: str, made: Mapping[str, Any] | None, titled: bool) -> Iterator[str]:
    if titled:
        yield f"**{_title(name)}**"
    if made is None:
        yield NOT_THERE
        return
    rows = [[row["row"], *_cells(row), _steps(row)] for row in made["rows"]]
    first = made["rows"][0]
    yield _table(["", *_COLUMNS.values(), "steps"], rows)
    yield f"Tested on {first['hours']:g} h with {first['n_seizures']} seizures; chance gives {first['prevalence']:.3f}."


def _title(name: str) -> str:
    family = name.removeprefix("pretraining-")
    return TITLES.get(family) or {"allocations": "Bundled detector"}.get(name, "Trained with each split")


def _steps(row: Mapping[str, Any]) -> str:
    before = row.get("pretraining_steps")
    return "" if "steps" not in row else f"{before} + {row['steps']}" if before else f"{row['steps']}"


def _sources(kept: Kept, cards: Mapping[str, Card]) -> Iterator[str]:
    """Of each detector and part: what it rests on."""
    lines = []
    for family, card in cards.items():
        how, seeds = card["how"], card["trained_on"]
        data = "; ".join(
            f"{split} {told['seeds'][0]} to {told['seeds'][1]}"
            for split in ("train", "validation", "test")
            if "seeds" in (told := seeds.get(split, {}))
        )
        lines.append(
            f"- {TITLES[family]}: recipe {how['recipe']} ({how['recipe_sha256'][:12]}), {how['steps']} steps, seeds of "
            f"{data}, made {card['created'][:10]} with torch {card['libraries']['torch']}"
        )
    for name, made in kept.items():
        rests = made["rests_on"]
        base = (
            f"recipe {rests['recipe_sha256'][:12]}"
            if "recipe_sha256" in rests
            else f"detector of {str(rests['checkpoint_created'])[:16]}"
        )
        lines.append(
            f"- {name}: {base}, simulator {rests['simulator']}, made {made['created'][:10]} in {made['seconds']:.0f} s "
            f"with torch {made['libraries']['torch']}, numpy {made['libraries']['numpy']}"
        )
    if lines:
        yield "\n".join(lines)
    seeds = "Seeds of the ablations: training from 6,000,000, validation from 6,500,000, test from 7,000,000."
    yield f"{seeds} All budgets stand in `quality.json` beside this page."


def _cells(figures: Mapping[str, Any]) -> list[str]:
    return [_number(figures.get(name)) for name in _COLUMNS]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
