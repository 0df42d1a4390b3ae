"""Contents read back from messages of the wire, in the words of YAML."""

from __future__ import annotations

import base64
import ipaddress
from typing import Any

from google.protobuf.message import Message
from stockman_lab.talos.cosi.parts import PREFIX, Part, parts, wire_for
from stockman_lab.talos.cosi.tables import word_of, words


def contents(shape: str, minor: str, raw: bytes) -> dict[str, object]:
    """What a message holds, by keys of YAML; fields that are empty are left away."""
    message = wire_for(shape, minor).message(PREFIX + shape).FromString(raw)
    return _structure(shape, minor, message)


def _structure(shape: str, minor: str, message: Message) -> dict[str, object]:
    held = {field.number: value for field, value in message.ListFields()}
    values: dict[str, object] = {}
    for part in parts(shape, minor):
        value = held.get(part.row.number)
        if value is None:
            continue
        if part.row.is_inline:
            values |= _inline(part, minor, value)
        else:
            values[part.row.key] = _value(part, minor, value)
    return values


def _inline(part: Part, minor: str, value: Any) -> dict[str, object]:
    single = _single(part, minor, value)
    return single if isinstance(single, dict) else {}


def _value(part: Part, minor: str, value: Any) -> object:
    if part.is_map:
        return {key: _single(part, minor, value[key]) for key in value}
    if part.is_list:
        return [_single(part, minor, one) for one in value]
    return _single(part, minor, value)


def _single(part: Part, minor: str, value: Any) -> object:
    if part.enum:
        return word_of(part.enum, value)
    if part.row.hint == "mac":
        return value.hex(":")
    if part.row.hint.startswith("Nethelpers"):
        return ",".join(name for name, bit in words(part.row.hint).items() if value & bit)
    if part.row.hint == "base64":
        return base64.b64encode(value).decode()
    if part.row.hint in ("text", "bytes"):
        return value.decode()
    if part.shape:
        return _structure(part.shape, minor, value)
    return _message(part, value) if part.message else value


def _message(part: Part, value: Any) -> object:
    name = part.message.rpartition(".")[2]
    if name == "NetIP":
        return str(ipaddress.ip_address(value.ip)) if value.ip else ""
    if name == "NetIPPrefix":
        return f"{ipaddress.ip_address(value.ip)}/{value.prefix_length}" if value.ip else ""
    if name == "NetIPPort":
        return f"{ipaddress.ip_address(value.ip)}:{value.port}"
    if name == "URL":
        return value.full_path
    if name == "Duration":
        return value.seconds + value.nanos / 1e9
    if name == "Struct":
        return _plain(value)
    return {field.name: base64.b64encode(held).decode() for field, held in value.ListFields()}


def _plain(struct: Any) -> dict[str, object]:
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(struct)
