"""The pictures of assets/docs/gallery.md, made anew by the program's own commands: python -m app.gallery RECORDINGS.

For developers; not a command of the program, since it needs the folder of real recordings.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtGui import QImage

from app.display import draw_off_screen

_ROOT = Path(__file__).resolve().parents[1]
_PAGE = _ROOT / "assets/docs/gallery.md"
_FOLDER = _ROOT / "assets/docs/gallery"
_QUALITY = 88  # of WebP: letters stay sharp at a third of a PNG's size
_SIZE = "1440x900"
_SEIZURE = "{recordings}/scalp-seizure-46ch/demo_edf.edf"
_SCALP = "{recordings}/scalp-seizure-42ch/scalp_seizure.edf"
_ECOG = "{recordings}/ecog-seizure-persyst/ecog_clip2.lay"
_DEMO = "assets/demo/simulated.edf"
_AXON, _MVPFORMER, _NEURDUO, _PRISE = (
    f"assets/checkpoints/{name}.safetensors" for name in ("axon", "mvpformer", "neurduo", "prise-eeg")
)
_IEEG = "{made}/simulated_ieeg.edf"
_SIMULATE = ("simulate", "--electrodes", "ieeg", "--duration", "300", "--seizures", "1", "--seed", "4")


@dataclass(frozen=True)
class Picture:
    """One picture: the arguments of `main.py` that make it, as a person would type them, but for --out."""

    name: str
    title: str
    text: str
    arguments: tuple[str, ...]


def _shot(recording: str, *more: str) -> tuple[str, ...]:
    return ("screenshot", recording, *more, "--size", _SIZE)


def _loud(*more: str) -> tuple[str, ...]:
    """Of the recording whose seizure is too large for the usual sensitivity."""
    return _shot(_SCALP, "--sensitivity", "20", *more)


def _figure(recording: str, *more: str) -> tuple[str, ...]:
    return ("figure", recording, *more, "--dpi", "200")


PICTURES = (
    Picture(
        "seizure",
        "A seizure and what a detector says of it",
        "Real scalp EEG, longitudinal bipolar. The violet curve is the packaged detector's probability, the dashed "
        "line the threshold; black marks come from the file.",
        _shot(_SEIZURE, "--checkpoint", "brainmaze", "--start", "18", "--overlay", "seizure"),
    ),
    Picture(
        "dark",
        "The same in the dark theme",
        "Colours of sides, marks and models keep their meaning and their contrast.",
        _shot(_SEIZURE, "--checkpoint", "brainmaze", "--start", "18", "--overlay", "seizure", "--theme", "dark"),
    ),
    Picture(
        "attribution",
        "Integrated Gradients on the traces and on the scalp",
        "Which samples speak for a seizure (one direction of colour) or against it, on one range for the whole "
        "recording; sums beside the names; the panel tells baseline and completeness gap.",
        _shot(_DEMO, "--checkpoint", _AXON, "--start", "{ictal}", "--overlay", "integrated-gradients",
              "--panel", "integrated-gradients"),
    ),
    Picture(
        "grad-cam",
        "Grad-CAM of the last layer",
        "Which tokens of AXON speak for a seizure.",
        _shot(_DEMO, "--checkpoint", _AXON, "--start", "{ictal}", "--overlay", "grad-cam", "--panel", "grad-cam"),
    ),
    Picture(
        "sanity-checks",
        "How far a map can be trusted",
        "Completeness, agreement, weights drawn anew, deletion and insertion, and the simulated focus.",
        _shot(_DEMO, "--checkpoint", _AXON, "--start", "{ictal}", "--panel", "sanity-checks"),
    ),
    Picture(
        "gates",
        "AXON: time against space",
        "Behind the traces which way each token listens; in the panel the profile over layers.",
        _loud("--checkpoint", _AXON, "--start", "30", "--overlay", "gates", "--panel", "gates"),
    ),
    Picture(
        "channel-map",
        "MVPFormer: what flows between channels",
        "What each channel receives and gives beside its name, the map by layer and head in the panel; a click on a "
        "row draws arcs to those it listens to.",
        _loud("--checkpoint", _MVPFORMER, "--start", "30", "--duration", "20",
              "--overlay", "channel-map", "--panel", "channel-map"),
    ),
    Picture(
        "prediction",
        "MVPFormer: the next state",
        "Cosine similarity of the foreseen and the actual next state, against two steps ahead and random segments. The "
        "bundled detector foresees nothing any more, so the weights are random here, and said to be.",
        _loud("--checkpoint", "random:mvpformer:base", "--start", "0", "--duration", "60",
              "--overlay", "prediction", "--panel", "prediction", "--theme", "dark"),
    ),
    Picture(
        "streams",
        "NeurDuo: a fast and a slow stream",
        "How fast each moves, with a tick where the memory is written.",
        _loud("--checkpoint", _NEURDUO, "--start", "30", "--duration", "30",
              "--overlay", "streams", "--panel", "streams"),
    ),
    Picture(
        "experts",
        "PRiSE-EEG: experts",
        "Which routed experts carry the tokens, in a lane and by layer.",
        _loud("--checkpoint", _PRISE, "--start", "30", "--overlay", "experts",
              "--panel", "experts"),
    ),
    Picture(
        "cka",
        "How alike layers are",
        "Linear CKA of all layers, and the token maps of two of them behind the traces.",
        _loud("--checkpoint", _AXON, "--start", "0", "--duration", "120", "--panel", "cka"),
    ),
    Picture(
        "contacts",
        "Intracranial contacts by shaft",
        "Simulated iEEG at the onset of a seizure: voltage at the cursor, contact by contact.",
        _shot(_IEEG, "--start", "{ieeg_onset}", "--panel", "topography"),
    ),
    Picture(
        "figure",
        "A page for print",
        "Drawn by `main.py figure` as vectors: scale, montage, filters, colour bar, method and model.",
        _figure(_SEIZURE, "--checkpoint", _AXON, "--start", "18", "--duration", "10",
                "--overlay", "integrated-gradients"),
    ),
    Picture(
        "figure-channel-map",
        "An analysis for print",
        "What flows between channels, as `main.py analyze channel-map` draws it.",
        ("analyze", "channel-map", _SCALP, "--checkpoint", _MVPFORMER),
    ),
)  # fmt: skip


def make_gallery(recordings: Path, only: Sequence[str] = ()) -> None:
    """Render the pictures that are named, or all, and write the page that shows them."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        places = _places(recordings, Path(scratch))
        for picture in PICTURES:
            if not only or picture.name in only:
                print(picture.name, flush=True)
                _render(picture, places, Path(scratch))
        _PAGE.write_text(page(places), encoding="utf-8")


def _places(recordings: Path, scratch: Path) -> dict[str, str]:
    """What stands for the names in braces."""
    from analysis.simulation.truth import read_truth

    ieeg = scratch / Path(_IEEG).name
    _run(*_SIMULATE, "--out", str(ieeg))
    demo, made = read_truth(_ROOT / _DEMO), read_truth(ieeg)
    assert demo is not None
    assert made is not None
    return {
        "recordings": str(recordings),
        "made": str(scratch),
        "ictal": f"{demo.events[0].onset + 8:g}",
        "ieeg_onset": f"{made.events[0].onset + 8:g}",
    }


def _render(picture: Picture, places: dict[str, str], scratch: Path) -> None:
    arguments = [argument.format(**places) for argument in picture.arguments]
    if arguments[0] == "analyze":
        _run(*arguments, "--out", str(scratch))
        image = _drawn(scratch / f"{arguments[1]}.svg")
    else:
        out = scratch / f"{picture.name}.png"
        _run(*arguments, "--out", str(out))
        image = QImage(str(out))
    if not image.save(str(_FOLDER / f"{picture.name}.webp"), quality=_QUALITY):
        raise SystemExit(f"the picture could not be written ({picture.name})")


def _drawn(svg: Path, width: int = 1600) -> QImage:
    from PyQt6.QtGui import QPainter
    from PyQt6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(str(svg))
    size = renderer.defaultSize()
    image = QImage(width, width * size.height() // size.width(), QImage.Format.Format_RGB32)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def _run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "main.py", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"main.py {' '.join(arguments)}\n{done.stderr}")


def page(places: Mapping[str, str]) -> str:
    """The page that shows all pictures with the commands that make them, files named without their folders."""
    shown = {**places, "recordings": "", "made": ""}
    made = " ".join((*_SIMULATE, "--out", Path(_IEEG).name))
    lines = [
        "# Gallery", "",
        "Every picture is made by `python -m app.gallery`, from the command below it; the simulated iEEG by "
        f"`main.py {made}`.", "",
    ]  # fmt: skip
    for picture in PICTURES:
        command = " ".join(argument.format(**shown).removeprefix("/") for argument in picture.arguments)
        lines += [
            f"## {picture.title}", "", picture.text, "", f"![{picture.title}](gallery/{picture.name}.webp)", "",
            f"`main.py {command}`", "",
        ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder of real recordings")
    parser.add_argument("only", nargs="*", help="names of pictures (default: all)")
    options = parser.parse_args()
    draw_off_screen()
    from PyQt6.QtWidgets import QApplication

    application = QApplication(sys.argv[:1])
    make_gallery(options.recordings, options.only)
