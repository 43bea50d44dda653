"""The kinds of analysis and their options as columns of text, made from the table that also checks them."""

from __future__ import annotations

import shutil
import textwrap

from analysis.kinds import KINDS, Kind, Option
from models.families import MODELS

_MOST_WIDE = 110
_INDENT, _GAP, _LEAST_TEXT = 6, 2, 30


def list_kinds(width: int | None = None) -> str:
    """All kinds with the models that give them and what each option may be; `width` is the terminal's in letters."""
    width = min(width or shutil.get_terminal_size().columns, _MOST_WIDE)
    title = "kinds (KIND), the models that give them, and their options (--option K=V, usual value in brackets):"
    lines = textwrap.wrap(title, width)
    for kind in KINDS.values():
        lines += ["", *_list_kind(kind, width)]
    return "\n".join(lines) + "\n"


def _list_kind(kind: Kind, width: int) -> list[str]:
    two = "" if kind.models == (1, 1) else "; one or two checkpoints"
    lines = [f"  {kind.name}", *_wrapped(f"{kind.title} ({_families(kind)}{two})", 4, width)]
    if not kind.options:
        return [*lines, f"{'':{_INDENT}}no options"]
    rows = [(option.name, _allowed(option), option.text) for option in kind.options]
    first = max(len(row[0]) for row in rows) + _GAP
    second = max(len(row[1]) for row in rows) + _GAP
    is_wide = width - _INDENT - first - second >= _LEAST_TEXT
    for name, allowed, text in rows:
        head = f"{'':{_INDENT}}{name:<{first}}"
        if is_wide:
            lines += _wrapped(text, _INDENT + first + second, width, f"{head}{allowed:<{second}}")
        else:
            lines += _wrapped(f"{allowed}: {text}", _INDENT + first, width, head)
    return lines


def _families(kind: Kind) -> str:
    """The families that give a kind, as a person calls them."""
    if "*" in kind.functions:
        return "every model"
    return ", ".join(MODELS[family].title if family in MODELS else family for family in kind.functions)


def _allowed(option: Option) -> str:
    """What an option may be, with its usual value in brackets."""
    if option.choices:
        return ", ".join(f"[{choice}]" if choice == option.default else str(choice) for choice in option.choices)
    if isinstance(option.default, bool):
        return "[yes], no" if option.default else "yes, [no]"
    if isinstance(option.default, int | float):
        whole = "whole number" if isinstance(option.default, int) else "number"
        least = "" if option.least is None else f" from {option.least:g}"
        return f"{whole}{least} [{option.default:g}]"
    return f"text [{option.default}]" if option.default else "text"


def _wrapped(text: str, indent: int, width: int, head: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        max(width, indent + 20),
        initial_indent=head or " " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
