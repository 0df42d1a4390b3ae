"""Convert plain values to protobuf messages and back.

Times and durations are seconds, enum values are numbers or names, an Any is the pair of its
URL and the fields of its content, and None leaves a field unset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from google.protobuf.message import Message

from stockman.talos.wire.schema import UnknownApiName

if TYPE_CHECKING:
    from stockman.talos.wire.schema import ApiSchema


Fields: TypeAlias = Mapping[str, object]
Dynamic: TypeAlias = Any
"""An object whose attributes are known only at run time."""
_Setter: TypeAlias = Callable[[Dynamic, Dynamic], None]

_NANOSECONDS = 1_000_000_000
_MICROSECONDS = 1_000_000
_setters: dict[Dynamic, dict[str, _Setter]] = {}


class InvalidFieldValue(Exception):
    """A value does not fit into a field."""


def new_message(schema: ApiSchema, full_name: str, values: Fields) -> Message:
    """Return a message of a minor with these values."""
    message = schema.message(full_name)()
    fill_message(schema, message, values)
    return message


def fill_message(schema: ApiSchema, message: Message, values: Fields) -> None:
    """Set fields of a message."""
    descriptor = message.DESCRIPTOR
    setters = _setters.get(descriptor)
    if setters is None:
        setters = {field.name: _setter(schema, field) for field in descriptor.fields}
        _setters[descriptor] = setters
    for name, value in values.items():
        if value is None:
            continue
        setter = setters.get(name)
        if setter is None:
            raise InvalidFieldValue(f"{descriptor.full_name} of {schema.minor} has no field {name}")
        try:
            setter(message, value)
        except (TypeError, ValueError, AttributeError) as error:
            raise InvalidFieldValue(f"{descriptor.full_name}.{name}: {error}") from error


def _setter(schema: ApiSchema, field: Dynamic) -> _Setter:
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _map_setter(schema, field)
    if field.message_type is not None:
        put = _message_setter(schema, field.message_type)
        if field.is_repeated:

            def several(message: Dynamic, value: Iterable[object]) -> None:
                into = getattr(message, name)
                for item in value:
                    put(into.add(), item)

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


def _map_setter(schema: ApiSchema, field: Dynamic) -> _Setter:
    name = field.name
    held = field.message_type.fields_by_name["value"]
    if held.message_type is None:
        return lambda message, value: getattr(message, name).update(value)
    put = _message_setter(schema, held.message_type)

    def messages(message: Dynamic, value: Mapping[object, object]) -> None:
        into = getattr(message, name)
        for key, item in value.items():
            put(into[key], item)

    return messages


def _enum_converter(field: Dynamic) -> Callable[[object], object]:
    if field.enum_type is None:
        return lambda value: value
    numbers = {value.name: value.number for value in field.enum_type.values}

    def number(value: object) -> object:
        if not isinstance(value, str):
            return value
        if value not in numbers:
            raise ValueError(f"unknown value {value}")
        return numbers[value]

    return number


def _message_setter(schema: ApiSchema, descriptor: Dynamic) -> _Setter:
    """Return a function that sets an existing message to a value."""
    special = _SPECIAL_SETTERS.get(descriptor.full_name)

    def put(message: Message, value: object) -> None:
        if isinstance(value, Message):
            message.MergeFromString(value.SerializeToString())
        elif special is not None:
            special(schema, message, value)
        elif isinstance(value, Mapping):
            fill_message(schema, message, value)
        else:
            raise TypeError(f"{type(value).__name__} is not a message")

    return put


def _put_timestamp(schema: ApiSchema, timestamp: Dynamic, value: Dynamic) -> None:
    del schema
    value = _seconds_number(value)
    # A float of seconds since 1970 is exact to less than a microsecond, but not to a nanosecond.
    timestamp.seconds, micros = divmod(round(value * _MICROSECONDS), _MICROSECONDS)
    timestamp.nanos = micros * (_NANOSECONDS // _MICROSECONDS)


def _put_duration(schema: ApiSchema, duration: Dynamic, value: Dynamic) -> None:
    del schema
    total = round(_seconds_number(value) * _NANOSECONDS)
    seconds, nanos = divmod(abs(total), _NANOSECONDS)
    sign = -1 if total < 0 else 1
    duration.seconds, duration.nanos = sign * seconds, sign * nanos


def _seconds_number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} is not a number of seconds")
    return value


def _put_any(schema: ApiSchema, message: Dynamic, value: Dynamic) -> None:
    message.type_url, fields = value
    full_name = message.type_url.rpartition("/")[2]
    message.value = new_message(schema, full_name, fields).SerializeToString(deterministic=True)


def _put_struct(schema: ApiSchema, struct: Dynamic, value: Dynamic) -> None:
    del schema
    struct.update(value)


_SPECIAL_SETTERS: dict[str, Callable[[ApiSchema, Dynamic, Dynamic], None]] = {
    "google.protobuf.Any": _put_any,
    "google.protobuf.Duration": _put_duration,
    "google.protobuf.Struct": _put_struct,
    "google.protobuf.Timestamp": _put_timestamp,
}


def message_values(schema: ApiSchema, message: Message) -> dict[str, object]:
    """Return the fields of a message; unset fields are left out.

    Enum values are names if the minor knows them, else numbers.
    """
    return {field.name: _read_field(schema, field, value) for field, value in message.ListFields()}


def seconds_of(moment: Dynamic) -> float:
    """Return a timestamp or a duration in seconds."""
    return float(moment.seconds) + float(moment.nanos) / _NANOSECONDS


def _read_field(schema: ApiSchema, field: Dynamic, content: Dynamic) -> object:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value_field = field.message_type.fields_by_name["value"]
        return {
            key: _read_single(schema, value_field, value) for key, value in sorted(content.items())
        }
    if field.is_repeated:
        return [_read_single(schema, field, value) for value in content]
    return _read_single(schema, field, content)


def _read_single(schema: ApiSchema, field: Dynamic, value: Dynamic) -> object:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return value if known is None else known.name
    if field.message_type is None:
        return value
    special = _SPECIAL_READERS.get(field.message_type.full_name)
    return message_values(schema, value) if special is None else special(schema, value)


def _read_any(schema: ApiSchema, value: Dynamic) -> object:
    try:
        message = schema.message(value.type_url.rpartition("/")[2])
    except UnknownApiName:
        return value.type_url, {}
    return value.type_url, message_values(schema, message.FromString(value.value))


def _read_struct(schema: ApiSchema, value: Dynamic) -> object:
    del schema
    return {key: _read_json(item) for key, item in value.fields.items()}


def _read_json(value: Dynamic) -> object:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _read_json(item) for key, item in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_read_json(item) for item in value.list_value.values]
    if kind is None or kind == "null_value":
        return None
    scalar: object = getattr(value, kind)
    return scalar


def _read_seconds(schema: ApiSchema, value: Dynamic) -> object:
    del schema
    return seconds_of(value)


_SPECIAL_READERS: dict[str, Callable[[ApiSchema, Dynamic], object]] = {
    "google.protobuf.Any": _read_any,
    "google.protobuf.Duration": _read_seconds,
    "google.protobuf.Struct": _read_struct,
    "google.protobuf.Timestamp": _read_seconds,
}
