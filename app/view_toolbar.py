"""The toolbar: how the traces are shown, which model runs, and the button that starts it."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, Qt, pyqtSignal
from PyQt6.QtGui import QAction, QColor, QIcon, QPainter, QPalette, QPixmap
from PyQt6.QtWidgets import QToolBar, QToolButton

from analysis.montage import AS_RECORDED, AVERAGE, LB_18_1, MONTAGES, refusal
from app.session import HIGHPASSES, LOWPASSES, NOTCHES, PAGE_SECONDS, SENSITIVITIES, ModelChoice, Session, View
from app.toolbar import ChoiceButton

MONTAGE_TITLES = {AS_RECORDED: "As recorded", LB_18_1: "Longitudinal bipolar", AVERAGE: "Common average"}
MONTAGE_KEYS = {name: str(i) for i, name in enumerate(MONTAGES, 1)}
_MISLEADING_LOWPASS = 35.0
_MISLEADING_HIGHPASS = 2.0


class ViewToolbar(QToolBar):
    """Fields bound to the session's view, plus model, device and Run."""

    model_chosen = pyqtSignal(object)
    device_chosen = pyqtSignal(str)
    load_requested = pyqtSignal()

    def __init__(self, session: Session, open_action: QAction, run_action: QAction) -> None:
        super().__init__("View")
        self.setObjectName("toolbar")
        self.setMovable(False)
        self._session = session
        self.device = "auto"
        self.open = QToolButton()
        self.open.setDefaultAction(open_action)
        self.open.setText("Open…")
        self.montage = ChoiceButton("Montage", "Which differences of electrodes the rows show (1, 2, 3)")
        self.low = ChoiceButton("Low", "Low-frequency filter with its time constant; zero phase, 12 dB per octave")
        self.high = ChoiceButton("High", "High-frequency filter; zero phase, 12 dB per octave")
        self.notch = ChoiceButton("Notch", "Mains filter (F)")
        self.sensitivity = ChoiceButton("Sens.", "Microvolts per millimetre of screen (Up, Down)")
        self.page = ChoiceButton("Page", "Seconds per page ([ and ])")
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
        widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.addWidget(widget)

    def changeEvent(self, event: QEvent | None) -> None:
        """Draw the sign for fields that do not fit in the colours of a new theme; style sheets leave it blank."""
        super().changeEvent(event)
        more = self.findChild(QToolButton, "qt_toolbar_ext_button")
        if (
            more is not None
            and event is not None
            and event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)
        ):
            more.setIcon(_more_icon(self.palette().color(QPalette.ColorRole.ButtonText)))

    def _fill(self) -> None:
        view = self._session.view
        self.montage.set_choices([(f"{MONTAGE_TITLES[n]}\t{MONTAGE_KEYS[n]}", n) for n in MONTAGES], view.montage)
        self.low.set_choices([(low_text(f), f) for f in HIGHPASSES], view.highpass)
        self.high.set_choices([(hertz(f), f) for f in LOWPASSES], view.lowpass)
        self.notch.set_choices([(hertz(f), f) for f in NOTCHES], view.notch)
        self.sensitivity.set_choices([(f"{s} µV/mm", float(s)) for s in SENSITIVITIES], view.uv_per_mm)
        self.page.set_choices([(page_text(s), float(s)) for s in PAGE_SECONDS], view.page_seconds)
        self.set_devices(("auto", "cpu", "cuda"))
        self.show_view(view)

    def _connect(self) -> None:
        change = self._session.change_view
        self.montage.chosen.connect(lambda value: change(montage=value))
        self.low.chosen.connect(lambda value: change(highpass=value))
        self.high.chosen.connect(lambda value: change(lowpass=value))
        self.notch.chosen.connect(lambda value: change(notch=value))
        self.sensitivity.chosen.connect(lambda value: change(uv_per_mm=value))
        self.page.chosen.connect(lambda value: change(page_seconds=value))
        self.model.chosen.connect(self.model_chosen)
        self.device_button.chosen.connect(self._on_device)
        self._session.view_changed.connect(lambda view, _before: self.show_view(view))
        self._session.opened.connect(self._on_opened)

    def _on_opened(self, recording: object) -> None:
        assert self._session.recording is not None
        refused: dict[object, str] = {name: refusal(name, self._session.recording) for name in MONTAGES}
        choices = [(f"{MONTAGE_TITLES[n]}\t{MONTAGE_KEYS[n]}", n) for n in MONTAGES]
        self.montage.set_choices(choices, self._session.view.montage, refused)
        self.show_view(self._session.view)

    def _on_device(self, device: object) -> None:
        self.device = str(device)
        self.device_button.set_value(device_text(self.device), self.device)
        self.device_chosen.emit(self.device)

    def show_view(self, view: View) -> None:
        """Show the values in force."""
        self.montage.set_value(MONTAGE_TITLES.get(view.montage, view.montage), view.montage, MONTAGE_KEYS[view.montage])
        constant = time_constant_text(view.highpass)
        self.low.set_value(hertz(view.highpass), view.highpass, constant)
        self.high.set_value(hertz(view.lowpass), view.lowpass)
        self.notch.set_value(hertz(view.notch), view.notch)
        # Filters that can make slowing vanish or muscle look like beta are marked where they are set.
        self.low.set_lit(view.highpass > _MISLEADING_HIGHPASS, "hides slow activity")
        self.high.set_lit(0 < view.lowpass < _MISLEADING_LOWPASS, "muscle can look like beta")
        self.notch.set_lit(view.notch > 0, "on")
        self.sensitivity.set_value(f"{view.uv_per_mm:g} µV/mm", view.uv_per_mm)
        self.page.set_value(page_text(view.page_seconds), view.page_seconds)

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


def page_text(seconds: float) -> str:
    """A page length in the unit that reads best."""
    if seconds < 60 or seconds % 60:
        return f"{seconds:g} s"
    if seconds < 3600:
        return f"{seconds / 60:g} min"
    return f"{seconds / 3600:g} h"


def device_text(device: str) -> str:
    """A device as a person calls it."""
    return {"auto": "auto", "cpu": "CPU", "cuda": "GPU"}.get(device, device)
