"""Contents as messages of the wire: addresses, durations and words in their numbers."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Callable, Mapping

from stockman.talos.wire.values import new_message
from stockman_lab.talos.cosi.parts import PREFIX, Part, parts, wire_for
from stockman_lab.talos.cosi.tables import words

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_FORM = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")


def seconds_of(text: str) -> float:
    """The seconds of `1m30s`."""
    sign = -1.0 if text.startswith("-") else 1.0
    return sign * sum(float(one) * _UNITS[unit] for one, unit in _FORM.findall(text))


def duration_text(seconds: float) -> str:
    """`1m30s` of seconds, from a second on."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    digits = f"{rest:.9f}".rstrip("0").rstrip(".")
    text = f"{digits}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text


def proto_bytes(shape: str, minor: str, values: Mapping[str, object]) -> bytes:
    """The message of a structure with these values."""
    fields = _fields(shape, minor, values)
    message = new_message(wire_for(shape, minor), PREFIX + shape, fields)
    return message.SerializeToString(deterministic=True)


def _fields(shape: str, minor: str, values: Mapping[str, object]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for part in parts(shape, minor):
        told = values if part.row.is_inline else values.get(part.row.key)
        if told is not None and part.row.hint != "cel":
            fields[part.field.name] = _value(part, minor, told)
    return fields


def _value(part: Part, minor: str, value: object) -> object:
    if part.is_map and isinstance(value, Mapping):
        return {key: _single(part, minor, one) for key, one in value.items()}
    if part.is_list and isinstance(value, list | tuple):
        return [_single(part, minor, one) for one in value]
    return _single(part, minor, value)


def _single(part: Part, minor: str, value: object) -> object:
    if part.enum:
        return words(part.enum).get(value, 0) if isinstance(value, str) else value
    if part.row.hint:
        return _HINTED.get(part.row.hint, _flags_of(part.row.hint))(str(value))
    if part.message in _MESSAGES:
        return _MESSAGES[part.message](value)
    if part.shape and isinstance(value, Mapping):
        return _fields(part.shape, minor, value)
    return value


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def _flags_of(enum: str) -> Callable[[str], object]:
    numbers = words(enum)
    return lambda text: sum(numbers.get(word, 0) for word in text.split(",") if word)


_HINTED: dict[str, Callable[[str], object]] = {
    "mac": _mac,
    "text": str.encode,
    "bytes": str.encode,
    "base64": base64.b64decode,
}


def _address(value: object) -> object:
    text = str(value)
    return {"ip": ipaddress.ip_address(text).packed} if text else {}


def _prefix(value: object) -> object:
    text = str(value)
    if not text:
        return {"prefix_length": -1}
    ip_interface = ipaddress.ip_interface(text)
    return {"ip": ip_interface.ip.packed, "prefix_length": ip_interface.network.prefixlen}


def _port(value: object) -> object:
    host, _, port = str(value).rpartition(":")
    return {"ip": ipaddress.ip_address(host.strip("[]")).packed, "port": int(port)} if host else {}


def _url(value: object) -> object:
    if not isinstance(value, Mapping):
        return {}
    return {"full_path": f"{value['scheme']}://{value['host']}{value.get('path', '')}"}


def _pem(value: object) -> object:
    if not isinstance(value, Mapping):
        return {}
    return {key: base64.b64decode(str(text)) for key, text in value.items()}


_MESSAGES: dict[str, Callable[[object], object]] = {
    "common.NetIP": _address,
    "common.NetIPPrefix": _prefix,
    "common.NetIPPort": _port,
    "common.URL": _url,
    "common.PEMEncodedCertificateAndKey": _pem,
    "common.PEMEncodedCertificate": _pem,
    "common.PEMEncodedKey": _pem,
    "google.protobuf.Duration": lambda told: seconds_of(str(told)),
    "google.protobuf.Struct": dict,  # type: ignore[dict-item]  # only mappings come here
}
