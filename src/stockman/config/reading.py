"""What comes to light while a tree is read, and the words for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from stockman.config.nearest import nearest
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problems
from stockman.model.secret import Secret, is_encrypted

_LONGEST_SHOWN = 60


class Reading:
    """What comes to light while a tree is read."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.literals: list[Origin] = []
        """Secrets in the clear."""
        self.secrets: list[Secret] = []
        """All secrets, however they are given."""
        self.opaque: list[Origin] = []
        """Encrypted values of keys that are not secrets: present, but not known."""
        self.kept: dict[Position, Node] = {}
        """Values whose inside has positions that are needed later, by where they stand."""
        self.partial = False
        """Whether keys may be missing, because another mapping will give them."""


class Unfit(Exception):
    """The value cannot be read; the problem is reported already, or the value is encrypted."""


class Place:
    """Where a value stands: its path in the user's words and its position."""

    __slots__ = ("at", "path", "via")

    def __init__(self, path: str, at: Position, via: str = "") -> None:
        self.path = path
        self.at = at
        self.via = via

    @property
    def origin(self) -> Origin:
        return Origin(self.at, self.path, self.via)


Reader = Callable[[Node, Place, Reading], Any]


def unfit(place: Place, reading: Reading, text: str, says: str, example: str) -> NoReturn:
    """Report a text that is not what its key needs."""
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
    reading.problems.error(
        "config.value",
        f"{place.path} has a value that does not fit",
        why=f"{shown!r} is not {says}",
        fix=f"write for example {example}",
        at=place.at,
    )
    raise Unfit


def wrong_kind(node: Node, place: Place, reading: Reading, wanted: str) -> NoReturn:
    """Report a mapping, list or value where another of the three is needed."""
    if isinstance(node, Scalar) and is_encrypted(node.text):
        reading.opaque.append(place.origin)
        raise Unfit
    found = {Mapping: "a mapping", Sequence: "a list", Scalar: "a single value"}[type(node)]
    reading.problems.error(
        "config.type",
        f"{place.path or 'the file'} has the wrong form",
        why=f"it is {found}; {wanted} is needed",
        fix=f"see `stockman explain {general(place.path)}`",
        at=place.at,
    )
    raise Unfit


def unknown_key(
    name: str, entry: Entry, place: Place, known: Iterable[str], reading: Reading
) -> None:
    """Report a key that does not exist, and the nearest that does."""
    near = nearest(name, known)
    here = place.path or "the file"
    reading.problems.error(
        "config.unknown-key",
        f"{entry.name or name} is not a key of {here}",
        why=f"{here} knows no {name!r}" + (f"; {near} is the nearest" if near else ""),
        fix=f"write {near}"
        if near
        else f"remove it, or see `stockman explain {general(place.path)}`",
        at=entry.key.at,
    )


def missing_key(name: str, place: Place, reading: Reading) -> None:
    """Report a key that has to be given."""
    path = f"{place.path}.{name}" if place.path else name
    reading.problems.error(
        "config.missing-key",
        f"{path} is missing",
        why=f"{place.path or 'the file'} cannot do without it",
        fix=f"add `{name}:`; see `stockman explain {general(path)}`",
        at=place.at,
    )


def general(path: str) -> str:
    """A path without list positions, as `explain` wants it."""
    return re.sub(r"\[\d+\]", "", path)
