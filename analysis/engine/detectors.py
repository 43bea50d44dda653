"""How a seizure detector is chosen by the name or file of its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis.engine.detector import Detector
from analysis.errors import AnalysisError
from models.checkpoint import configs_beside

BRAINMAZE = "brainmaze"
PACKAGED = {BRAINMAZE: "modelA", "brainmaze-a": "modelA", "brainmaze-b": "modelB"}

_last: tuple[tuple[Any, ...], Detector] | None = None


def load_detector(
    checkpoint: str | Path,
    head: str | Path | None = None,
    config: str | Path | None = None,
    device: str = "auto",
    segments: int | None = None,
) -> Detector:
    """The detector of a checkpoint: "brainmaze" (or "brainmaze-a", "brainmaze-b"), or the file of a classifier:
    an MVPFormer, or a NeurDuo-EEG with a fine-tuned head.

    `segments` overrides the number of segments the checkpoint looks at. The detector used last is kept until one
    of its files changes. CheckpointError for files that cannot be loaded, AnalysisError for models that give no
    seizure probability.
    """
    global _last
    files = (checkpoint, head, config, *configs_beside(Path(checkpoint)))
    key = (*(_stamp(file) for file in files), device, segments)
    if _last is not None and _last[0] == key:
        return _last[1]
    _last = None  # so that two models are never held at once
    detector = _load(str(checkpoint), head, config, device, segments)
    _last = (key, detector)
    return detector


def _load(
    checkpoint: str, head: str | Path | None, config: str | Path | None, device: str, segments: int | None
) -> Detector:
    if checkpoint.lower() in PACKAGED:
        from analysis.engine.brainmaze import BrainmazeDetector

        if head is not None or config is not None or segments is not None:
            raise AnalysisError(
                f"a packaged detector takes no head, configuration or number of segments ({checkpoint}): leave them out"
            )
        return BrainmazeDetector(PACKAGED[checkpoint.lower()], device)
    from analysis.engine.mvpformer_detector import MVPFormerDetector
    from analysis.engine.session import choose_device
    from models.random_checkpoints import load_any

    target = choose_device(device)
    model = load_any(checkpoint, head=head, device=target, config=config)
    if model.family == "neurduo":
        from analysis.engine.neurduo_detector import NeurDuoDetector

        if segments is not None:
            raise AnalysisError(
                f"a NeurDuo-EEG carries its state and takes no number of segments ({checkpoint}): leave it out"
            )
        return NeurDuoDetector(model, target)  # type: ignore[arg-type]
    if model.family in ("axon", "prise-eeg"):
        from analysis.engine.windowed_detector import WindowedDetector

        if segments is not None:
            raise AnalysisError(f"{model.family} has no number of segments to choose ({checkpoint}): leave it out")
        return WindowedDetector(model, target)
    if model.family != "mvpformer":
        raise AnalysisError(
            f"{model.family} checkpoints give no seizure probability yet ({checkpoint}): "
            f"use a fine-tuned checkpoint of another family, or {BRAINMAZE}"
        )
    return MVPFormerDetector(model, target, segments)


def _stamp(file: str | Path | None) -> tuple[Any, ...]:
    """A file with its size and time, so that a changed file is loaded again."""
    if file is None:
        return (None,)
    try:
        status = Path(file).stat()
    except OSError:
        return (str(file),)
    return (str(Path(file).resolve()), status.st_size, status.st_mtime_ns)
