"""How the page on the screen is exported as a figure: size, form, panels below it, and into which file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from analysis.analyses import Analysis
from app.figure_request import FORMS, LEAST_MM, MOST_MM
from app.panel import label
from viewers.panels.base import line_of

_COLUMNS = ((85.0, "One column, 85 mm"), (120.0, "One and a half, 120 mm"), (180.0, "Two columns, 180 mm"))
_OWN = "Another width"
_FORM_TITLES = {"svg": "SVG: vectors for editing", "pdf": "PDF: vectors", "png": "PNG: pixels"}
_FILES = "Figures (*.svg *.pdf *.png)"
_LEAST_DPI, _MOST_DPI = 50, 2400
_WIDTH = 480


@dataclass(frozen=True)
class FigureChoice:
    """What was chosen: sizes in millimetres, kinds of analysis for panels."""

    out: Path
    size_mm: tuple[float, float]
    dpi: int
    panels: tuple[str, ...] = ()
    patient: bool = False

    @property
    def form(self) -> str:
        """One of FORMS."""
        return self.out.suffix.lower().lstrip(".")


class ExportFigureDialog(QDialog):
    """Asks for a figure; `choice()` is the answer once it was accepted, and every file it names may be written."""

    def __init__(
        self, first: FigureChoice, shows: str, panels: Sequence[Analysis], patient: str, parent: QWidget | None = None
    ) -> None:
        """`shows` says what the page holds, `panels` are the answers there are, `patient` whom the file names."""
        super().__init__(parent)
        self.setWindowTitle("Export figure")
        self.setMinimumWidth(_WIDTH)
        self.columns = QComboBox()
        self.width_mm, self.height_mm = self._millimetres("Width"), self._millimetres("Height")
        self.dpi = QSpinBox()
        self.form = QComboBox()
        self.path = QLineEdit(str(first.out))
        self.browse = QPushButton("Browse…")
        self.patient = QCheckBox("Write who was recorded over the figure")
        self.panels = QListWidget()
        self.overwrites: Callable[[Sequence[Path]], bool] = self._ask_overwrite
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._ok().setText("Export")
        self._fill(first, panels, patient)
        self._lay(shows, bool(panels))
        self._connect()
        self._on_width(first.size_mm[0])
        self._on_path(self.path.text())

    def _millimetres(self, name: str) -> QDoubleSpinBox:
        made = QDoubleSpinBox()
        made.setRange(LEAST_MM, MOST_MM)
        made.setDecimals(0)
        made.setSuffix(" mm")
        made.setAccessibleName(f"{name} of the page, millimetres")
        made.setToolTip(f"{name} of the page on paper")
        return made

    def _fill(self, first: FigureChoice, panels: Sequence[Analysis], patient: str) -> None:
        for width, title in _COLUMNS:
            self.columns.addItem(title, width)
        self.columns.addItem(_OWN, None)
        self.columns.setAccessibleName("Usual widths")
        self.columns.setToolTip("Widths that journals print")
        self.width_mm.setValue(first.size_mm[0])
        self.height_mm.setValue(first.size_mm[1])
        self.dpi.setRange(_LEAST_DPI, _MOST_DPI)
        self.dpi.setValue(first.dpi)
        self.dpi.setSuffix(" dpi")
        self.dpi.setAccessibleName("Resolution, dots an inch")
        self.dpi.setToolTip("Of a PNG, and of the heat behind vectors")
        for form in FORMS:
            self.form.addItem(_FORM_TITLES[form], form)
        self.form.setCurrentIndex(max(0, self.form.findData(first.form)))
        self.form.setAccessibleName("Form of the file")
        self.form.setToolTip("What the file is written as")
        self.path.setAccessibleName("File to write")
        self.path.setToolTip("Beside it go a .json and an .npz, which rebuild the figure")
        self.browse.setToolTip("Choose where to write")
        self.patient.setEnabled(bool(patient))
        self.patient.setToolTip(
            "The file says who was recorded" if patient else "The file does not say who was recorded"
        )
        self.panels.setAccessibleName("Analyses to draw below the page")
        for result in panels:
            item = QListWidgetItem(f"{result.title}, {' and '.join(result.models)}")
            item.setData(Qt.ItemDataRole.UserRole, result.kind)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if result.kind in first.panels else Qt.CheckState.Unchecked)
            self.panels.addItem(item)

    def _lay(self, shows: str, has_panels: bool) -> None:
        column = QVBoxLayout(self)
        column.addWidget(label(shows, "muted", wrap=True))
        form = QFormLayout()
        form.addRow("Width", line_of(self.columns, self.width_mm))
        form.addRow("Height", self.height_mm)
        form.addRow("Form", line_of(self.form, self.dpi))
        form.addRow("File", line_of(self.path, self.browse))
        column.addLayout(form)
        if has_panels:
            column.addWidget(label("Panels below the page", "strong"))
            column.addWidget(self.panels)
            self.panels.setFixedHeight(min(5, self.panels.count()) * self.panels.sizeHintForRow(0) + 6)
        column.addWidget(self.patient)
        column.addWidget(label("Figures are drawn on white, in the colours of the light theme.", "muted", wrap=True))
        self._says = label("", "warning", wrap=True)
        column.addWidget(self._says)
        column.addWidget(self._buttons)

    def _connect(self) -> None:
        self.columns.activated.connect(self._on_column)
        self.width_mm.valueChanged.connect(self._on_width)
        self.form.activated.connect(self._on_form)
        self.path.textChanged.connect(self._on_path)
        self.browse.clicked.connect(self._on_browse)
        self._buttons.accepted.connect(self._on_accept)
        self._buttons.rejected.connect(self.reject)

    def choice(self) -> FigureChoice:
        """What is chosen now."""
        items = [self.panels.item(i) for i in range(self.panels.count())]
        chosen = [item for item in items if item is not None and item.checkState() == Qt.CheckState.Checked]
        return FigureChoice(
            Path(self.path.text().strip()).expanduser(),
            (self.width_mm.value(), self.height_mm.value()),
            self.dpi.value(),
            tuple(item.data(Qt.ItemDataRole.UserRole) for item in chosen),
            self.patient.isChecked(),
        )

    def _on_column(self, _index: int) -> None:
        width = self.columns.currentData()
        if width is not None:
            self.width_mm.setValue(width)

    def _on_width(self, width: float) -> None:
        widths = [value for value, _ in _COLUMNS]
        self.columns.setCurrentIndex(widths.index(width) if width in widths else len(widths))

    def _on_form(self, _index: int) -> None:
        self.path.setText(str(self.choice().out.with_suffix(f".{self.form.currentData()}")))

    def _on_path(self, text: str) -> None:
        """The name's ending and the form tell the same."""
        form = Path(text.strip()).suffix.lower().lstrip(".")
        known = form in FORMS
        if known:
            self.form.setCurrentIndex(self.form.findData(form))
        self._says.setText("" if known else "Choose a name that ends in .svg, .pdf or .png.")
        self._says.setVisible(not known)
        self._ok().setEnabled(known)

    def _ok(self) -> QPushButton:
        button = self._buttons.button(QDialogButtonBox.StandardButton.Ok)
        assert button is not None
        return button

    def _on_browse(self) -> None:
        # Whether a file may be overwritten is asked once, of all that are written.
        options = QFileDialog.Option.DontConfirmOverwrite
        path, _ = QFileDialog.getSaveFileName(self, "Export figure", self.path.text(), _FILES, options=options)
        if path:
            self.path.setText(path if Path(path).suffix else f"{path}.{self.form.currentData()}")

    def _on_accept(self) -> None:
        out = self.choice().out
        there = [path for path in files_of(out) if path.exists()]
        if not there or self.overwrites(there):
            self.accept()

    def _ask_overwrite(self, there: Sequence[Path]) -> bool:
        names = ", ".join(path.name for path in there)
        text = f"{names} in {there[0].parent} will be overwritten."
        buttons = QMessageBox.StandardButton.Ok | QMessageBox.StandardButton.Cancel
        return QMessageBox.question(self, "Overwrite?", text, buttons) == QMessageBox.StandardButton.Ok


def files_of(out: Path) -> tuple[Path, Path, Path]:
    """A figure and what is written beside it."""
    return out, out.with_suffix(".json"), out.with_suffix(".npz")
