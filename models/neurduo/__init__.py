"""NeurDuo-EEG; `Stream`, its streaming runner, is loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models.neurduo.streaming import Stream

__all__ = ["Stream"]


def __getattr__(name: str) -> Any:
    if name == "Stream":
        from models.neurduo.streaming import Stream

        return Stream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
