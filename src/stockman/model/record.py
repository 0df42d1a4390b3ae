"""What a record is here: a frozen, keyword-only dataclass."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeGuard, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class a record: immutable, compared by value, built by keyword."""
    return dataclass(frozen=True, kw_only=True)(cls)


def is_record(value: object) -> TypeGuard[DataclassInstance]:
    """Whether a value is an instance (not the class) of a record."""
    return is_dataclass(value) and not isinstance(value, type)


def plain(value: object) -> object:
    """A value as JSON knows it: records become mappings, everything exotic becomes text.

    Secrets print as `***` because that is their text.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return value.value
    if is_record(value):
        return {
            one.name: plain(getattr(value, one.name))
            for one in fields(value)
            if one.metadata.get("shown", True)
        }
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset | set):
        items = sorted(value, key=str) if isinstance(value, frozenset | set) else value
        return [plain(item) for item in items]
    return str(value)
