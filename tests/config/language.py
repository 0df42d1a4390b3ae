"""The language taken apart, for tests that look at every class, key or value of it."""

from collections.abc import Iterator

from stockman.config.language import Configuration
from stockman.config.reference.key_types import (
    KeyType,
    ListOf,
    MapOf,
    RecordKey,
    RecordType,
    ValueType,
    find_record_type,
    find_value_type,
    record_keys,
)


def _classes(cls: type) -> Iterator[type]:
    yield cls
    for member in record_keys(cls):
        block = find_record_type(member.type)
        if block is not None:
            yield from _classes(block.cls)


def _values(kind: KeyType) -> Iterator[ValueType]:
    match kind:
        case ValueType():
            yield kind
        case ListOf(item=inner) | MapOf(value=inner):
            yield from _values(inner)
        case RecordType(cls=cls):
            for member in record_keys(cls):
                yield from _values(member.type)


CLASSES = tuple(dict.fromkeys(_classes(Configuration)))
"""Every record class that a file can hold."""

MEMBERS = tuple((cls, member) for cls in CLASSES for member in record_keys(cls))
"""Every key with the class it stands in."""

VALUES = tuple(dict.fromkeys(_values(RecordType(Configuration))))
"""Every kind of single value, each once."""


SPELLED = tuple(
    {(value.base, value.shape, bool(value.choices)): value for value in VALUES}.values()
)
"""One value of each base and form."""


def holder(value: ValueType) -> tuple[type, RecordKey]:
    """A key that holds a value of a kind, and the class that the key stands in."""
    return next((cls, member) for cls, member in MEMBERS if find_value_type(member.type) == value)
