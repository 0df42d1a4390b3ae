"""What a part of the world's state is: a dataclass that can be changed, compared and saved.

As with records, methods are written once instead of being generated for every class: generating
them takes most of the time that a lab needs to be ready.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeVar, dataclass_transform

from stockman.model.record import describe_fields, fields_of, initialize, records_equal, represent

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


@dataclass_transform(field_specifiers=(field,))
def state(cls: type[T]) -> type[T]:
    """Make a class a part of the state: built by position or keyword, and changed at will."""
    describe_fields(cls, kw_only=False)
    begin = _init_and_look if hasattr(cls, "__post_init__") else _init
    for name, method in (("__init__", begin), ("__repr__", represent), ("__eq__", records_equal)):
        setattr(cls, name, method)
    cls.__hash__ = None  # type: ignore[assignment]  # what changes is no key
    return cls


def _init(self: DataclassInstance, /, *given: object, **values: object) -> None:
    known = fields_of(self)
    if len(given) > len(known):
        raise TypeError(f"{type(self).__name__} has {len(known)} fields, not {len(given)}")
    for one, value in zip(known, given, strict=False):
        if one.name in values:
            raise TypeError(f"{type(self).__name__} is given {one.name} twice")
        values[one.name] = value
    initialize(self, **values)


def _init_and_look(self: DataclassInstance, /, *value: object, **values: object) -> None:
    _init(self, *value, **values)
    self.__post_init__()  # type: ignore[attr-defined]
