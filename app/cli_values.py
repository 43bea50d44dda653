"""What a value on the command line may be: each gives what was written as a value, or says what is wrong with it."""

from __future__ import annotations

import argparse
import math


def number(text: str) -> float:
    """Any finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def seconds(text: str) -> float:
    """A moment or a length from 0 on."""
    value = number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} lies before the beginning of the recording")
    return value


def duration(text: str) -> float:
    """A length above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no length: give seconds above 0")
    return value


def sensitivity(text: str) -> float:
    """Microvolts per millimetre, above 0."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is no sensitivity: give microvolts per millimetre above 0")
    return value


def probability(text: str) -> float:
    """A number from 0 to 1."""
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no probability: give a number from 0 to 1")
    return value


def count(text: str) -> int:
    """A whole number above 0."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def size(text: str) -> tuple[int, int]:
    """Width and height of a window in pixels."""
    width, _, height = text.lower().partition("x")
    found = (count(width), count(height))
    if not (400 <= found[0] <= 8000 and 300 <= found[1] <= 8000):
        raise argparse.ArgumentTypeError(f"{text} is no size of a window: give one from 400x300 to 8000x8000")
    return found


def pair(text: str) -> tuple[str, str]:
    """What stands before and after the first equals sign."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text} is no setting: give NAME=VALUE")
    return name, value


def paper(text: str) -> tuple[float, float]:
    """Width and height of a figure in millimetres."""
    width, _, height = text.lower().partition("x")
    found = (number(width), number(height))
    if not (60 <= found[0] <= 1200 and 60 <= found[1] <= 1200):
        raise argparse.ArgumentTypeError(f"{text} is no size of a figure: give one from 60x60 to 1200x1200 mm")
    return found
