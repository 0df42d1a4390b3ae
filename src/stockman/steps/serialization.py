"""Plans as JSON: writes actions, gates and holds, and reads them again."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pkgutil import walk_packages
from typing import Annotated, Literal, NewType, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID

from stockman.config.hints import type_hints
from stockman.model.record import SCALAR_TYPES, fields_of, is_record
from stockman.steps.base import PlanPart


class UnknownKind(Exception):
    """A part with an unknown kind."""

    def __init__(self, kind: object) -> None:
        super().__init__(kind)
        self.kind = kind


def find_part_class(kind: str) -> type[PlanPart] | None:
    """Return the class of a kind. None: unknown kind."""
    return PlanPart.known.get(kind) or load_part_classes().get(kind)


@cache
def load_part_classes() -> Mapping[str, type[PlanPart]]:
    """Return all classes by kind; imports all modules of the package."""
    package = __name__.rpartition(".")[0]
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)
    return PlanPart.known


T = TypeVar("T")
ValueReader = Callable[[object], object]
_TEXT_TYPES: tuple[type, ...] = (UUID, IPv4Address, IPv4Interface, IPv4Network)
"""Types that are written with `str` and read by calling them."""
_SCALARS = (bool, int, float, str)


class InvalidValue(Exception):
    """A value that does not match its field; the text says where and why.

    The path is only built when the exception propagates: most values are valid.
    """

    def __init__(self, why: str, path: str = "") -> None:
        super().__init__(why, path)
        self._why = why
        self._place = path

    def below(self, path: str) -> InvalidValue:
        """Return the exception with a path in front of its own."""
        return InvalidValue(self._why, path + self._place)

    def __str__(self) -> str:
        return f"{self._place or 'it'} {self._why}"


def to_json(value: object) -> object:
    """Return a value as JSON; raises `TypeError` for types that cannot be read, such as secrets."""
    if type(value) in SCALAR_TYPES:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, _TEXT_TYPES):
        return str(value)
    if is_record(value):
        rows = {field.name: to_json(getattr(value, field.name)) for field in fields_of(value)}
        return {"kind": value.kind, **rows} if isinstance(value, PlanPart) else rows
    if isinstance(value, Mapping):
        return {_name(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be in a plan")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no name")
    return key


def from_json(cls: type[T], value: object, path: str = "") -> T:
    """Parse a record; raises `InvalidValue`, or `UnknownKind` for unknown parts."""
    try:
        return cast("T", _value_reader(cls)(value))
    except InvalidValue as error:
        raise error.below(path) from None


def check_serializable(cls: type) -> None:
    """Raise `TypeError` if a class has a field that cannot be read from a plan."""
    _value_reader(cls)


def _read_record(cls: type) -> ValueReader:
    hints = type_hints(cls)
    fields = cls.__record_fields__  # type: ignore[attr-defined]
    readers = {field.name: _build_reader(hints[field.name]) for field in fields}
    known = readers.keys() | _check_unknown_fields(cls)
    plain = {name: hints[name] for name in readers if hints[name] in _SCALARS}
    needed = {
        field.name
        for field in fields
        if field.default is MISSING and field.default_factory is MISSING
    }

    def read(value: object) -> object:
        rows = _mapping_reader(value)
        if strange := rows.keys() - known:
            raise InvalidValue("is not known", f".{min(strange)}")
        if lacking := needed - rows.keys():
            raise InvalidValue("is missing", f".{min(lacking)}")
        fields_read = {}
        for name, item in rows.items():
            if type(item) is plain.get(name):
                fields_read[name] = item
            elif name in readers:
                try:
                    fields_read[name] = readers[name](item)
                except InvalidValue as error:
                    raise error.below(f".{name}") from None
        return cls(**fields_read)

    return read


def _check_unknown_fields(cls: type) -> set[str]:
    return {"kind"} if issubclass(cls, PlanPart) else set()


def _read_part(base: type[PlanPart]) -> ValueReader:
    def read(value: object) -> object:
        kind = _mapping_reader(value).get("kind")
        part_class = find_part_class(kind) if isinstance(kind, str) else None
        if part_class is None or not issubclass(part_class, base):
            raise UnknownKind(kind)
        return _value_reader(part_class)(value)

    return read


def _value_reader(hint: object) -> ValueReader:
    return _build_reader(hint)


@cache
def _build_reader(hint: object) -> ValueReader:
    origin = get_origin(hint)
    if origin is Annotated:
        return _build_reader(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _union_reader(tuple(_build_reader(argument) for argument in get_args(hint)))
    if origin is tuple:
        return _tuple_reader(get_args(hint))
    if origin in (dict, Mapping):
        return _literal_reader(_build_reader(get_args(hint)[1]))
    if origin is Literal:
        return _enum_reader(get_args(hint))
    if isinstance(hint, NewType):
        return _build_reader(hint.__supertype__)
    if hint is object:
        return _json_reader
    if isinstance(hint, type):
        return _class_reader(hint)
    raise TypeError(f"{hint} cannot be in a plan")


def _class_reader(cls: type) -> ValueReader:
    if issubclass(cls, PlanPart) and not hasattr(cls, "__record_fields__"):
        return _read_part(cls)
    if hasattr(cls, "__record_fields__"):
        return _read_record(cls)
    if issubclass(cls, Enum):
        return _text_reader(cls, cls)
    if cls is datetime:
        return _text_reader(cls, datetime.fromisoformat)
    if cls in _TEXT_TYPES:
        return _text_reader(cls, cls)
    if cls in (str, int, float, bool, type(None)):
        return _scalar_reader(cls)
    raise TypeError(f"{cls.__name__} cannot be in a plan")


def _scalar_reader(cls: type) -> ValueReader:
    def read(value: object) -> object:
        if cls is float and type(value) is int:
            return float(value)
        if type(value) is not cls:
            raise InvalidValue(f"is no {cls.__name__}")
        return value

    return read


def _text_reader(cls: type, make: Callable[[str], object]) -> ValueReader:
    def read(value: object) -> object:
        try:
            return make(value)  # type: ignore[arg-type]  # what is no text is a ValueError or TypeError
        except (ValueError, TypeError):
            raise InvalidValue(f"is no {cls.__name__}") from None

    return read


def _enum_reader(known: tuple[object, ...]) -> ValueReader:
    def read(value: object) -> object:
        if value not in known:
            raise InvalidValue(f"is none of {', '.join(map(str, known))}")
        return value

    return read


def _union_reader(readers: tuple[ValueReader, ...]) -> ValueReader:
    def read(value: object) -> object:
        wrong: list[InvalidValue] = []
        for reader in readers:
            try:
                return reader(value)
            except InvalidValue as error:
                wrong.append(error)
        raise wrong[0]

    return read


def _tuple_reader(hints: tuple[object, ...]) -> ValueReader:
    open_ended = len(hints) == 2 and hints[1] is Ellipsis
    readers = tuple(_build_reader(hint) for hint in hints if hint is not Ellipsis)

    def read(value: object) -> object:
        if not isinstance(value, list) or not (open_ended or len(value) == len(readers)):
            raise InvalidValue("is no such list")
        of_each = readers * len(value) if open_ended else readers
        items: list[object] = []
        for reader, item in zip(of_each, value, strict=True):
            try:
                items.append(reader(item))
            except InvalidValue as error:
                raise error.below(f"[{len(items)}]") from None
        return tuple(items)

    return read


def _literal_reader(reader: ValueReader) -> ValueReader:
    def read(value: object) -> object:
        items = {}
        for name, item in _mapping_reader(value).items():
            try:
                items[name] = reader(item)
            except InvalidValue as error:
                raise error.below(f".{name}") from None
        return items

    return read


def _json_reader(value: object) -> object:
    return value


def _mapping_reader(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InvalidValue("is no mapping")
    return value
