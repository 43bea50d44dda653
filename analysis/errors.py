"""Errors of recordings and analyses that a person can act on."""


class RecordingError(Exception):
    """A recording or event file cannot be used; the message names the file, the cause and what to do."""


class AnalysisError(Exception):
    """An analysis cannot be done as asked; the message says why and what to try."""
