"""Encode trees of Talos' types as Talos prints them, and the text of its special types."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import datetime

from stockman.talos.patches.scalars import (
    check_percentage,
    check_signed_size,
    check_size_condition,
    moment_text,
    parse_address,
    parse_address_and_port,
    parse_disk_size,
    parse_hardware_address,
    parse_prefix,
    parse_url,
)
from stockman.talos.patches.schema import NUMBERS, UNWRITTEN, Branch, Items, Leaf, SchemaType, Tree

REDACTED = "******"
"""Shown instead of a masked key."""
_SIZES = ("block.ByteSize", "block.Size")
_SIGNED_SIZE_SINCE = 13
"""The first minor with negative sizes, which count from the end of a disk."""


def format_value(type_: SchemaType, text: str) -> object:
    """Return what Talos prints after reading `text` as a value of the type; raises ValueError."""
    if type_.words:
        return _check_word(type_, text)
    if type_.minor < _SIGNED_SIZE_SINCE and type_.name in _SIZES and text.startswith("-"):
        raise ValueError(f"Talos 1.{type_.minor} does not support negative sizes")
    return _CODECS[_short_name(type_)](text)


def is_empty(type_: SchemaType, value: object) -> bool:
    """Whether a value is the zero value of its type."""
    if type_.words:
        return type_.words.get(str(value), 0) == 0
    return value in ("", 0, "0 B")


def normalize_base64(text: str) -> str:
    """Return base64 in canonical form; raises ValueError."""
    try:
        content = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except binascii.Error as error:
        raise ValueError(f"it is not base64: {error}") from None
    return base64.b64encode(content).decode()


def parse_ports(number: int | None, text: str) -> object:
    """Return a port or a port range; `number` is the value of an unquoted number."""
    if number is not None:
        return number
    low, dash, high = text.partition("-")
    for port in (low, high):
        if not dash or not (port.isdecimal() and port.isascii()) or int(port) >= 1 << 16:
            raise ValueError("a port or a range of ports such as 1000-2000 is required")
    return int(low) if int(low) == int(high) else f"{int(low)}-{int(high)}"


def _short_name(type_: SchemaType) -> str:
    return type_.name.rpartition(".")[2]


def _check_word(type_: SchemaType, text: str) -> str:
    if type_.name.endswith(".FailOverMAC") and text not in type_.words:
        return _parse_fail_over(type_, text)
    for choice in (text, text.lower()):
        if choice in type_.words:
            return choice
    for choice in type_.words:
        if choice.lower() == text.lower():
            return choice
    raise ValueError(f"one of {', '.join(list(type_.words)[:10])} is required")


def _parse_fail_over(type_: SchemaType, text: str) -> str:
    """Return the word of an empty text or of the numbers 0 to 2."""
    choices = list(type_.words)
    if not text:
        return choices[0]
    if text.isdecimal() and int(text) < len(choices):
        return choices[int(text)]
    raise ValueError(f"one of {', '.join(choices)} is required")


def _allow_empty(read: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: read(text) if text else ""


_CODECS: dict[str, Callable[[str], object]] = {
    "Addr": _allow_empty(parse_address),
    "AddrPort": _allow_empty(parse_address_and_port),
    "Base64Bytes": normalize_base64,
    "ByteSize": check_signed_size,
    "DiskSize": parse_disk_size,
    "Endpoint": lambda text: str(parse_url(text)),
    "Expression": str,
    "HardwareAddr": parse_hardware_address,
    "InstallDiskSizeMatcher": check_size_condition,
    "Prefix": _allow_empty(parse_prefix),
    "Size": lambda text: check_percentage(text) if "%" in text else check_signed_size(text),
    "URL": lambda text: str(parse_url(text)),
}


_ZEROES: dict[str, object] = {"string": "", "bool": False, "duration": "0s"} | dict.fromkeys(
    NUMBERS, 0
)
_DECIDING_FIELDS = {
    "block.EncryptionSpec": ("provider", "keys"),
    "runtime.ProvisioningSpec": ("diskSelector",),
}
"""Structs whose zero value depends only on these fields."""


def encode_tree(type_: SchemaType, tree: Tree | None) -> Tree:
    """Return the tree as Talos prints it. Fields that were absent have the origin UNWRITTEN."""
    if type_.kind == "pointer":
        return Leaf(None, UNWRITTEN) if tree is None else encode_tree(type_.element, tree)
    if isinstance(tree, Leaf) and tree.value is None and type_.kind != "any":
        return tree
    if type_.codec and type_.kind not in ("list", "map") and not type_.codec.startswith("x509."):
        return _encode_custom(type_, tree)
    if type_.kind == "struct":
        return _encode_struct(type_, tree if isinstance(tree, Branch) else Branch(UNWRITTEN))
    if type_.kind == "list":
        items = tree if isinstance(tree, Items) else Items(UNWRITTEN)
        return Items(items.origin, [encode_tree(type_.element, item) for item in items])
    if type_.kind == "map":
        entries = tree if isinstance(tree, Branch) else Branch(UNWRITTEN)
        return Branch(
            entries.origin,
            {key: encode_tree(type_.element, entries[key]) for key in sorted(entries)},
        )
    return _encode_value(type_, tree)


def is_zero(type_: SchemaType, tree: Tree | None) -> bool:
    """Whether `omitempty` leaves out a value; empty lists and mappings count as zero."""
    if tree is None:
        return True
    if type_.kind == "pointer":
        return False
    if isinstance(tree, Leaf):
        if type_.codec:
            return is_empty(type_, tree.value)
        return tree.value == _ZEROES.get(type_.kind)
    if isinstance(tree, Items):
        return not tree and not type_.zeroes
    if type_.kind == "map":
        return not tree
    fields = type_.named
    deciding = _DECIDING_FIELDS.get(type_.name, tuple(tree)) if type_.zeroes else tuple(tree)
    return all(key in fields and is_zero(fields[key].type, tree.get(key)) for key in deciding)


def _encode_struct(type_: SchemaType, branch: Branch) -> Branch:
    result = Branch(branch.origin)
    for field in type_.flat:
        if not field.name:
            result.update(_encode_free_form(type_, branch))
            continue
        value = branch.get(field.name)
        if not (field.omits and is_zero(field.type, value)):
            result[field.name] = encode_tree(field.type, value)
    return result


def _encode_free_form(type_: SchemaType, branch: Branch) -> dict[str, Tree]:
    element = type_.free.element if type_.free is not None else type_
    return {
        key: encode_tree(element, branch[key]) for key in sorted(branch) if key not in type_.named
    }


def _encode_custom(type_: SchemaType, tree: Tree | None) -> Tree:
    if type_.name.endswith(".ArgValue"):
        if tree is None or (isinstance(tree, Leaf) and tree.value == ""):
            return Leaf(None, UNWRITTEN if tree is None else tree.origin)
        return tree
    if tree is not None:
        return tree
    if type_.words:
        unnamed = f"{type_.name.rpartition('.')[2]}(0)"
        zero = next((choice for choice, number in type_.words.items() if number == 0), unnamed)
        return Leaf(zero, UNWRITTEN)
    return Leaf(0 if type_.kind in NUMBERS else "", UNWRITTEN)


def _encode_value(type_: SchemaType, tree: Tree | None) -> Tree:
    if type_.kind == "any":
        return _encode_untyped(tree)
    if isinstance(tree, Leaf):
        return tree
    return Leaf(_ZEROES.get(type_.kind, ""), UNWRITTEN)


def _encode_untyped(tree: Tree | None) -> Tree:
    if tree is None:
        return Leaf(None, UNWRITTEN)
    if isinstance(tree, Branch):
        return Branch(tree.origin, {key: _encode_untyped(tree[key]) for key in sorted(tree)})
    if isinstance(tree, Items):
        return Items(tree.origin, [_encode_untyped(item) for item in tree])
    if isinstance(tree.value, datetime):
        return Leaf(moment_text(tree.value), tree.origin)
    return tree
