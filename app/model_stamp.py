"""Models and files as they are now: another content has another stamp."""

from __future__ import annotations

from pathlib import Path

from app.session import ModelChoice


def stamp(model: ModelChoice) -> str:
    """A model as its files are now."""
    return "|".join(map(file_stamp, (model.checkpoint, model.head, model.config)))


def file_stamp(name: str | None) -> str:
    """A file by its name, size and time of change; a name that is no file stands for itself."""
    try:
        status = Path(name).stat() if name else None
    except OSError:
        status = None
    return f"{name}:{status.st_size}:{status.st_mtime_ns}" if status is not None else str(name)
