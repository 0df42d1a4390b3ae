"""Plain values of messages: the way back of `filling`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman.talos.wire.filling import Dynamic
from stockman.talos.wire.wire import NotOnTheWire

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from stockman.talos.wire.wire import Wire

_NANOSECONDS = 1_000_000_000


def values_of(wire: Wire, message: Message) -> dict[str, object]:
    """What a message holds; fields that are empty are left away.

    Values of enums are names where the minor knows them, else numbers.
    """
    return {field.name: _value(wire, field, held) for field, held in message.ListFields()}


def seconds_of(moment: Dynamic) -> float:
    """A timestamp or a duration in seconds."""
    return float(moment.seconds) + float(moment.nanos) / _NANOSECONDS


def _value(wire: Wire, field: Dynamic, held: Dynamic) -> object:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        one = field.message_type.fields_by_name["value"]
        return {key: _single(wire, one, value) for key, value in sorted(held.items())}
    if field.is_repeated:
        return [_single(wire, field, value) for value in held]
    return _single(wire, field, held)


def _single(wire: Wire, field: Dynamic, held: Dynamic) -> object:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(held)
        return held if known is None else known.name
    if field.message_type is None:
        return held
    special = _SPECIAL.get(field.message_type.full_name)
    return values_of(wire, held) if special is None else special(wire, held)


def _any(wire: Wire, held: Dynamic) -> object:
    try:
        message = wire.message(held.type_url.rpartition("/")[2])
    except NotOnTheWire:
        return held.type_url, {}
    return held.type_url, values_of(wire, message.FromString(held.value))


def _struct(wire: Wire, held: Dynamic) -> object:
    del wire
    return {key: _json(value) for key, value in held.fields.items()}


def _json(value: Dynamic) -> object:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {key: _json(one) for key, one in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_json(one) for one in value.list_value.values]
    if kind is None or kind == "null_value":
        return None
    found: object = getattr(value, kind)
    return found


def _seconds(wire: Wire, held: Dynamic) -> object:
    del wire
    return seconds_of(held)


_SPECIAL: dict[str, Callable[[Wire, Dynamic], object]] = {
    "google.protobuf.Any": _any,
    "google.protobuf.Duration": _seconds,
    "google.protobuf.Struct": _struct,
    "google.protobuf.Timestamp": _seconds,
}
