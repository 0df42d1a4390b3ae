"""Messages made from plain values.

Times and durations are seconds, values of enums are numbers or names, an Any is the pair of its
URL and the fields of what it holds, and None leaves a field away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.message import Message

if TYPE_CHECKING:
    from stockman.talos.wire.schema import ApiSchema
from typing import TYPE_CHECKING

from stockman.talos.wire.schema import UnknownApiName

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from stockman.talos.wire.schema import ApiSchema


Fields: TypeAlias = Mapping[str, object]
Dynamic: TypeAlias = Any
"""Something whose attributes are known at run time only."""
_Setter: TypeAlias = Callable[[Dynamic, Dynamic], None]

_NANOSECONDS = 1_000_000_000
_MICROSECONDS = 1_000_000
_setters: dict[Dynamic, dict[str, _Setter]] = {}


class InvalidFieldValue(Exception):
    """A value that does not go into a field."""


def new_message(wire: ApiSchema, full_name: str, values: Fields) -> Message:
    """A message of a minor with these values."""
    message = wire.message(full_name)()
    fill_message(wire, message, values)
    return message


def fill_message(wire: ApiSchema, message: Message, values: Fields) -> None:
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
            raise InvalidFieldValue(f"{descriptor.full_name} of {wire.minor} has no field {name}")
        try:
            setter(message, value)
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidFieldValue(f"{descriptor.full_name}.{name}: {error}") from error


def _setter(wire: ApiSchema, field: Dynamic) -> _Setter:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _map_setter(wire, field)
    if field.message_type is not None:
        put = _message_setter(wire, field.message_type)
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
        numbered = _enum_converter(field)
        return lambda message, value: getattr(message, name).extend(map(numbered, value))
    if field.enum_type is not None:
        numbered = _enum_converter(field)
        return lambda message, value: setattr(message, name, numbered(value))
    return lambda message, value: setattr(message, name, value)


def _map_setter(wire: ApiSchema, field: Dynamic) -> _Setter:
    name = field.name
    held = field.message_type.fields_by_name["value"]
    if held.message_type is None:
        return lambda message, value: getattr(message, name).update(value)
    put = _message_setter(wire, held.message_type)

    def messages(message: Dynamic, value: Mapping[object, object]) -> None:
        into = getattr(message, name)
        for key, one in value.items():
            put(into[key], one)

    return messages


def _enum_converter(field: Dynamic) -> Callable[[object], object]:
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


def _message_setter(wire: ApiSchema, descriptor: Dynamic) -> _Setter:
    """How a value goes into a message that is there already."""
    special = _SPECIAL_SETTERS.get(descriptor.full_name)

    def put(into: Message, value: object) -> None:
        if isinstance(value, Message):
            into.MergeFromString(value.SerializeToString())
        elif special is not None:
            special(wire, into, value)
        elif isinstance(value, Mapping):
            fill_message(wire, into, value)
        else:
            raise TypeError(f"{type(value).__name__} is not a message")

    return put


def _put_timestamp(wire: ApiSchema, into: Dynamic, value: Dynamic) -> None:
    del wire
    value = _seconds_number(value)
    # Seconds since 1970 in a float are exact to less than a microsecond, and not to more.
    into.seconds, rest = divmod(round(value * _MICROSECONDS), _MICROSECONDS)
    into.nanos = rest * (_NANOSECONDS // _MICROSECONDS)


def _put_duration(wire: ApiSchema, into: Dynamic, value: Dynamic) -> None:
    del wire
    whole = round(_seconds_number(value) * _NANOSECONDS)
    seconds, nanos = divmod(abs(whole), _NANOSECONDS)
    sign = -1 if whole < 0 else 1
    into.seconds, into.nanos = sign * seconds, sign * nanos


def _seconds_number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} is no number of seconds")
    return value


def _put_any(wire: ApiSchema, into: Dynamic, value: Dynamic) -> None:
    into.type_url, fields = value
    full_name = into.type_url.rpartition("/")[2]
    into.value = new_message(wire, full_name, fields).SerializeToString(deterministic=True)


def _put_struct(wire: ApiSchema, into: Dynamic, value: Dynamic) -> None:
    del wire
    into.update(value)


_SPECIAL_SETTERS: dict[str, Callable[[ApiSchema, Dynamic, Dynamic], None]] = {
    "google.protobuf.Any": _put_any,
    "google.protobuf.Duration": _put_duration,
    "google.protobuf.Struct": _put_struct,
    "google.protobuf.Timestamp": _put_timestamp,
}


_NANOSECONDS_PER_SECOND = 1_000_000_000


def message_values(wire: ApiSchema, message: Message) -> dict[str, object]:
    """What a message holds; fields that are empty are left away.

    Values of enums are names where the minor knows them, else numbers.
    """
    return {field.name: _read_field(wire, field, held) for field, held in message.ListFields()}


def seconds_of(moment: Dynamic) -> float:
    """A timestamp or a duration in seconds."""
    return float(moment.seconds) + float(moment.nanos) / _NANOSECONDS_PER_SECOND


def _read_field(wire: ApiSchema, field: Dynamic, held: Dynamic) -> object:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        one = field.message_type.fields_by_name["value"]
        return {key: _read_single(wire, one, value) for key, value in sorted(held.items())}
    if field.is_repeated:
        return [_read_single(wire, field, value) for value in held]
    return _read_single(wire, field, held)


def _read_single(wire: ApiSchema, field: Dynamic, held: Dynamic) -> object:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(held)
        return held if known is None else known.name
    if field.message_type is None:
        return held
    special = _SPECIAL_READERS.get(field.message_type.full_name)
    return message_values(wire, held) if special is None else special(wire, held)


def _read_any(wire: ApiSchema, held: Dynamic) -> object:
    try:
        message = wire.message(held.type_url.rpartition("/")[2])
    except UnknownApiName:
        return held.type_url, {}
    return held.type_url, message_values(wire, message.FromString(held.value))


def _read_struct(wire: ApiSchema, held: Dynamic) -> object:
    del wire
    return {key: _read_json(value) for key, value in held.fields.items()}


def _read_json(value: Dynamic) -> object:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _read_json(one) for key, one in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_read_json(one) for one in value.list_value.values]
    if kind is None or kind == "null_value":
        return None
    found: object = getattr(value, kind)
    return found


def _read_seconds(wire: ApiSchema, held: Dynamic) -> object:
    del wire
    return seconds_of(held)


_SPECIAL_READERS: dict[str, Callable[[ApiSchema, Dynamic], object]] = {
    "google.protobuf.Any": _read_any,
    "google.protobuf.Duration": _read_seconds,
    "google.protobuf.Struct": _read_struct,
    "google.protobuf.Timestamp": _read_seconds,
}
