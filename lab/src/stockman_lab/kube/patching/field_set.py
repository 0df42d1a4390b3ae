"""Sets of fields of an object, as `managedFields` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from stockman_lab.kube.objects import Object, Tree

SELF = "."
_MOST_KNOWN = 8192
_RANKS = {"f": 0, "k": 1, "v": 2, "i": 3}


class FieldSet:
    """Elements that belong to it, and sets behind elements. An element is written as in JSON.

    Who makes one adds to it; from then on nobody changes it, and sets share what they have alike.
    """

    __slots__ = ("_content", "children", "members")

    def __init__(self) -> None:
        self.members: set[str] = set()
        self.children: dict[str, FieldSet] = {}
        self._content: Object | None = None

    def __bool__(self) -> bool:
        return bool(self.members) or any(self.children.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSet) and self.content == other.content

    __hash__ = None  # type: ignore[assignment]

    def add(self, path: tuple[str, ...]) -> None:
        """Let a field belong to it; the object as a whole never does."""
        child = self
        for element in path[:-1]:
            child = child.children.setdefault(element, FieldSet())
        if path:
            child.members.add(path[-1])

    def has(self, element: str) -> bool:
        return element in self.members

    def below(self, element: str) -> FieldSet:
        """What is behind an element."""
        return self.children.get(element) or _NOTHING

    def union(self, field_set: FieldSet) -> FieldSet:
        """What is in one of both."""
        gained: dict[str, FieldSet] = {}
        for name, theirs in field_set.children.items():
            own = self.children.get(name)
            joined = theirs if own is None else own.union(theirs)
            if joined is not own:
                gained[name] = joined
        if not gained and field_set.members <= self.members:
            return self
        return _made(self.members | field_set.members, {**self.children, **gained})

    def difference(self, field_set: FieldSet) -> FieldSet:
        """What the other does not have."""
        left: dict[str, FieldSet] = {}
        for name, theirs in field_set.children.items():
            own = self.children.get(name)
            less = None if own is None else own.difference(theirs)
            if less is not None and less is not own:
                left[name] = less
        if not left and self.members.isdisjoint(field_set.members):
            return self
        both = {**self.children, **left}
        children = {name: child for name, child in both.items() if child}
        return _made(self.members - field_set.members, children)

    def intersection(self, other: FieldSet) -> FieldSet:
        """What is in both."""
        field_set = FieldSet()
        field_set.members = self.members & other.members
        for name, child in self.children.items():
            theirs = other.children.get(name)
            shared = child.intersection(theirs) if theirs is not None else None
            if shared:
                field_set.children[name] = shared
        return field_set

    def without(self, paths: tuple[tuple[str, ...], ...]) -> FieldSet:
        """Less some fields and all that is behind them."""
        less = self
        for path in paths:
            less = less._less(path)
        return less

    def _less(self, path: tuple[str, ...]) -> FieldSet:
        first, rest = path[0], path[1:]
        own = self.children.get(first)
        if not rest:
            is_same = own is None and first not in self.members
            return self if is_same else self.but(first)._replace(first, None)
        left = None if own is None else own._less(rest)
        return self if left is own else self._replace(first, left)

    def _replace(self, name: str, child: FieldSet | None) -> FieldSet:
        kept = {element: one for element, one in self.children.items() if element != name}
        return _made(self.members, {**kept, name: child} if child else kept)

    def but(self, element: str) -> FieldSet:
        """Less an element, though not less what is behind it."""
        return _made(self.members - {element}, self.children) if self.has(element) else self

    def paths(self) -> Iterator[tuple[str, ...]]:
        """All fields, in order."""
        for name in sorted(self.members, key=_order):
            yield (name,)
        for name in sorted(self.children, key=_order):
            for path in self.children[name].paths():
                yield (name, *path)

    @property
    def content(self) -> Object:
        """As JSON; nobody changes it."""
        if self._content is None:
            self._content = self._written()
        return self._content

    def _written(self) -> Object:
        inners: Object = {}
        names = self.members | {name for name, child in self.children.items() if child}
        for name in sorted(names, key=_order):
            child = self.children.get(name)
            inner = {} if child is None else child.content
            both = name in self.members and inner
            inners[name] = {SELF: {}, **inner} if both else inner
        return inners


def _made(members: set[str], children: dict[str, FieldSet]) -> FieldSet:
    field_set = FieldSet()
    field_set.members, field_set.children = members, children
    return field_set


_NOTHING = FieldSet()
"""Nobody adds to it."""


@lru_cache(maxsize=4096)
def _order(element: str) -> tuple[int, list[tuple[str, int, float, str]]]:
    rank = _RANKS.get(element[:1], 4)
    text = element[2:]
    if rank == 1:
        return rank, [(name, *_comparable(one)) for name, one in json.loads(text).items()]
    return rank, [("", *_comparable(json.loads(text) if rank > 1 else text))]


def _comparable(result: Tree) -> tuple[int, float, str]:
    if isinstance(result, bool):
        return 2, float(result), ""
    if isinstance(result, int | float):
        return 0, float(result), ""
    return 1, 0.0, result if isinstance(result, str) else json.dumps(result, sort_keys=True)


_KNOWN: dict[int, tuple[Object, FieldSet]] = {}
"""By identity, sets as they are written; they stay what they are as long as they are kept here."""


def written_field_set(fields: FieldSet) -> Object:
    """A set as JSON that is going to be read again."""
    content = fields.content
    return _known(content, fields)[0]


def read_field_set(content: Object) -> FieldSet:
    """A set out of JSON that nobody changes."""
    known = _KNOWN.get(id(content))
    if known is not None and known[0] is content:
        return known[1]
    return _known(content, _read(content))[1]


def _known(content: Object, fields: FieldSet) -> tuple[Object, FieldSet]:
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    result = _KNOWN[id(content)] = content, fields
    return result


def _read(content: Object) -> FieldSet:
    field_set = FieldSet()
    for name, inner in content.items():
        if name == SELF:
            continue
        if not inner or SELF in inner:
            field_set.members.add(name)
        if inner and inner.keys() != {SELF}:
            field_set.children[name] = _read(inner)
    return field_set


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
