"""What the program remembers: habits of the person, and facts of one recording; small JSON files, written whole."""

from __future__ import annotations

import json
import math
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from models.whole_files import whole_file

APPLICATION = "cerebroscope"
HOME_VARIABLE = "CEREBROSCOPE_HOME"
VERSION = 1
_RECENT = 10

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Folders:
    """Where the program keeps its files: settings, what belongs to the person, and what can always be made again."""

    config: Path
    data: Path
    cache: Path


def folders(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Folders:
    """The folders of this platform; CEREBROSCOPE_HOME puts all three under one. None of them is made here."""
    if home := environment.get(HOME_VARIABLE):
        root = Path(home).expanduser().absolute()
        return Folders(root / "config", root / "data", root / "cache")
    if platform == "win32":
        roaming = _folder(environment, "APPDATA", "AppData/Roaming") / APPLICATION
        local = _folder(environment, "LOCALAPPDATA", "AppData/Local") / APPLICATION
        return Folders(roaming / "config", roaming / "data", local / "cache")
    if platform == "darwin":
        support = Path.home() / "Library/Application Support" / APPLICATION
        return Folders(support / "config", support / "data", Path.home() / "Library/Caches" / APPLICATION)
    return Folders(
        _folder(environment, "XDG_CONFIG_HOME", ".config") / APPLICATION,
        _folder(environment, "XDG_DATA_HOME", ".local/share") / APPLICATION,
        _folder(environment, "XDG_CACHE_HOME", ".cache") / APPLICATION,
    )


def _folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """The folder a variable names; a relative one does not count (XDG base directory specification)."""
    named = Path(environment.get(variable, ""))
    return named if named.is_absolute() else Path.home() / below_home


@dataclass
class Settings:
    """Habits of the person, the same for every recording; frequencies in hertz, 0 means off.

    `screens` holds what the person measured in pixels per millimetre, by screen; `px_per_mm` what was measured before
    screens were told apart. `kinds` holds by kind of channel what is not usual of its scale and filters, `text_scale`
    the size of letters in per cent. `window_geometry` and `window_state` are Qt's own descriptions in base64,
    `inspector_tab` the open one. `mark_types` are the reader's own types of marks, `mark_uses` how often each type was
    used, the one used last at the end. `model_events` holds, by model, the threshold and the rule for events that the
    reader chose in place of the model's own. With `right_first` the right side of the head stands above the left in
    montages, with `bad_hidden` channels that are marked as bad have no rows. `overlay_*` hold, by overlay, the strength
    and the names of colours of amounts and about a balance, where they are not the usual. `figure_*` are size,
    resolution and form of the figure that was exported last, and where it went.
    """

    theme: str = field(default="system", metadata={"choices": ("system", "light", "dark")})
    last_folder: str = ""
    recent_files: list[str] = field(default_factory=list)
    uv_per_mm: float = field(default=7.0, metadata={"above": 0.0})
    page_seconds: float = field(default=10.0, metadata={"above": 0.0})
    highpass: float = field(default=0.5, metadata={"least": 0.0})
    lowpass: float = field(default=70.0, metadata={"least": 0.0})
    notch: float = field(default=0.0, metadata={"least": 0.0})
    mains: float = field(default=50.0, metadata={"choices": (50.0, 60.0)})
    px_per_mm: float | None = field(default=None, metadata={"above": 0.0})
    screens: dict[str, float] = field(default_factory=dict)
    harmonics: bool = False
    mm_per_second: float = field(default=0.0, metadata={"least": 0.0})
    kinds: dict[str, dict[str, float | None]] = field(default_factory=dict)
    positive_up: bool = False
    clipped: bool = False
    trace_colours: str = field(default="sides", metadata={"choices": ("sides", "sides-swapped", "black", "regions")})
    text_scale: int = field(default=100, metadata={"choices": (80, 90, 100, 110, 125, 150, 175, 200)})
    model_events: dict[str, dict[str, float | str]] = field(default_factory=dict)
    rater: str = ""
    mark_types: list[dict[str, str]] = field(default_factory=list)
    mark_favourites: list[str] = field(default_factory=list)
    mark_uses: dict[str, int] = field(default_factory=dict)
    window_geometry: str = ""
    window_state: str = ""
    inspector_tab: str = ""
    trends_shown: bool = True
    trends_of_short: bool = False  # for recordings of a few minutes
    trends_span: str = field(default="all", metadata={"choices": ("all", "4 h", "1 h")})
    trends_top: float = field(default=20.0, metadata={"choices": (20.0, 30.0)})
    trends_unwanted: list[str] = field(default_factory=list)
    trends_folded: list[str] = field(default_factory=list)
    right_first: bool = False
    bad_hidden: bool = False
    overlay_opacity: dict[str, float] = field(default_factory=dict)
    overlay_amounts: dict[str, str] = field(default_factory=dict)
    overlay_balances: dict[str, str] = field(default_factory=dict)
    figure_width: float = field(default=180.0, metadata={"least": 60.0})  # millimetres
    figure_height: float = field(default=120.0, metadata={"least": 60.0})
    figure_dpi: int = field(default=300, metadata={"least": 50})
    figure_form: str = field(default="svg", metadata={"choices": ("svg", "pdf", "png")})
    figure_folder: str = ""
    tour_refused: bool = False  # the guided tour does not begin by itself any more
    table_places: dict[str, str] = field(default_factory=dict)  # by table of recordings, the folder of the one left at

    def remember_file(self, path: str | Path) -> None:
        """Put a file first among the recent ones, and its folder where the next dialog begins."""
        path = Path(path).absolute()
        self.recent_files = [str(path), *(p for p in self.recent_files if p != str(path))][:_RECENT]
        self.last_folder = str(path.parent)

    def keep_place(self, table: str | Path, folder: str) -> None:
        """Keep where the reader is in a table of recordings, the one used last at the end."""
        others = {name: at for name, at in self.table_places.items() if name != str(table)}
        self.table_places = dict(list({**others, str(table): folder}.items())[-_RECENT:])

    def reset(self) -> None:
        """Take the values of the first start, but for files opened last, own types of marks and the reader's name."""
        kept = ("recent_files", "last_folder", "rater", "mark_types")
        for name, value in vars(type(self)()).items():
            if name not in kept:
                setattr(self, name, value)


@dataclass
class RecordingState:
    """How one recording was last looked at: montage, place and page length in seconds, overlays shown.

    `mm_per_second` is the speed that the page length follows from, 0 for none; `gains` holds by row name the units a
    millimetre stands for, where a row was given a scale of its own. `bad_channels` are those that the reader marked.
    """

    montage: str | None = None
    position: float = field(default=0.0, metadata={"least": 0.0})
    page_seconds: float | None = field(default=None, metadata={"above": 0.0})
    overlays: dict[str, bool] = field(default_factory=dict)
    mm_per_second: float = field(default=0.0, metadata={"least": 0.0})
    gains: dict[str, float] = field(default_factory=dict)
    bad_channels: list[str] = field(default_factory=list)
    hidden_types: list[str] = field(default_factory=list)


def load_settings(folder: Path) -> tuple[Settings, list[str]]:
    """Settings of the person and sentences about what could not be read; defaults where there is nothing."""
    return _load(folder / "settings.json", Settings)


def save_settings(settings: Settings, folder: Path) -> None:
    """Keep the settings; OSError where the folder cannot be written."""
    _save(folder / "settings.json", settings)


def load_recording_state(recording_id: str, folder: Path) -> tuple[RecordingState, list[str]]:
    """How the recording was last looked at, and sentences about what could not be read; `folder` is the data folder."""
    return _load(folder / "recordings" / f"{recording_id}.json", RecordingState)


def save_recording_state(recording_id: str, state: RecordingState, folder: Path) -> None:
    """Keep how a recording is looked at; OSError where the folder cannot be written."""
    _save(folder / "recordings" / f"{recording_id}.json", state)


def _save(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, **asdict(value)}, indent=1, ensure_ascii=False)
    with whole_file(path) as file:
        file.write((text + "\n").encode())


def _load(path: Path, kind: type[Kept]) -> tuple[Kept, list[str]]:
    try:
        document = json.loads(path.read_bytes())
        if not isinstance(document, dict):
            raise ValueError("not an object")
        if document.get("version", 0) != VERSION:
            raise ValueError(f"version {document.get('version')}, not {VERSION}")
    except FileNotFoundError:
        return kind(), []
    except OSError as error:
        return kind(), [f"saved settings cannot be read ({path}): {error.strerror}; defaults are used"]
    except (ValueError, RecursionError) as error:
        return kind(), [_set_aside(path, str(error))]
    hints = typing.get_type_hints(kind)
    good, bad = {}, []
    for entry in fields(kind):  # type: ignore[arg-type]
        if entry.name in document:
            value = document[entry.name]
            if _fits(value, hints[entry.name]) and _allowed(value, entry.metadata):
                good[entry.name] = value
            else:
                bad.append(f"a saved setting makes no sense ({path}): the default of {entry.name} is used")
    return kind(**good), bad


def _set_aside(path: Path, cause: str) -> str:
    aside = path.with_name(f"{path.stem}.damaged-{datetime.now():%Y%m%d-%H%M%S}{path.suffix}")
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"saved settings are damaged and cannot be moved ({path}): {error.strerror}; defaults are used"
    return f"saved settings were damaged ({path}; {cause}): defaults are used, the old file is now {aside.name}"


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of the type a field is declared with."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin is list:
        return isinstance(value, list) and all(_fits(item, inner[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, inner[1]) for item in value.values())
    if inner:
        return any(_fits(value, one) for one in inner)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, hint)


def _allowed(value: Any, limits: Mapping[str, Any]) -> bool:
    if value is None or not limits:
        return True
    if "choices" in limits:
        return value in limits["choices"]
    return value > limits["above"] if "above" in limits else value >= limits["least"]
