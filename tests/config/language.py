"""The language taken apart, for tests that look at every class, key or value of it."""

from collections.abc import Iterator

from stockman.config.kinds import (
    Block,
    Kind,
    ListOf,
    MapOf,
    Member,
    Value,
    block_in,
    members,
    value_in,
)
from stockman.config.language.estate import Estate


def _classes(cls: type) -> Iterator[type]:
    yield cls
    for member in members(cls):
        block = block_in(member.kind)
        if block is not None:
            yield from _classes(block.cls)


def _values(kind: Kind) -> Iterator[Value]:
    match kind:
        case Value():
            yield kind
        case ListOf(item=inner) | MapOf(value=inner):
            yield from _values(inner)
        case Block(cls=cls):
            for member in members(cls):
                yield from _values(member.kind)


CLASSES = tuple(dict.fromkeys(_classes(Estate)))
"""Every record class that a file can hold."""

MEMBERS = tuple((cls, member) for cls in CLASSES for member in members(cls))
"""Every key with the class it stands in."""

VALUES = tuple(dict.fromkeys(_values(Block(Estate))))
"""Every kind of single value, each once."""


SPELLED = tuple(
    {(value.base, value.shape, bool(value.choices)): value for value in VALUES}.values()
)
"""One value of each base and form."""


def holder(value: Value) -> tuple[type, Member]:
    """A key that holds a value of a kind, and the class that the key stands in."""
    return next((cls, member) for cls, member in MEMBERS if value_in(member.kind) == value)
