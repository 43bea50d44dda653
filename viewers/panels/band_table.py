"""What lies in each band of a spectrum, as a small table."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from analysis.measured_tables import band_rows
from analysis.measuring import amount_text
from analysis.span_spectra import Curve
from analysis.spectra import alpha_peak, dominant_peak
from viewers.theme import LIGHT, Theme, font, px

GREEK = {"delta": "δ", "theta": "θ", "alpha": "α", "beta": "β", "gamma": "γ"}
INKS = {"left": "left", "right": "right"}  # colours of the theme, by what a curve is of


class BandTable(QWidget):
    """Power of each band, absolute and as a share of all, for one curve or two."""

    def __init__(self) -> None:
        super().__init__()
        self.theme = LIGHT
        self._curves: list[Curve] = []
        self.lines: list[list[str]] = []
        self._shares: list[list[float]] = []
        self._stale = False
        self.setAccessibleName("Band powers")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_curves(self, curves: Sequence[Curve]) -> None:
        """Tell the bands of some curves."""
        self._curves = list(curves)
        tables = [band_rows(curve) for curve in curves]
        self.lines = [["", *(curve.rows for curve in curves)]] if len(curves) > 1 else []
        self._shares = [[] for _ in self.lines]
        for rows in zip(*tables, strict=True):
            band = rows[0][0]
            head = f"{GREEK[band.name]} {band.name} {band.low:g}–{band.high:g}"
            cells = [
                _band_text(power, share, curve.unit) for (_, power, share, _), curve in zip(rows, curves, strict=True)
            ]
            self.lines.append([head, *cells])
            self._shares.append([row[2] or 0.0 for row in rows])
        if curves:
            for title, peak_of in (("dominant, 1–30 Hz", dominant_peak), ("peak alpha", alpha_peak)):
                peaks = [peak_of(curve.frequencies, curve.power) for curve in curves]
                self.lines.append([title, *("none" if peak is None else f"{peak:.2f} Hz" for peak in peaks)])
                self._shares.append([])
        self.setAccessibleDescription("; ".join(" ".join(line) for line in self.lines))
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours."""
        self.theme = theme
        self.update()

    def set_stale(self, stale: bool) -> None:
        """Fade what is shown while it is renewed."""
        if stale != self._stale:
            self._stale = stale
            self.update()

    @property
    def _pitch(self) -> float:
        return px(17.0)

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(200, round(self._pitch * max(6, len(self.lines))))

    def minimumSizeHint(self) -> QSize:
        """All lines."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent | None) -> None:
        """Draw the lines, with a bar behind each share."""
        painter = QPainter(self)
        painter.setOpacity(0.35 if self._stale else 1.0)
        head = px(112.0)
        columns = max(1, len(self._curves))
        room = (self.width() - head) / columns
        painter.setFont(font(11))
        for number, (line, shares) in enumerate(zip(self.lines, self._shares, strict=True)):
            top = number * self._pitch
            painter.setPen(self.theme.colour("muted"))
            painter.drawText(QRectF(0, top, head, self._pitch), Qt.AlignmentFlag.AlignVCenter, line[0])
            for column, text in enumerate(line[1:]):
                box = QRectF(head + column * room, top, room - 4, self._pitch)
                if shares:
                    bar = QRectF(box.left(), box.top() + 2, box.width() * shares[column], box.height() - 4)
                    painter.fillRect(bar, self.theme.colour(INKS.get(self._curves[column].rows, "muted"), 0.16))
                painter.setPen(self.theme.colour("text"))
                right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
                power, _, share = text.partition("  ")
                painter.drawText(box, right, share or power)
                if share:
                    painter.drawText(box.adjusted(0, 0, -px(32.0), 0), right, power)


def _band_text(power: float | None, share: float | None, unit: str) -> str:
    if power is None:
        return "above what is recorded"
    text = f"{amount_text(power, unit)}²"
    return text if share is None else f"{text}  {share:.0%}"
