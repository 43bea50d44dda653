"""What `info` tells of a recording: the contract's JSON, and the same in lines for a person."""

from __future__ import annotations

from collections import Counter
from typing import Any

from analysis.recording import Recording
from analysis.time_words import duration_words

_LISTED_ANNOTATIONS = 20


def describe(recording: Recording) -> dict[str, Any]:
    """The contract's `info` document; times in seconds from the first sample, positions in metres (head frame).

    `sfreq` is the highest rate of all channels. Annotations are read, samples are not.
    """
    # Annotations first: reading them may add to the warnings.
    annotations = [
        {
            "onset": annotation.onset,
            "duration": annotation.duration,
            "description": annotation.signed_text,
            "channels": list(annotation.ch_names),
        }
        for annotation in recording.annotations
    ]
    start = recording.start_datetime
    return {
        "path": str(recording.path),
        "format": recording.format,
        "duration": recording.duration,
        "start": start.isoformat() if start else None,
        "sfreq": max((channel.sfreq for channel in recording.channels), default=recording.sfreq),
        "channels": [
            {
                "name": channel.name,
                "original_name": channel.original_name,
                "type": channel.type,
                "unit": channel.unit,
                "sfreq": channel.sfreq,
                "position": list(channel.position) if channel.position else None,
            }
            for channel in recording.channels
        ],
        "annotations": annotations,
        "gaps": [list(gap) for gap in recording.gaps],
        "warnings": list(recording.warnings),
    }


def to_text(description: dict[str, Any]) -> str:
    """The document of `describe` as lines that a person reads; warnings are left to the caller."""
    length = duration_words(description["duration"], exact=True)
    lines = [
        f"{description['path']}",
        f"{description['format']}, {length}, {_start_words(description['start'])}",
        *_channel_lines(description["channels"]),
        *[f"gap from {start:.3f} s to {stop:.3f} s" for start, stop in description["gaps"] if stop > start],
        *[f"cut at {start:.3f} s" for start, stop in description["gaps"] if stop == start],
        *_annotation_lines(description["annotations"]),
    ]
    return "\n".join(lines)


def _start_words(start: str | None) -> str:
    return f"recorded {start.replace('T', ' ')}" if start else "start unknown"


def _channel_lines(channels: list[dict[str, Any]]) -> list[str]:
    kinds = Counter((c["type"], c["sfreq"], c["unit"]) for c in channels)
    lines = [f"{len(channels)} channels"]
    for (kind, sfreq, unit), count in kinds.items():
        names = ", ".join(c["name"] for c in channels if (c["type"], c["sfreq"], c["unit"]) == (kind, sfreq, unit))
        lines.append(f"  {count} {kind}, {sfreq:g} Hz, {unit or 'no unit'}: {names}")
    return lines


def _annotation_lines(annotations: list[dict[str, Any]]) -> list[str]:
    lines = [f"{len(annotations)} annotations"]
    for note in annotations[:_LISTED_ANNOTATIONS]:
        length = f" for {note['duration']:g} s" if note["duration"] else ""
        where = f" [{', '.join(note['channels'])}]" if note["channels"] else ""
        lines.append(f"  {note['onset']:10.3f} s{length}  {note['description']}{where}")
    if len(annotations) > _LISTED_ANNOTATIONS:
        lines.append(f"  … and {len(annotations) - _LISTED_ANNOTATIONS} more")
    return lines
