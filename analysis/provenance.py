"""What a result has to say of the program that made it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib import metadata

DISTRIBUTION = "cerebroscope"
RESEARCH_ONLY = "Research use only: not for diagnosis."


def software_version() -> str:
    """Version of the installed program; "unknown" in a checkout that was never installed."""
    return _version(DISTRIBUTION) or "unknown"


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of those distributions that are installed."""
    found = {"python": platform.python_version(), **{name: _version(name) for name in names}}
    return {name: version for name, version in found.items() if version is not None}


def now() -> str:
    """The present moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache  # the files of an installation are not read again for every question
def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
