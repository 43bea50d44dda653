"""The toolbar: how the traces are shown, which model runs, and the button that starts it."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QEvent, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QColor, QIcon, QPainter, QPalette, QPixmap
from PyQt6.QtWidgets import QToolBar, QToolButton

from app.montage_entries import AS_RECORDED_TITLE, MontageEntry, title_of
from app.page_length import page_text, rounded
from app.page_note import HIDES_SLOW, MUSCLE_LIKE_BETA, hides_slow, looks_like_beta
from app.session import ModelChoice, Session
from app.toolbar import ChoiceButton
from app.view import HIGHPASSES, LOWPASSES, NOTCHES, PAGE_SECONDS, SENSITIVITIES, USUAL_SENSITIVITIES, View

_NOT_CALIBRATED = "the screen has not been measured: millimetres are approximate"


class ViewToolbar(QToolBar):
    """Fields bound to the session's view, plus model, device and Run."""

    montage_chosen = pyqtSignal(object)  # name
    editor_requested = pyqtSignal()
    model_chosen = pyqtSignal(object)
    device_chosen = pyqtSignal(str)
    load_requested = pyqtSignal()
    speed_chosen = pyqtSignal(float)  # millimetres a second
    length_requested = pyqtSignal()
    kinds_requested = pyqtSignal()
    calibration_requested = pyqtSignal()

    def __init__(self, session: Session, open_action: QAction, run_action: QAction) -> None:
        super().__init__("View")
        self.setObjectName("toolbar")
        self.setMovable(False)
        self._session = session
        self._speeds: list[tuple[float, float]] = []
        self._is_calibrated = True
        self._listed: tuple[int, ...] = ()  # sensitivities in the menu
        self._montages: dict[str, MontageEntry] = {}
        self.device = "auto"
        self.open = QToolButton()
        self.open.setDefaultAction(open_action)
        self.open.setText("Open…")
        self.montage = ChoiceButton("Montage", "Which differences of electrodes the rows show (1 to 9)")
        self.low = ChoiceButton(
            "Low", "Low-frequency filter with its time constant; zero phase, 24 dB per octave", "Low filter"
        )
        self.high = ChoiceButton("High", "High-frequency filter; zero phase, 24 dB per octave", "High filter")
        self.notch = ChoiceButton("Notch", "Mains filter (F)", "Notch filter")
        self.sensitivity = ChoiceButton("Sens.", "Microvolts per millimetre of screen (Up, Down)", "Sensitivity")
        self.page = ChoiceButton(
            "Page", "Time per page, or millimetres a second ([ and ], Ctrl+] to type it)", "Page length"
        )
        self.model = ChoiceButton("Model", "The model that Run starts")
        self.device_button = ChoiceButton("Device", "Where the model runs")
        self.run = QToolButton()
        self.run.setDefaultAction(run_action)
        self.run.setText("Run  R")
        self.run.setObjectName("run")
        for widget in (self.open, self.montage, self.low, self.high, self.notch, self.sensitivity, self.page):
            self._place(widget)
        for widget in (self.model, self.device_button, self.run):
            self._place(widget)
        self._fill()
        self._connect()

    def _place(self, widget: QToolButton) -> None:
        widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.addWidget(widget)

    def fields(self) -> list[ChoiceButton]:
        """The fields with choices, in their order."""
        return [
            self.montage,
            self.low,
            self.high,
            self.notch,
            self.sensitivity,
            self.page,
            self.model,
            self.device_button,
        ]

    def changeEvent(self, event: QEvent | None) -> None:
        """Draw the sign for fields that do not fit in the colours of a new theme; style sheets leave it blank."""
        super().changeEvent(event)
        if event is None or event.type() not in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            return
        more = self.findChild(QToolButton, "qt_toolbar_ext_button")
        if more is not None:
            more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            more.setAccessibleName("More fields")
            more.setToolTip("The fields that have no room here")
            more.setIcon(_more_icon(self.palette().color(QPalette.ColorRole.ButtonText)))

    def _fill(self) -> None:
        view = self._session.view
        self.montage.set_choices([(AS_RECORDED_TITLE, view.montage)], view.montage)
        self.low.set_choices([(low_text(f), f) for f in HIGHPASSES], view.highpass)
        self.notch.set_choices([(notch_text(*n), n) for n in NOTCHES], (view.notch, view.harmonics))
        self._fill_high()
        for button in (self.low, self.notch):
            self._offer_kinds(button)
        self._fill_page()
        self.set_devices(("auto", "cpu", "cuda"))
        self.show_view(view)

    def _offer_kinds(self, button: ChoiceButton) -> None:
        button.add_command("Per channel type…", self.kinds_requested.emit)

    def _fill_high(self) -> None:
        """List the high filters, without those that the recording's rate leaves nothing to do."""
        nyquist = self._session.recording.sfreq / 2 if self._session.recording is not None else float("inf")
        refused: dict[object, str] = {f: f"the recording ends at {nyquist:g} Hz" for f in LOWPASSES if f >= nyquist}
        self.high.set_choices([(hertz(f), f) for f in LOWPASSES], self._session.view.lowpass, refused)
        self._offer_kinds(self.high)

    def _fill_sensitivity(self, current: float) -> None:
        """List the usual sensitivities, and beyond them as far as the one in force asks."""
        listed = tuple(s for s in SENSITIVITIES if s in USUAL_SENSITIVITIES or s <= current)
        if listed != self._listed:
            self._listed = listed
            tips: dict[object, str] = {float(s): scale_text(s) for s in listed}
            self.sensitivity.set_choices([(f"{s} µV/mm", float(s)) for s in listed], current, tips=tips)
            self._offer_kinds(self.sensitivity)

    def _fill_page(self) -> None:
        """List lengths in seconds, the whole recording, and speeds with the seconds that they come to."""
        length = self._session.duration
        choices: list[tuple[str, object] | None] = [(page_text(s), (float(s), 0.0)) for s in PAGE_SECONDS]
        if length:
            choices.append((f"Whole recording   {page_text(length)}", (length, 0.0)))
        remark = "" if self._is_calibrated else "   not calibrated"
        speeds = [(f"{v:g} mm/s   {page_text(rounded(s))}{remark}", (0.0, v)) for v, s in self._speeds]
        choices += [None, *speeds] if speeds else []
        self.page.set_choices(choices, self._page_data(self._session.view))
        self.page.add_command("Other length…\tCtrl+]", self.length_requested.emit)
        self.page.add_command("Measure the screen…", self.calibration_requested.emit)

    @staticmethod
    def _page_data(view: View) -> tuple[float, float]:
        return (0.0, view.mm_per_second) if view.mm_per_second else (view.page_seconds, 0.0)

    def show_speeds(self, speeds: list[tuple[float, float]], is_calibrated: bool) -> None:
        """Offer (millimetres a second, seconds a page) for the present width of the traces."""
        if (speeds, is_calibrated) != (self._speeds, self._is_calibrated):
            self._speeds, self._is_calibrated = speeds, is_calibrated
            self._fill_page()
            self._show_page(self._session.view)

    def _connect(self) -> None:
        change = self._session.change_view
        self.montage.chosen.connect(self.montage_chosen)
        self.low.chosen.connect(lambda value: change(highpass=value))
        self.high.chosen.connect(lambda value: change(lowpass=value))
        self.notch.chosen.connect(lambda value: change(notch=value[0], harmonics=value[1]))
        self.sensitivity.chosen.connect(lambda value: change(uv_per_mm=value))
        self.page.chosen.connect(self._on_page)
        self.model.chosen.connect(self.model_chosen)
        self.device_button.chosen.connect(self._on_device)
        self._session.view_changed.connect(lambda view, _before: self.show_view(view))
        self._session.opened.connect(self._on_opened)
        self._session.montage_changed.connect(self._show_montage)

    def _on_opened(self, recording: object) -> None:
        assert self._session.recording is not None
        self._fill_high()
        self._fill_page()
        self.show_view(self._session.view)

    def _on_page(self, value: tuple[float, float]) -> None:
        seconds, speed = value
        if speed:
            self.speed_chosen.emit(speed)
        else:
            self._session.change_view(page_seconds=seconds)

    def _on_device(self, device: object) -> None:
        self.device = str(device)
        self.device_button.set_value(device_text(self.device), self.device)
        self.device_chosen.emit(self.device)

    def show_view(self, view: View) -> None:
        """Show the values in force."""
        self._show_montage()
        constant = time_constant_text(view.highpass)
        self.low.set_value(hertz(view.highpass), view.highpass, constant)
        self.high.set_value(hertz(view.lowpass), view.lowpass)
        notch = (view.notch, view.harmonics and view.notch > 0)
        self.notch.set_value(hertz(view.notch), notch, "and harmonics" if notch[1] else "")
        # Filters that can make slowing vanish or muscle look like beta are marked where they are set.
        self.low.set_lit(hides_slow(view), HIDES_SLOW)
        self.high.set_lit(looks_like_beta(view), MUSCLE_LIKE_BETA)
        self.notch.set_lit(view.notch > 0, "on")
        self._fill_sensitivity(view.uv_per_mm)
        self.sensitivity.set_value(f"{view.uv_per_mm:g} µV/mm", view.uv_per_mm)
        self._show_page(view)

    def show_montages(self, entries: Sequence[MontageEntry]) -> None:
        """List the montages that suit the recording, those that cannot be derived in grey with the reason."""
        self._montages = {entry.name: entry for entry in entries}
        choices: list[tuple[str, object] | None] = []
        for entry in entries:
            choices += [None, (entry.text, entry.name)] if entry.starts_group else [(entry.text, entry.name)]
        refused: dict[object, str] = {entry.name: entry.refusal for entry in entries}
        self.montage.set_choices(choices, self._session.view.montage, refused)
        self.montage.add_command("Montages of your own…\tCtrl+M", self.editor_requested.emit)
        self._show_montage()

    def _show_montage(self, _montage: object = None) -> None:
        """Show the montage in force, lit where there is something that the reader must know of it."""
        name, montage = self._session.view.montage, self._session.montage
        entry = self._montages.get(name)
        short, key = (entry.short, entry.key) if entry is not None else (title_of(name).partition(",")[0], "")
        self.montage.set_value(short, name, key)
        note = montage.note if montage is not None else ""
        self.montage.set_lit(bool(note), note)

    def _show_page(self, view: View) -> None:
        length = page_text(view.page_seconds)
        if view.mm_per_second:
            seconds = page_text(rounded(view.page_seconds))
            self.page.set_value(f"{view.mm_per_second:g} mm/s", self._page_data(view), seconds)
        else:
            self.page.set_value(length, self._page_data(view))
        self.page.set_lit(bool(view.mm_per_second) and not self._is_calibrated, _NOT_CALIBRATED)

    def show_models(self, models: list[ModelChoice], current: ModelChoice | None) -> None:
        """List the models that can be run."""
        self.model.set_choices([(m.title, m) for m in models], current)
        self.model.add_command("Load checkpoint…", self.load_requested.emit)
        self.model.set_value(current.title if current else "none", current)

    def set_devices(self, devices: tuple[str, ...]) -> None:
        """List the devices a model can run on; "auto" is a GPU when there is one."""
        self.device_button.set_choices([(device_text(d), d) for d in devices], self.device)
        self.device_button.set_value(device_text(self.device), self.device)


def _more_icon(colour: QColor) -> QIcon:
    """The sign "»" as an icon."""
    picture = QPixmap(32, 32)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    font = painter.font()
    font.setPixelSize(30)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(picture.rect(), Qt.AlignmentFlag.AlignCenter, "»")
    painter.end()
    return QIcon(picture)


def hertz(value: float) -> str:
    """A cut-off as text; 0 is off."""
    return f"{value:g} Hz" if value else "off"


def time_constant_text(highpass: float) -> str:
    """The time constant 1 / (2 pi f) that electroencephalographers read a low filter by."""
    return f"{1 / (2 * 3.141592653589793 * highpass):.2g} s" if highpass else ""


def low_text(highpass: float) -> str:
    """A low filter with its time constant."""
    return f"{hertz(highpass)}   {time_constant_text(highpass)}".rstrip()


def notch_text(notch: float, harmonics: bool) -> str:
    """A mains filter as text; 0 is off."""
    return f"{hertz(notch)} and harmonics" if harmonics and notch else hertz(notch)


def scale_text(uv_per_mm: float) -> str:
    """The other ways of saying a sensitivity."""
    return f"{10 * uv_per_mm:g} µV/cm; 50 µV are {50 / uv_per_mm:.3g} mm"


def device_text(device: str) -> str:
    """A device as a person calls it."""
    return {"auto": "auto", "cpu": "CPU", "cuda": "GPU"}.get(device, device)
