"""Built-in objects out of protobuf, as the trees that they are in JSON.

Answers are never in protobuf: every client takes JSON as well.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from stockman.etcd.errors import BrokenDatabase
from stockman.etcd.protobuf import fields, to_signed
from stockman.model.package_file import read_package_bytes
from stockman_lab.kube.objects import Object, Tree

MAGIC = b"k8s\0"
_CORE = "core"
_LISTS = frozenset({"Verbs", "ExtraValue"})
"""Messages that are nothing but a list of texts."""


class BadProtobuf(Exception):
    """Bytes that are no object."""


class _Numbered(NamedTuple):
    name: str
    """Empty: what is in it belongs to the message around it."""
    kind: str


def read_protobuf(body: bytes) -> Object:
    """The object of a body; raises `BadProtobuf`."""
    if not body.startswith(MAGIC):
        raise BadProtobuf(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    try:
        return _object(body[len(MAGIC) :])
    except (BrokenDatabase, UnicodeDecodeError, ValueError, struct.error) as why:
        raise BadProtobuf(str(why)) from None


def _object(message: bytes) -> Object:
    envelope = {number: value for number, value in fields(message) if isinstance(value, bytes)}
    types = {
        number: value.decode()
        for number, value in fields(envelope.get(1, b""))
        if isinstance(value, bytes)
    }
    version, kind = types.get(1, ""), types.get(2, "")
    group, _, bare = version.rpartition("/")
    package = f"{group.partition('.')[0] or _CORE}.{bare}"
    if kind not in _table().get(package, {}):
        package = "meta.v1"
    if kind not in _table().get(package, {}):
        raise BadProtobuf(f'no kind "{kind}" is registered for version "{version}"')
    content = _message(f"{package}.{kind}", envelope.get(2, b""))
    return {"kind": kind, "apiVersion": version, **content}


@cache
def _table() -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = json.loads(
        read_package_bytes("stockman_lab.kube.protobuf", "numbers.json")
    )
    return table


@cache
def _fields(kind: str) -> dict[int, _Numbered]:
    package, _, name = kind.rpartition(".")
    numbers = {}
    for row in _table()[package][name].split(","):
        if row:
            number, field, spelled = row.split(" ")
            numbers[int(number)] = _Numbered("" if field == "+" else field, spelled)
    return numbers


def _message(kind: str, message: bytes) -> Object:
    known = _fields(kind)
    values: Object = {}
    for number, value in fields(message):
        field = known.get(number)
        if field is None:
            continue
        name, spelled = field
        if not name:
            values.update(_message(spelled, _bytes(value)))
        elif spelled[0] == "[":
            values.setdefault(name, []).append(_value(spelled[1:-1], value))
        elif spelled[0] == "{":
            key, one = _pair(spelled[1:-1], _bytes(value))
            values.setdefault(name, {})[key] = one
        else:
            values[name] = _value(spelled, value)
    return values


def _pair(spelled: str, message: bytes) -> tuple[str, Tree]:
    result = dict(fields(message))
    empty: int | bytes = 0 if spelled in {"int32", "int64", "bool"} else b""
    return _bytes(result.get(1, b"")).decode(), _value(spelled, result.get(2, empty))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise BadProtobuf("a number where a message belongs")
    return value


def _number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise BadProtobuf("bytes where a number belongs")
    return to_signed(value)


def _value(spelled: str, value: int | bytes) -> Tree:
    plain = _PLAIN.get(spelled)
    if plain is not None:
        return plain(value)
    if spelled.rpartition(".")[2] in _LISTS:
        return [_bytes(one).decode() for _, one in fields(_bytes(value))]
    return _message(spelled, _bytes(value))


def _time(value: int | bytes, form: str) -> str | None:
    result = dict(fields(_bytes(value)))
    if not result:
        return None
    moment = datetime.fromtimestamp(_number(result.get(1, 0)), UTC)
    return moment.replace(microsecond=_number(result.get(2, 0)) // 1000).strftime(form)


def _seconds(value: int | bytes) -> str | None:
    return _time(value, "%Y-%m-%dT%H:%M:%SZ")


def _microseconds(value: int | bytes) -> str | None:
    return _time(value, "%Y-%m-%dT%H:%M:%S.%fZ")


def _quantity(value: int | bytes) -> str:
    return _bytes(dict(fields(_bytes(value))).get(1, b"0")).decode() or "0"


def _number_or_text(value: int | bytes) -> int | str:
    result = dict(fields(_bytes(value)))
    if result.get(1, 0) == 1:
        return _bytes(result.get(3, b"")).decode()
    return _number(result.get(2, 0))


def _raw(value: int | bytes) -> Tree:
    result = _bytes(dict(fields(_bytes(value))).get(1, b""))
    return json.loads(result) if result else None


_PLAIN: dict[str, Callable[[int | bytes], Tree]] = {
    "string": lambda value: _bytes(value).decode(),
    "int32": _number,
    "int64": _number,
    "bool": lambda value: bool(_number(value)),
    "bytes": lambda value: base64.b64encode(_bytes(value)).decode(),
    "double": lambda value: struct.unpack("<d", _bytes(value))[0],
    "meta.v1.Time": _seconds,
    "meta.v1.MicroTime": _microseconds,
    "meta.v1.FieldsV1": _raw,
    "Quantity": _quantity,
    "IntOrString": _number_or_text,
    "RawExtension": _raw,
}
