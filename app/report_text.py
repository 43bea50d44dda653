"""What a prediction and a score say to a person who reads them in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.plain_numbers import number
from analysis.provenance import RESEARCH_ONLY as RESEARCH_ONLY

if TYPE_CHECKING:
    from analysis.results import SeizurePrediction
    from analysis.scoring import Rates, Score

_SHOWN = 20


def prediction_text(result: SeizurePrediction, files: Sequence[Path]) -> str:
    """The events found, the channels and spans that were and were not scored, and where it was written."""
    facts = result.provenance
    rule = facts["rule"]
    n = len(result.events)
    lines = [
        f"{result.model_title}: {n or 'no'} event{'' if n == 1 else 's'} "
        f"(p >= {result.threshold:g}, rule {rule['name']}), {len(result.times)} segments scored"
    ]
    lines += [
        f"  {event.onset:.2f} to {event.stop:.2f} s  ({event.duration:.1f} s, p {event.confidence:.2f})"
        for event in result.events[:_SHOWN]
    ]
    if n > _SHOWN:
        lines.append(f"  and {n - _SHOWN} more")
    lines.append(f"channels scored: {', '.join(facts['scored_channels'])}")
    for reason, group in groupby(sorted(result.left_out, key=lambda pair: pair[1]), key=lambda pair: pair[1]):
        lines.append(f"left out, {reason}: {', '.join(name for name, _ in group)}")
    lines += [f"not scored, {reason}: {a:.2f} to {b:.2f} s" for a, b, reason in result.not_scored[:_SHOWN]]
    if len(result.not_scored) > _SHOWN:
        lines.append(f"not scored: {len(result.not_scored) - _SHOWN} more spans")
    lines += speed_lines(facts)
    lines += [f"written: {', '.join(map(str, files))}", RESEARCH_ONLY]
    return "\n".join(lines)


def speed_lines(facts: Mapping[str, Any]) -> list[str]:
    """How fast a prediction was made, in what batches, and in which number format; nothing where it is not known."""
    speed = facts.get("hours_per_minute")
    if speed is None:
        return []
    size = facts["batch_size"]
    batches = f"batches of up to {size}" if size > 1 else "one at a time"
    form = facts["precision"]
    line = f"{speed:.3g} hours of recording per minute ({facts['device']}, {batches}, {form['format']})"
    if "compared" not in form:
        return [line, *([form["reason"]] if "reason" in form else [])]
    apart, seen = form["largest_difference"], f"in the first {form['compared']} probabilities"
    if apart is None:
        return [line, f"bfloat16 gives no numbers {seen}"]
    return [line, f"bfloat16 and float32 differ by at most {apart:.2g} {seen}, {form['tolerance']:g} allowed"]


def prediction_warnings(result: SeizurePrediction) -> tuple[str, ...]:
    """What has to be known beside a prediction: the recording's warnings, the model's limits, short histories."""
    facts = result.provenance
    warnings = [*facts["warnings"], f"{result.model_title}: {result.caveat}"]
    short = facts.get("segments_with_short_context", 0)
    if short:
        warnings.append(
            f"{short} of {len(result.times)} segments have less history than the checkpoint was trained with"
        )
    return tuple(warnings)


def score_text(result: Score, paths: Sequence[Path], source: str) -> str:
    """A score as a small table, with raw beside merged counts and the rule; `source` tells where the length is from."""
    kappa = result.kappa
    lines = [
        f"{role:<11}{_count(raw)} as marked, {merged} after merging and splitting ({path.name})"
        for role, raw, merged, path in zip(("reference", "prediction"), result.raw, result.merged, paths, strict=True)
    ]
    lines += [
        f"length     {number(result.duration)} s, {source}",
        "",
        f"{'':<11}{'sensitivity':>12}{'precision':>12}{'F1':>8}{'false alarms / 24 h':>21}",
        _rates_line("events", result.event),
        _rates_line("samples", result.sample),
        "",
        f"kappa      {_figure(kappa.overall)} over all {kappa.n_segments} segments; {_figure(kappa.draws_mean)} "
        f"(SD {_figure(kappa.draws_sd)}) over {kappa.n_draws} draws of {kappa.segments_per_draw}, "
        f"{kappa.n_undefined} of them undefined, seed {result.seed}" + (f": {kappa.word}" if kappa.word else ""),
        f"false positives per hour: {_figure(result.fp_per_hour)}",
        f"rule       {result.rule.describe()}",
    ]
    return "\n".join(lines)


def _rates_line(name: str, rates: Rates) -> str:
    alarms = "-" if rates.fp_per_24h is None else f"{rates.fp_per_24h:.2f}"
    shares = f"{_figure(rates.sensitivity):>12}{_figure(rates.precision):>12}{_figure(rates.f1):>8}"
    return f"{name:<11}{shares}{alarms:>21}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _count(n: int) -> str:
    return f"{n} seizure{'' if n == 1 else 's'}"
