"""Settings and per-recording files: where they lie, what survives, and what happens to damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.settings import (
    Folders,
    RecordingState,
    Settings,
    folders,
    load_recording_state,
    load_settings,
    save_recording_state,
    save_settings,
)

HOME = Path.home()


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"CEREBROSCOPE_HOME": "/c"}, "linux", ("/c/config", "/c/data", "/c/cache")),
        ({"CEREBROSCOPE_HOME": "/c"}, "darwin", ("/c/config", "/c/data", "/c/cache")),
        (
            {},
            "linux",
            (HOME / ".config/cerebroscope", HOME / ".local/share/cerebroscope", HOME / ".cache/cerebroscope"),
        ),
        (
            {"XDG_CONFIG_HOME": "/x/c", "XDG_DATA_HOME": "/x/d", "XDG_CACHE_HOME": "relative"},
            "linux",
            ("/x/c/cerebroscope", "/x/d/cerebroscope", HOME / ".cache/cerebroscope"),
        ),
        (
            {},
            "darwin",
            (
                HOME / "Library/Application Support/cerebroscope/config",
                HOME / "Library/Application Support/cerebroscope/data",
                HOME / "Library/Caches/cerebroscope",
            ),
        ),
        (
            {"APPDATA": "/r", "LOCALAPPDATA": "/l"},
            "win32",
            ("/r/cerebroscope/config", "/r/cerebroscope/data", "/l/cerebroscope/cache"),
        ),
    ],
)
def test_folders(environment, platform, expected):
    assert folders(environment, platform) == Folders(*map(Path, expected))


def test_nothing_saved_yet_means_defaults_and_no_complaint(tmp_path):
    assert load_settings(tmp_path) == (Settings(), [])
    assert load_recording_state("abc", tmp_path) == (RecordingState(), [])
    assert list(tmp_path.iterdir()) == []


def test_settings_come_back_as_they_were(tmp_path):
    settings = Settings(
        theme="dark", px_per_mm=3.78, model_events={"a.pt": {"rule": "E.1", "merge_gap": 60.0}}, highpass=1
    )
    settings.screens["A 1920x1080 @1"] = 4.0
    settings.kinds["ecg"] = {"uv_per_mm": 50.0, "highpass": None}
    settings.text_scale = 150
    settings.remember_file(tmp_path / "ä.edf")
    save_settings(settings, tmp_path / "config")
    assert load_settings(tmp_path / "config") == (settings, [])
    assert json.loads((tmp_path / "config/settings.json").read_text("utf-8"))["version"] == 1


def test_each_recording_has_its_own_file(tmp_path):
    state = RecordingState("LB-18.1", 1234.5, 20.0, {"seizure": False}, mm_per_second=30.0, gains={"F8-T4": 20.0})
    save_recording_state("abc", state, tmp_path)
    assert load_recording_state("abc", tmp_path) == (state, [])
    assert load_recording_state("def", tmp_path) == (RecordingState(), [])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"version": 99}',
        b"{}",
        b"\xff\xfe",
        b'{"version": 1, "theme": "dark"',
        b"[" * 100_000,
    ],
    ids=["empty", "open", "list", "null", "newer", "no version", "binary", "cut off", "deep"],
)
def test_a_damaged_file_is_set_aside_and_reported(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    settings, complaints = load_settings(tmp_path)
    assert settings == Settings()
    assert len(complaints) == 1
    assert str(path) in complaints[0]
    assert "\n" not in complaints[0]
    assert not path.exists()
    (aside,) = tmp_path.iterdir()
    assert aside.read_bytes() == content
    assert aside.name in complaints[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "pink"),
        ("theme", 3),
        ("uv_per_mm", 0),
        ("uv_per_mm", "7"),
        ("uv_per_mm", True),
        ("page_seconds", float("nan")),
        ("highpass", -1),
        ("mains", 55),
        ("px_per_mm", 0),
        ("screens", {"A": "wide"}),
        ("kinds", {"ecg": {"uv_per_mm": "flat"}}),
        ("kinds", {"ecg": 70.0}),
        ("text_scale", 133),
        ("trace_colours", "pink"),
        ("positive_up", 1),
        ("recent_files", ["a", 1]),
        ("model_events", {"a.pt": {"threshold": [0.5]}}),
        ("window_state", None),
    ],
)
def test_one_value_that_makes_no_sense_costs_only_itself(tmp_path, name, value):
    document = {"version": 1, "last_folder": "/kept", "unknown": 1, name: value}
    (tmp_path / "settings.json").write_text(json.dumps(document))
    settings, complaints = load_settings(tmp_path)
    assert settings == Settings(last_folder="/kept")
    assert [name in complaint for complaint in complaints] == [True]


def test_recent_files_are_few_and_the_newest_comes_first():
    settings = Settings()
    for i in [*range(12), 5]:
        settings.remember_file(f"/data/{i}.edf")
    assert settings.recent_files == [f"/data/{i}.edf" for i in (5, 11, 10, 9, 8, 7, 6, 4, 3, 2)]
    assert settings.last_folder == "/data"
