"""Records as JSON and back: the type of a field decides what its JSON means.

Strict in both directions: a type that is not known here cannot be in a plan, and a text that does
not fit is `Unfit`, with the path to it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from datetime import datetime
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Literal, NewType, TypeVar, Union, cast, get_args, get_origin
from uuid import UUID

from stockman.config.hints import type_hints
from stockman.model.record import LEAVES, fields_of, is_record
from stockman.steps.base import Part
from stockman.steps.kinds import UnknownKind, part_of

T = TypeVar("T")
Reader = Callable[[object], object]
_TEXTS: tuple[type, ...] = (UUID, IPv4Address, IPv4Interface, IPv4Network)
"""Types whose text is made with `str` and read by calling them."""
_SCALARS = (bool, int, float, str)


class Unfit(Exception):
    """A value that is not what its field is; the text says where and why.

    The way to it is put together on the way up: most values fit, and need none.
    """

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(why, place)
        self._why = why
        self._place = place

    def below(self, place: str) -> Unfit:
        """The same, as whoever holds the value tells it."""
        return Unfit(self._why, place + self._place)

    def __str__(self) -> str:
        return f"{self._place or 'it'} {self._why}"


def written(value: object) -> object:
    """A value as JSON; `TypeError` for what could not be read again, secrets among it."""
    if type(value) in LEAVES:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, _TEXTS):
        return str(value)
    if is_record(value):
        rows = {one.name: written(getattr(value, one.name)) for one in fields_of(value)}
        return {"kind": value.kind, **rows} if isinstance(value, Part) else rows
    if isinstance(value, Mapping):
        return {_name(key): written(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [written(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be in a plan")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no name")
    return key


def read(cls: type[T], value: object, path: str = "") -> T:
    """The record that JSON spells; `Unfit` where it does not, `UnknownKind` for strange parts."""
    try:
        return cast("T", _of(cls)(value))
    except Unfit as no:
        raise no.below(path) from None


def readable(cls: type) -> None:
    """Raise `TypeError` where a class has a field that could not be read from a plan."""
    _of(cls)


def _record(cls: type) -> Reader:
    hints = type_hints(cls)
    fields = cls.__record_fields__  # type: ignore[attr-defined]
    readers = {one.name: _reader(hints[one.name]) for one in fields}
    known = readers.keys() | _extra(cls)
    plain = {name: hints[name] for name in readers if hints[name] in _SCALARS}
    needed = {
        one.name for one in fields if one.default is MISSING and one.default_factory is MISSING
    }

    def made(value: object) -> object:
        rows = _mapping_of(value)
        if strange := rows.keys() - known:
            raise Unfit("is not known", f".{min(strange)}")
        if lacking := needed - rows.keys():
            raise Unfit("is missing", f".{min(lacking)}")
        found = {}
        for name, item in rows.items():
            if type(item) is plain.get(name):
                found[name] = item
            elif name in readers:
                try:
                    found[name] = readers[name](item)
                except Unfit as no:
                    raise no.below(f".{name}") from None
        return cls(**found)

    return made


def _extra(cls: type) -> set[str]:
    return {"kind"} if issubclass(cls, Part) else set()


def _part(base: type[Part]) -> Reader:
    def made(value: object) -> object:
        kind = _mapping_of(value).get("kind")
        found = part_of(kind) if isinstance(kind, str) else None
        if found is None or not issubclass(found, base):
            raise UnknownKind(kind)
        return _of(found)(value)

    return made


def _of(hint: object) -> Reader:
    return _reader(hint)


@cache
def _reader(hint: object) -> Reader:
    origin = get_origin(hint)
    if origin is Annotated:
        return _reader(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _one_of(tuple(_reader(one) for one in get_args(hint)))
    if origin is tuple:
        return _items(get_args(hint))
    if origin in (dict, Mapping):
        return _named(_reader(get_args(hint)[1]))
    if origin is Literal:
        return _choice(get_args(hint))
    if isinstance(hint, NewType):
        return _reader(hint.__supertype__)
    if hint is object:
        return _free
    if isinstance(hint, type):
        return _of_class(hint)
    raise TypeError(f"{hint} cannot be in a plan")


def _of_class(cls: type) -> Reader:
    if issubclass(cls, Part) and not hasattr(cls, "__record_fields__"):
        return _part(cls)
    if hasattr(cls, "__record_fields__"):
        return _record(cls)
    if issubclass(cls, Enum):
        return _text_made(cls, cls)
    if cls is datetime:
        return _text_made(cls, datetime.fromisoformat)
    if cls in _TEXTS:
        return _text_made(cls, cls)
    if cls in (str, int, float, bool, type(None)):
        return _plain(cls)
    raise TypeError(f"{cls.__name__} cannot be in a plan")


def _plain(cls: type) -> Reader:
    def made(value: object) -> object:
        if cls is float and type(value) is int:
            return float(value)
        if type(value) is not cls:
            raise Unfit(f"is no {cls.__name__}")
        return value

    return made


def _text_made(cls: type, make: Callable[[str], object]) -> Reader:
    def made(value: object) -> object:
        try:
            return make(value)  # type: ignore[arg-type]  # what is no text is a ValueError or TypeError
        except (ValueError, TypeError):
            raise Unfit(f"is no {cls.__name__}") from None

    return made


def _choice(known: tuple[object, ...]) -> Reader:
    def made(value: object) -> object:
        if value not in known:
            raise Unfit(f"is none of {', '.join(map(str, known))}")
        return value

    return made


def _one_of(readers: tuple[Reader, ...]) -> Reader:
    def made(value: object) -> object:
        wrong: list[Unfit] = []
        for reader in readers:
            try:
                return reader(value)
            except Unfit as no:
                wrong.append(no)
        raise wrong[0]

    return made


def _items(hints: tuple[object, ...]) -> Reader:
    open_ended = len(hints) == 2 and hints[1] is Ellipsis
    readers = tuple(_reader(one) for one in hints if one is not Ellipsis)

    def made(value: object) -> object:
        if not isinstance(value, list) or not (open_ended or len(value) == len(readers)):
            raise Unfit("is no such list")
        of_each = readers * len(value) if open_ended else readers
        found: list[object] = []
        for reader, item in zip(of_each, value, strict=True):
            try:
                found.append(reader(item))
            except Unfit as no:
                raise no.below(f"[{len(found)}]") from None
        return tuple(found)

    return made


def _named(reader: Reader) -> Reader:
    def made(value: object) -> object:
        found = {}
        for name, item in _mapping_of(value).items():
            try:
                found[name] = reader(item)
            except Unfit as no:
                raise no.below(f".{name}") from None
        return found

    return made


def _free(value: object) -> object:
    return value


def _mapping_of(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Unfit("is no mapping")
    return value
