"""Messages made from plain values.

Times and durations are seconds, values of enums are numbers or names, an Any is the pair of its
URL and the fields of what it holds, and None leaves a field away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.message import Message

if TYPE_CHECKING:
    from stockman.talos.wire.wire import Wire

Fields: TypeAlias = Mapping[str, object]
Dynamic: TypeAlias = Any
"""Something whose attributes are known at run time only."""
_Setter: TypeAlias = Callable[[Dynamic, Dynamic], None]

_NANOSECONDS = 1_000_000_000
_MICROSECONDS = 1_000_000
_setters: dict[Dynamic, dict[str, _Setter]] = {}


class Unfit(Exception):
    """A value that does not go into a field."""


def new_message(wire: Wire, full_name: str, values: Fields) -> Message:
    """A message of a minor with these values."""
    message = wire.message(full_name)()
    fill(wire, message, values)
    return message


def fill(wire: Wire, message: Message, values: Fields) -> None:
    """Put values into a message."""
    descriptor = message.DESCRIPTOR
    setters = _setters.get(descriptor)
    if setters is None:
        setters = {one.name: _setter(wire, one) for one in descriptor.fields}
        _setters[descriptor] = setters
    for name, value in values.items():
        if value is None:
            continue
        setter = setters.get(name)
        if setter is None:
            raise Unfit(f"{descriptor.full_name} of {wire.minor} has no field {name}")
        try:
            setter(message, value)
        except (TypeError, ValueError, AttributeError) as error:
            raise Unfit(f"{descriptor.full_name}.{name}: {error}") from error


def _setter(wire: Wire, field: Dynamic) -> _Setter:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _map_setter(wire, field)
    if field.message_type is not None:
        put = _put_of(wire, field.message_type)
        if field.is_repeated:

            def several(message: Dynamic, value: Iterable[object]) -> None:
                into = getattr(message, name)
                for one in value:
                    put(into.add(), one)

            return several

        def single(message: Dynamic, value: object) -> None:
            into = getattr(message, name)
            into.SetInParent()
            put(into, value)

        return single
    if field.is_repeated:
        numbered = _numbered(field)
        return lambda message, value: getattr(message, name).extend(map(numbered, value))
    if field.enum_type is not None:
        numbered = _numbered(field)
        return lambda message, value: setattr(message, name, numbered(value))
    return lambda message, value: setattr(message, name, value)


def _map_setter(wire: Wire, field: Dynamic) -> _Setter:
    name = field.name
    held = field.message_type.fields_by_name["value"]
    if held.message_type is None:
        return lambda message, value: getattr(message, name).update(value)
    put = _put_of(wire, held.message_type)

    def messages(message: Dynamic, value: Mapping[object, object]) -> None:
        into = getattr(message, name)
        for key, one in value.items():
            put(into[key], one)

    return messages


def _numbered(field: Dynamic) -> Callable[[object], object]:
    if field.enum_type is None:
        return lambda value: value
    numbers = {one.name: one.number for one in field.enum_type.values}

    def number(value: object) -> object:
        if not isinstance(value, str):
            return value
        if value not in numbers:
            raise ValueError(f"there is no {value}")
        return numbers[value]

    return number


def _put_of(wire: Wire, descriptor: Dynamic) -> _Setter:
    """How a value goes into a message that is there already."""
    special = _SPECIAL.get(descriptor.full_name)

    def put(into: Message, value: object) -> None:
        if isinstance(value, Message):
            into.MergeFromString(value.SerializeToString())
        elif special is not None:
            special(wire, into, value)
        elif isinstance(value, Mapping):
            fill(wire, into, value)
        else:
            raise TypeError(f"{type(value).__name__} is not a message")

    return put


def _put_timestamp(wire: Wire, into: Dynamic, value: Dynamic) -> None:
    del wire
    value = _number(value)
    # Seconds since 1970 in a float are exact to less than a microsecond, and not to more.
    into.seconds, rest = divmod(round(value * _MICROSECONDS), _MICROSECONDS)
    into.nanos = rest * (_NANOSECONDS // _MICROSECONDS)


def _put_duration(wire: Wire, into: Dynamic, value: Dynamic) -> None:
    del wire
    whole = round(_number(value) * _NANOSECONDS)
    seconds, nanos = divmod(abs(whole), _NANOSECONDS)
    sign = -1 if whole < 0 else 1
    into.seconds, into.nanos = sign * seconds, sign * nanos


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} is no number of seconds")
    return value


def _put_any(wire: Wire, into: Dynamic, value: Dynamic) -> None:
    into.type_url, fields = value
    full_name = into.type_url.rpartition("/")[2]
    into.value = new_message(wire, full_name, fields).SerializeToString(deterministic=True)


def _put_struct(wire: Wire, into: Dynamic, value: Dynamic) -> None:
    del wire
    into.update(value)


_SPECIAL: dict[str, Callable[[Wire, Dynamic, Dynamic], None]] = {
    "google.protobuf.Any": _put_any,
    "google.protobuf.Duration": _put_duration,
    "google.protobuf.Struct": _put_struct,
    "google.protobuf.Timestamp": _put_timestamp,
}
