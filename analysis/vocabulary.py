"""The terms that marks are made of: a file of names, tags and keys, to which a reader adds own ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, Literal

Kind = Literal["span", "moment"]

OWN_GROUP = "Own types"
SEIZURE, SEIZURE_ONSET, SEIZURE_OFFSET = "seizure", "seizure onset", "seizure offset"


@dataclass(frozen=True)
class Term:
    """A type of mark.

    `name` is what the button and the mark say, `tag` the HED-SCORE tags behind it, `also` further words by which it
    is found, such as its names in other editions. `kind` says whether it has a length, `where` whether it belongs to
    the page or to the row under the cursor. `colour` is the class by which it is coloured, `role` what the program
    must know of. `szcore` is the type of event tables that says it, empty where there is none.
    """

    name: str
    tag: str = ""
    kind: Kind = "span"
    group: str = OWN_GROUP
    colour: str = "own"
    key: str = ""
    where: Literal["page", "row"] = "page"
    role: str = ""
    also: tuple[str, ...] = ()
    szcore: str = ""

    @property
    def is_own(self) -> bool:
        """Whether the reader added it."""
        return self.group == OWN_GROUP

    def written(self) -> dict[str, str]:
        """An own term as the settings keep it."""
        return {"name": self.name, "tag": self.tag, "kind": self.kind}

    @cached_property
    def _words(self) -> str:
        return " ".join((self.name, self.tag, self.group, *self.also)).casefold()

    def rank(self, text: str) -> int | None:
        """How well a search text fits, 0 best; None where one of its words is not found."""
        wanted = text.casefold().split()
        if not all(word in self._words for word in wanted):
            return None
        name, whole = self.name.casefold(), text.casefold().strip()
        if name.startswith(whole) or whole in (other.casefold() for other in self.also):
            return 0
        return 1 if all(word in name for word in wanted) else 2


@dataclass(frozen=True)
class Vocabulary:
    """Terms in the order of their groups; names are unique, whatever their case."""

    terms: tuple[Term, ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, Term]:
        found = {other.casefold(): term for term in self.terms for other in term.also}
        return {**found, **{term.name.casefold(): term for term in self.terms}}

    @cached_property
    def _by_code(self) -> dict[str, Term]:
        return {term.szcore: term for term in reversed(self.terms) if term.szcore}  # of several the first

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups in their order."""
        return tuple(dict.fromkeys(term.group for term in self.terms))

    def named(self, name: str) -> Term | None:
        """The term of a name, also of another edition; None where there is none."""
        return self._by_name.get(name.strip().casefold())

    def meant_by(self, text: str) -> Term | None:
        """The term of a text that is its name, or its type in event tables; None where there is none."""
        return self.named(text) or self._by_code.get(text.strip())

    def code_of(self, name: str) -> str:
        """What event tables write for a term's name; empty where they know no type for it."""
        term = self.named(name)
        return term.szcore if term is not None else ""

    def name_of_code(self, code: str) -> str:
        """What a reader of this program calls a type of event tables; empty where it means no term."""
        term = self._by_code.get(code)
        return term.name if term is not None else ""

    def role(self, role: str) -> Term:
        """The term that the program knows by its role; KeyError where the vocabulary has none."""
        for term in self.terms:
            if term.role == role:
                return term
        raise KeyError(role)

    def search(self, text: str) -> tuple[Term, ...]:
        """Terms that a text finds, the best first; all of them for no text."""
        ranked = [(rank, term) for term in self.terms if (rank := term.rank(text)) is not None]
        return tuple(term for _rank, term in sorted(ranked, key=lambda pair: pair[0])) if text.strip() else self.terms

    def with_own(self, own: Iterable[Mapping[str, str]]) -> Vocabulary:
        """The vocabulary with terms of the reader, as the settings keep them; what has no new name is left out."""
        terms = list(self.terms)
        taken = {term.name.casefold() for term in terms}
        for entry in own:
            name = entry.get("name", "").strip()
            if name and name.casefold() not in taken:
                taken.add(name.casefold())
                terms.append(Term(name, entry.get("tag", ""), "moment" if entry.get("kind") == "moment" else "span"))
        return Vocabulary(tuple(terms))


@lru_cache(maxsize=1)
def score_vocabulary() -> Vocabulary:
    """The terms of SCORE that come with the program, under the names of the edition that its file chooses."""
    return read_vocabulary(json.loads((files("assets") / "score_vocabulary.json").read_text("utf-8")))


def read_vocabulary(document: Mapping[str, Any]) -> Vocabulary:
    """The terms of a vocabulary file; a term whose seizure has another name in the chosen edition gets that one."""
    edition = document["edition"]
    return Vocabulary(
        tuple(
            _read_term(term, group["name"], group["colour"], edition)
            for group in document["groups"]
            for term in group["terms"]
        )
    )


def _read_term(entry: Mapping[str, Any], group: str, colour: str, edition: str) -> Term:
    usual, others = entry["name"], entry.get("names", {})
    name = others.get(edition, usual)
    also = (*(other for other in (usual, *others.values()) if other != name), *entry.get("also", ()))
    return Term(
        name,
        entry["tag"],
        entry["kind"],
        group,
        entry.get("colour", colour),
        entry.get("key", ""),
        entry.get("where", "page"),
        entry.get("role", ""),
        also,
        entry.get("szcore", ""),
    )
