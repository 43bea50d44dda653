"""One question with one line to answer it in."""

from __future__ import annotations

from PyQt6.QtWidgets import QInputDialog, QLineEdit, QWidget


def ask_text(parent: QWidget, title: str, prompt: str, text: str = "") -> str | None:
    """What the reader types, with `text` to begin from; None when the question was closed."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(prompt)
    dialog.setTextValue(text)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setAccessibleName(title)
    field.setAccessibleDescription(prompt)
    accepted = dialog.exec()
    dialog.deleteLater()
    return dialog.textValue() if accepted else None
