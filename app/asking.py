"""Dialogs about the open recording: none of them outlives it, so that no answer goes into another one."""

from __future__ import annotations

from PyQt6.QtWidgets import QDialog

from app.session import Session


def follow_recording(dialog: QDialog, session: Session) -> None:
    """Let a dialog be dismissed when another recording opens in its window, and when the window closes."""
    session.opened.connect(dialog.reject)
    session.closed.connect(dialog.reject)


def ask(dialog: QDialog, session: Session) -> bool:
    """Show a dialog until it is answered; False as well where another recording was opened meanwhile."""
    recording = session.recording
    follow_recording(dialog, session)
    accepted = bool(dialog.exec())
    dialog.deleteLater()
    return accepted and session.recording is recording
