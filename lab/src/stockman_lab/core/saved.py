"""State of the world as JSON and back: dataclasses of plain values, told by their type hints."""

from __future__ import annotations

import base64
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], Any]


class Unreadable(ValueError):
    """Saved state that is not of this world."""


def plain(value: object) -> object:
    """A state as JSON knows it."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)  # type: ignore[type-var]
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in _kept(type(value))}
    raise TypeError(f"{type(value).__name__} cannot be saved")


def restored(cls: type[T], data: object) -> T:
    """The state that `plain` wrote down; raises `Unreadable` where it is something else."""
    try:
        return cast("T", _reader(cast("object", cls))(data))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"it is no {cls.__name__}: {error}") from None


@cache
def _kept(cls: type) -> tuple[Any, ...]:
    return tuple(field for field in fields(cls) if field.metadata.get("saved", True))


@cache
def _reader(hint: Any) -> Reader:  # noqa: ANN401  # a type, or what stands for one
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (object, Any):
        return lambda data: data
    if origin in (Union, types.UnionType):
        return _optional(arguments)
    if origin in (list, set, tuple, frozenset):
        item = _reader(arguments[0])
        make: Callable[[Any], Any] = origin
        return lambda data: make(item(one) for one in data)
    if origin is dict:
        return _mapping(*arguments)
    if hint is bytes:
        return base64.b64decode
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    if is_dataclass(hint) and isinstance(hint, type):
        return _record(hint)
    if hint in (str, int, float, bool):
        return _scalar(hint)
    raise TypeError(f"{hint} cannot be restored")


def _scalar(kind: type) -> Reader:
    accepted = (int, float) if kind is float else (kind,)

    def read(data: object) -> object:
        if not isinstance(data, accepted) or (isinstance(data, bool) and kind is not bool):
            raise TypeError(f"{data!r} is no {kind.__name__}")
        return data

    return read


def _optional(arguments: tuple[Any, ...]) -> Reader:
    inner = [argument for argument in arguments if argument is not type(None)]
    if len(inner) != 1:
        return lambda data: data  # scalars of several kinds: JSON tells them apart
    read = _reader(inner[0])
    return lambda data: None if data is None else read(data)


def _mapping(key: object, value: object) -> Reader:
    read = _reader(value)
    named: Callable[[str], Any] = int if key is int else str
    return lambda data: {named(name): read(item) for name, item in data.items()}


def _record(cls: type) -> Reader:
    readers: dict[str, Reader] = {}

    def read(data: dict[str, object]) -> object:
        if not readers:
            hints = get_type_hints(cls)
            readers.update({value.name: _reader(hints[value.name]) for value in _kept(cls)})
        unknown = set(data) - set(readers)
        if unknown:
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(unknown))}")
        return cls(**{name: readers[name](item) for name, item in data.items()})

    return read
