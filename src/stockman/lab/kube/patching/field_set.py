"""Sets of fields of an object, as `managedFields` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from stockman.lab.kube.objects import Object, Tree

SELF = "."
_RANKS = {"f": 0, "k": 1, "v": 2, "i": 3}


class FieldSet:
    """Elements that belong to it, and sets behind elements. An element is written as in JSON."""

    __slots__ = ("children", "members")

    def __init__(self) -> None:
        self.members: set[str] = set()
        self.children: dict[str, FieldSet] = {}

    def __bool__(self) -> bool:
        return bool(self.members) or any(self.children.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSet) and self.content == other.content

    __hash__ = None  # type: ignore[assignment]

    def add(self, path: tuple[str, ...]) -> None:
        """Let a field belong to it; the object as a whole never does."""
        found = self
        for element in path[:-1]:
            found = found.children.setdefault(element, FieldSet())
        if path:
            found.members.add(path[-1])

    def has(self, element: str) -> bool:
        return element in self.members

    def below(self, element: str) -> FieldSet:
        """What is behind an element."""
        return self.children.get(element) or _NOTHING

    def union(self, other: FieldSet) -> FieldSet:
        """What is in one of both."""
        made = FieldSet()
        made.members = self.members | other.members
        theirs = other.children
        for name, child in self.children.items():
            made.children[name] = child.union(theirs.get(name) or _NOTHING)
        for name, child in theirs.items():
            if name not in self.children:
                made.children[name] = child.union(_NOTHING)
        return made

    def difference(self, other: FieldSet) -> FieldSet:
        """What the other does not have."""
        made = FieldSet()
        made.members = self.members - other.members
        for name, child in self.children.items():
            theirs = other.children.get(name)
            left = child.difference(theirs) if theirs is not None else child
            if left:
                made.children[name] = left
        return made

    def intersection(self, other: FieldSet) -> FieldSet:
        """What is in both."""
        made = FieldSet()
        made.members = self.members & other.members
        for name, child in self.children.items():
            theirs = other.children.get(name)
            shared = child.intersection(theirs) if theirs is not None else None
            if shared:
                made.children[name] = shared
        return made

    def without(self, paths: tuple[tuple[str, ...], ...]) -> FieldSet:
        """Less some fields and all that is behind them."""
        made = self.union(_NOTHING)
        for path in paths if made.members or made.children else ():
            made._drop(path)
        return made

    def _drop(self, path: tuple[str, ...]) -> None:
        first, *rest = path
        if not rest:
            self.members.discard(first)
            self.children.pop(first, None)
        elif first in self.children:
            self.children[first]._drop(tuple(rest))
            if not self.children[first]:
                del self.children[first]

    def paths(self) -> Iterator[tuple[str, ...]]:
        """All fields, in order."""
        for name in sorted(self.members, key=_order):
            yield (name,)
        for name in sorted(self.children, key=_order):
            for path in self.children[name].paths():
                yield (name, *path)

    @property
    def content(self) -> Object:
        """As JSON."""
        made: Object = {}
        names = self.members | {name for name, child in self.children.items() if child}
        for name in sorted(names, key=_order):
            child = self.children.get(name)
            inner = {} if child is None else child.content
            both = name in self.members and inner
            made[name] = {SELF: {}, **inner} if both else inner
        return made


_NOTHING = FieldSet()
"""Nobody adds to it."""


@lru_cache(maxsize=4096)
def _order(element: str) -> tuple[int, list[tuple[str, int, float, str]]]:
    rank = _RANKS.get(element[:1], 4)
    text = element[2:]
    if rank == 1:
        return rank, [(name, *_comparable(one)) for name, one in json.loads(text).items()]
    return rank, [("", *_comparable(json.loads(text) if rank > 1 else text))]


def _comparable(found: Tree) -> tuple[int, float, str]:
    if isinstance(found, bool):
        return 2, float(found), ""
    if isinstance(found, int | float):
        return 0, float(found), ""
    return 1, 0.0, found if isinstance(found, str) else json.dumps(found, sort_keys=True)


def read_field_set(content: Object) -> FieldSet:
    """A set out of JSON."""
    made = FieldSet()
    for name, inner in content.items():
        if name == SELF:
            continue
        if not inner or SELF in inner:
            made.members.add(name)
        if inner and inner.keys() != {SELF}:
            made.children[name] = read_field_set(inner)
    return made


def field_element(name: str) -> str:
    """A field of an object, or a key of a map."""
    return f"f:{name}"


def value_element(value: Tree) -> str:
    """An item of a list that is a set."""
    return f"v:{_plain(value)}"


def key_element(keys: Object) -> str:
    """An item of a list whose items have keys."""
    return f"k:{_plain(dict(sorted(keys.items())))}"


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def _plain(value: Tree) -> str:
    return _encode(value)


def written_path(path: tuple[str, ...]) -> str:
    """A field as messages name it."""
    return "".join(_written(element) for element in path)


def _written(element: str) -> str:
    kind, text = element[0], element[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        inner = (f"{name}={_plain(one)}" for name, one in json.loads(text).items())
        return f"[{','.join(inner)}]"
    return f"[={text}]" if kind == "v" else f"[{text}]"
