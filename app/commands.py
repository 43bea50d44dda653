"""What the actions of the menus and keys do to a main window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFileDialog, QMessageBox

from analysis.progress import Progress
from app.asking import ask
from app.dialogs.calibration import CalibrationDialog
from app.dialogs.command_search import Command, CommandSearch, commands_of_menu
from app.dialogs.event_rules import EventRulesDialog
from app.dialogs.find_channel import FindChannel, list_places
from app.dialogs.help import HelpDialog
from app.jobs import Job
from app.kept_results import key_of
from app.look import screen_name
from app.model_panel import listed_model, title_for
from app.model_stamp import stamp
from app.session import ModelChoice
from app.status_line import RESEARCH_ONLY

if TYPE_CHECKING:
    from app.main_window import MainWindow

RECORDING_SUFFIXES = "edf bdf rec fif gz vhdr set gdf lay cnt eeg h5 hdf5 mat"
RECORDING_FILES = f"Recordings ({' '.join(f'*.{s}' for s in RECORDING_SUFFIXES.split())});;All files (*)"
EVENT_FILES = "Events (*.tsv *.csv *.csv_bi *.tse *.txt *.seizures *.edf);;All files (*)"
CHECKPOINT_FILES = "Checkpoints (*.safetensors *.pt *.pth *.ckpt);;All files (*)"


def handlers(window: MainWindow) -> dict[str, Callable[[], None]]:
    """One handler per action of `app.actions.ACTIONS`."""
    session = window.session
    return {
        "open": partial(choose_recording, window),
        "open_events": partial(choose_events, window),
        "screenshot": partial(save_screenshot, window),
        "quit": lambda: window.close(),
        "next_page": partial(session.page, 1),
        "previous_page": partial(session.page, -1),
        "next_second": lambda: session.go_to(session.window.start + 1),
        "previous_second": lambda: session.go_to(session.window.start - 1),
        "first_page": partial(session.go_to, 0.0),
        "last_page": lambda: session.go_to(session.duration),
        "more_sensitive": partial(session.step_sensitivity, 1),
        "less_sensitive": partial(session.step_sensitivity, -1),
        "toggle_notch": partial(toggle_notch, window),
        "overlays": lambda: show_dock(window, "overlays"),
        "clock": lambda: window.set_clock(window.actions_by_id["clock"].isChecked()),
        "calibrate": partial(calibrate, window),
        "load_checkpoint": partial(choose_checkpoint, window),
        "run": lambda: run_model(window),
        "cancel": partial(let_go_or_cancel, window),
        "event_rules": partial(choose_rules, window),
        "own_events": window.runs.use_own,
        "help": lambda: HelpDialog(window).exec(),
        "find_command": partial(find_command, window),
        "new_window": partial(open_new_window, window),
        "reset_view": window.reset_view,
        "reset_settings": partial(reset_settings, window),
        "about": partial(show_about, window),
        "hide_overlays": lambda: window.hide_overlays(window.actions_by_id["hide_overlays"].isChecked()),
        "caliper": lambda: window.measuring.arm_caliper(window.actions_by_id["caliper"].isChecked()),
        **window.measuring.handlers(),
        **window.analysing.handlers(),
        **window.montages.handlers(),
        **window.scaling.handlers(),
        **window.look.handlers(),
        **window.key_ways.handlers(),
        **window.marking.handlers(),
        **window.queue.handlers(),
        **window.review_edits.handlers(),
        **window.events_dock.handlers(),
        **window.comparing.handlers(),
        **window.rater_name.handlers(),
        "higher_threshold": partial(window.runs.step_threshold, 1),
        "lower_threshold": partial(window.runs.step_threshold, -1),
        **window.saving.handlers(),
        **window.reporting.handlers(),
        **window.exporting.handlers(),
        **window.touring.handlers(),
        **window.walking.handlers(),
        "raters": lambda: show_dock(window, "raters"),
        **window.trending.handlers(),
        **window.travelling.handlers(),
        **window.playing.handlers(),
        "find_channel": partial(find_channel, window),
    }


def choose_recording(window: MainWindow) -> None:
    """Ask for a recording and open it."""
    path, _ = QFileDialog.getOpenFileName(window, "Open recording", window.settings.last_folder, RECORDING_FILES)
    if path:
        window.settings.last_folder = str(Path(path).parent)
        window.open_recording(path)


def choose_events(window: MainWindow) -> None:
    """Ask for an event file and show its events beside those of the recording."""
    path, _ = QFileDialog.getOpenFileName(window, "Open events", window.settings.last_folder, EVENT_FILES)
    if path:
        window.opener.read_events(path, window.session.recording)


def choose_checkpoint(window: MainWindow) -> None:
    """Ask for a checkpoint and list it once its facts are known."""
    path, _ = QFileDialog.getOpenFileName(window, "Load checkpoint", window.settings.last_folder, CHECKPOINT_FILES)
    if path:
        load_checkpoint(window, ModelChoice(title_for(path), path))


def choose_head(window: MainWindow, model: ModelChoice) -> None:
    """Ask for the head that turns a base checkpoint into a seizure detector."""
    folder = str(Path(model.checkpoint).parent)
    path, _ = QFileDialog.getOpenFileName(window, "Choose head", folder, CHECKPOINT_FILES)
    if path:
        load_checkpoint(window, ModelChoice(title_for(model.checkpoint, path), model.checkpoint, path, model.config))


def load_checkpoint(window: MainWindow, model: ModelChoice) -> Job:
    """Describe a checkpoint in the engine process and list it in the panel."""
    arguments = {"path": model.checkpoint, "head": model.head, "config": model.config}
    describe = "models.random_checkpoints:describe_any"
    key = key_of("checkpoint", "", (stamp(model),), {})

    def work(progress: Progress) -> dict[str, Any]:
        return window.kept.facts(key, lambda: window.engine.call(describe, arguments, progress))

    job = Job(f"Read {model.title}", work)
    job.succeeded.connect(lambda facts: window.model_panel.add(listed_model(model, facts), facts))
    job.failed.connect(window.show_error)
    window.runner.submit(job)
    return job


def list_random(window: MainWindow, name: str) -> None:
    """List a model with random weights, or choose it where it is listed."""
    try:
        window.model_panel.choose(name)
    except KeyError:
        load_checkpoint(window, ModelChoice(title_for(name), name))


def run_model(window: MainWindow) -> None:
    """Run the chosen model over the open recording."""
    if window.session.recording is None:
        window.status.say("open a recording first", "warning")
    elif window.session.model is not None:
        window.runs.run(window.session.model, window.toolbar.device)


def let_go_or_cancel(window: MainWindow) -> None:
    """End what is nearest at hand: the tour, a selection or mark, a caliper, the scrolling page, or else every job."""
    if not (window.touring.dismiss() or window.marking.let_go() or window.measuring.escape() or window.playing.stop()):
        window.runner.cancel_all()


def save_screenshot(window: MainWindow) -> None:
    """Ask where to save a picture of the window and save it."""
    window.view.refine_now()
    picture = window.grab()
    path, _ = QFileDialog.getSaveFileName(window, "Save a picture", "cerebroscope.png", "Pictures (*.png)")
    if path and not picture.save(path, "PNG"):
        window.status.say(f"the picture could not be written to {path}: choose another folder", "bad")
    elif path:
        window.status.say(f"saved {path}")


def toggle_notch(window: MainWindow) -> None:
    """Switch the notch off, or on at what hums in the recording; where nothing does, at the frequency used last."""
    session = window.session
    session.change_view(notch=0.0 if session.view.notch else session.mains or window.settings.mains)


def calibrate(window: MainWindow) -> None:
    """Ask how long a bar on the screen is, and use true millimetres from then on."""
    view = window.view
    dialog = CalibrationDialog(view.px_per_mm(), window, screen_name(window.screen()), view.is_calibrated())
    if dialog.exec():
        window.set_px_per_mm(dialog.px_per_mm)


def choose_rules(window: MainWindow) -> None:
    """Let the reader set how events are made of probabilities."""
    dialog = EventRulesDialog(window.runs.making.rule, window.session.duration, window, window.runs.own.rule)
    if dialog.exec():
        window.runs.set_rule(dialog.rule())


def all_commands(window: MainWindow) -> list[Command]:
    """Everything that menus and fields of the window offer, as the search lists it."""
    bar = window.menuBar()
    assert bar is not None
    found = commands_of_menu(bar)
    for field in window.toolbar.fields():
        if field is not window.toolbar.montage:  # montages stand in the menus
            found += [Command("", field.accessibleName(), action) for action in field.choices()]
    trends = window.view.trends.axis.button.menu()
    assert trends is not None
    return found + commands_of_menu(trends, "Trends")


def find_command(window: MainWindow) -> None:
    """Let the reader find an action by its name, and do it."""
    search = CommandSearch(all_commands(window), window)
    if search.exec() and search.chosen is not None:
        search.chosen.trigger()


def find_channel(window: MainWindow) -> None:
    """Let the reader find a row by an electrode's name, and point it out; or say which montage has it."""
    session = window.session
    recording, montage = session.recording, session.montage
    if recording is None or montage is None:
        window.status.say("open a recording first", "warning")
        return
    dialog = FindChannel(list_places(recording.channels, montage, window.montages.derivable()), window)
    if not ask(dialog, session) or dialog.chosen is None:
        return
    window.view.trace_view.gutter.set_chosen(dialog.chosen.row)
    if dialog.chosen.row is None:
        window.status.say(f"{dialog.chosen.name} is {dialog.chosen.told}", "warning")


def open_new_window(window: MainWindow) -> MainWindow:
    """Open another window, on the same recording and page where there is one; both show the same marks."""
    other = type(window)(window.settings, workplace=window.workplace)
    other.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    other.resize(window.size())
    other.show()
    session = window.session
    if session.recording is not None:
        other.open_recording(str(session.recording.path), session.window.start)
    return other


def reset_settings(window: MainWindow) -> None:
    """Go back to the settings of the first start, once the reader has agreed; marks and recordings are not touched."""
    question = "Forget all settings: filters, sensitivity, theme, layout and measured screen? Marks are kept."
    if QMessageBox.question(window, "Reset all settings", question) == QMessageBox.StandardButton.Yes:
        window.settings.reset()
        window.runs.use_own()
        window.montages.refresh()
        window.set_theme(window.settings.theme)
        window.set_px_per_mm(window.settings.px_per_mm)
        window.reset_view()


def show_dock(window: MainWindow, name: str) -> None:
    """Bring a panel into view."""
    window.docks[name].show()
    window.docks[name].raise_()


def show_about(window: MainWindow) -> None:
    """Say what the program is and what it is not for."""
    text = (
        "Cerebroscope: EEG and iEEG recordings, and what foundation models make of them.\n\n"
        f"{RESEARCH_ONLY}. Models are wrong often; their output is a suggestion to review.\n"
        "Nothing is sent over a network and no recording is ever written.\n\nLicence: GPL-3.0-or-later"
    )
    QMessageBox.about(window, "About Cerebroscope", text)


def show_error_box(window: MainWindow, sentence: str, details: str) -> None:
    """Show a sentence with the details behind a button, without stopping the rest of the window.

    A sentence that is on screen already, as when page after page of a lost disk fails, is not shown twice.
    """
    for shown in window.findChildren(QMessageBox):
        if shown.isVisible() and shown.text() == sentence:
            shown.raise_()
            return
    box = QMessageBox(QMessageBox.Icon.Warning, "Cerebroscope", sentence, QMessageBox.StandardButton.Ok, window)
    box.setDetailedText(details)
    box.setModal(False)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.show()
