"""What the directory of another tool says, in one form for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from stockman.config.convert.building import Building
from stockman.config.convert.result import Carried, State
from stockman.config.source.tree import Entry, Mapping, Node, Scalar, Sequence
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.talos.machine.facts import Document
from stockman.talos.patches.patch import Patch

Scope = Literal["all", "controller", "worker", "node"]
Order = Literal["specific", "talhelper"]
_ITEM = re.compile(r"\[\d+\][^\[\]]*\Z")
NOWHERE = Position("", 0, 0)


@dataclass(slots=True, frozen=True)
class Piece:
    """One document that is merged into a machine's configuration."""

    label: str
    """What the user calls it: the name of its file, or the path of its key."""
    scope: Scope
    place: tuple[int, int]
    """Which patch of its scope it is, and which document of that."""
    document: Mapping
    written: Patch | None = None
    """The patch as it stands in its file. None: it was made of a key."""

    @property
    def at(self) -> Position:
        return self.document.at


@dataclass(slots=True)
class ForeignNode:
    """One machine."""

    name: str
    at: Position
    is_controller: bool
    keys: Mapping
    """Its keys in our words, without network and patches."""
    base: list[Document]
    """What the tool makes before any patch, without secrets."""
    extra: list[Piece]
    """What of the base only patches can say here."""
    pieces: list[Piece]
    """What the tool merges into the base, in its order."""
    address: str = ""
    """Empty: not known."""
    devices: list[Document] = field(default_factory=list)
    """Links in the words of the v1alpha1 document."""
    devices_at: Position = NOWHERE
    installer_at: Position = NOWHERE
    mac: str = ""
    """Empty: only the links tell it."""


@dataclass(slots=True)
class Foreign:
    """A whole cluster."""

    tool: str
    building: Building
    contract: str = "1.13"
    order: Order = "specific"
    nodes: list[ForeignNode] = field(default_factory=list)
    said: dict[str, dict[Carried, None]] = field(default_factory=dict)
    """What became of keys, by their names."""
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    lists: set[str] = field(default_factory=set)
    """Names of lists of which an item was spoken of."""
    files: dict[str, str] = field(default_factory=dict)
    """Files that are taken over as they are, by their new names."""

    def say(self, key: str, at: Position, state: State, how: str) -> None:
        """Note what becomes of a key. What is left out in the end was not taken."""
        known = self.said.setdefault(key, {})
        if state == "left out":
            for other in [one for one in known if one.state == "taken"]:
                del known[other]
        known[Carried(key=key, at=at, state=state, how=how)] = None
        self.lists.add(_ITEM.sub("", key))


def made(value: object, at: Position) -> Node:
    """A value as a tree that stands at one place."""
    if isinstance(value, dict):
        entries = {
            str(key): Entry(_text(str(key), at), made(one, at)) for key, one in value.items()
        }
        return Mapping(at, entries)
    if isinstance(value, list | tuple):
        return Sequence(at, [made(item, at) for item in value])
    if isinstance(value, str):
        return _text(value, at)
    text = "null" if value is None else str(value)
    return Scalar(text.lower() if isinstance(value, bool) else text, at, plain=True, span=(0, 0))


def document(value: Document, at: Position) -> Mapping:
    """A document as a tree that stands at one place."""
    found = made(value, at)
    return found if isinstance(found, Mapping) else Mapping(at)


def nested(path: str, value: Node, at: Position | None = None) -> Mapping:
    """A document in which a value stands at a path of keys."""
    for key in reversed(path.split(".")):
        value = Mapping(at or value.at, {key: Entry(_text(key, at or value.at), value)})
    return value if isinstance(value, Mapping) else Mapping(value.at)


def items(node: Node | None) -> list[Node]:
    """The items of a list; none for anything else."""
    return list(node.items) if isinstance(node, Sequence) else []


def scalars(node: Node) -> Iterator[Scalar]:
    """Every text of a tree, keys included."""
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Mapping):
        for entry in node.entries.values():
            yield entry.key
            yield from scalars(entry.value)
    else:
        for item in node.items:
            yield from scalars(item)


def files_of(node: Node) -> set[str]:
    """The files that the values of a tree stand in."""
    found = {node.at.file}
    if isinstance(node, Mapping):
        for entry in node.entries.values():
            found |= {entry.key.at.file} | files_of(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            found |= files_of(item)
    return found


def _text(text: str, at: Position) -> Scalar:
    return Scalar(text, at, plain=False, span=(0, 0))
