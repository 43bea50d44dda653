"""Errors of checkpoints that a person can act on."""


class CheckpointError(Exception):
    """A checkpoint cannot be used; the message names the file, the cause and what to do."""
