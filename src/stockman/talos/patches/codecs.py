"""Types that read their own text: what they take, and what they print."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from stockman.talos.patches.addresses import (
    address,
    address_and_port,
    hardware_address,
    prefix,
    url,
)
from stockman.talos.patches.sizes import condition, disk_size, share, signed_size
from stockman.talos.patches.table import Type

REDACTED = "******"
"""What stands for a key that must not be seen."""
_SIZES = ("block.ByteSize", "block.Size")
_BELOW_ZERO = 13
"""The first minor with sizes below zero, which are counted from the end of a disk."""


def printed(type_: Type, text: str) -> object:
    """What Talos prints after it has read `text` as a value of the type; raises ValueError."""
    if type_.words:
        return _word(type_, text)
    if type_.minor < _BELOW_ZERO and type_.name in _SIZES and text.startswith("-"):
        raise ValueError(f"Talos 1.{type_.minor} takes no size below zero")
    return _CODECS[_short(type_)](text)


def is_empty(type_: Type, value: object) -> bool:
    """Whether the value is the zero value of its type."""
    if type_.words:
        return type_.words.get(str(value), 0) == 0
    return value in ("", 0, "0 B")


def from_base64(text: str) -> str:
    """The text in its only spelling; raises ValueError."""
    try:
        content = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except binascii.Error as error:
        raise ValueError(f"this is no base64: {error}") from None
    return base64.b64encode(content).decode()


def ports(number: int | None, text: str) -> object:
    """A port, or a range of them; `number`: what an unquoted text is as a number."""
    if number is not None:
        return number
    low, dash, high = text.partition("-")
    for port in (low, high):
        if not dash or not (port.isdecimal() and port.isascii()) or int(port) >= 1 << 16:
            raise ValueError("a port or a range of ports, 1000-2000, is needed")
    return int(low) if int(low) == int(high) else f"{int(low)}-{int(high)}"


def _short(type_: Type) -> str:
    return type_.name.rpartition(".")[2]


def _word(type_: Type, text: str) -> str:
    if type_.name.endswith(".FailOverMAC") and text not in type_.words:
        return _fail_over(type_, text)
    for word in (text, text.lower()):
        if word in type_.words:
            return word
    for word in type_.words:
        if word.lower() == text.lower():
            return word
    raise ValueError(f"one of {', '.join(list(type_.words)[:10])} is needed")


def _fail_over(type_: Type, text: str) -> str:
    """An empty text and the numbers 0 to 2 stand for words here."""
    words = list(type_.words)
    if not text:
        return words[0]
    if text.isdecimal() and int(text) < len(words):
        return words[int(text)]
    raise ValueError(f"one of {', '.join(words)} is needed")


def _or_nothing(read: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: read(text) if text else ""


_CODECS: dict[str, Callable[[str], object]] = {
    "Addr": _or_nothing(address),
    "AddrPort": _or_nothing(address_and_port),
    "Base64Bytes": from_base64,
    "ByteSize": signed_size,
    "DiskSize": disk_size,
    "Endpoint": lambda text: str(url(text)),
    "Expression": str,
    "HardwareAddr": hardware_address,
    "InstallDiskSizeMatcher": condition,
    "Prefix": _or_nothing(prefix),
    "Size": lambda text: share(text) if "%" in text else signed_size(text),
    "URL": lambda text: str(url(text)),
}
