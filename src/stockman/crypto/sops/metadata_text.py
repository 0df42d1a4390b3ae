"""The `sops` entry as text, letter for letter as SOPS writes it."""

from __future__ import annotations

import json

from stockman.crypto.sops.go_yaml import go_scalar
from stockman.crypto.sops.metadata import Metadata
from stockman.crypto.sops.recipe import DEFAULT_INDENT
from stockman.crypto.sops.tree import METADATA_KEY

_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def yaml_entry(metadata: Metadata, indent: int = DEFAULT_INDENT) -> str:
    """The lines of the entry for a block mapping at the margin."""
    # The Go library knows indents of 2 to 9 and takes others as 2.
    indent = indent if 2 <= indent <= 9 else 2
    dash, key = 2 * indent, 2 * indent + 2
    content = (key // indent + 1) * indent
    lines = [f"{METADATA_KEY}:", f"{' ' * indent}age:"]
    for one in metadata.age:
        lines.append(f"{' ' * dash}- enc: |" + ("" if one.enc.endswith("\n") else "-"))
        lines += [f"{' ' * content}{line}" for line in one.enc.rstrip("\n").split("\n")]
        lines.append(f"{' ' * key}recipient: {one.recipient}")
    for name, value in _fields(metadata):
        text = "true" if value is True else go_scalar(str(value))
        lines.append(f"{' ' * indent}{name}: {text}")
    return "\n".join(lines) + "\n"


def json_entry(metadata: Metadata, unit: str | None) -> str:
    """The entry, `"sops": {...}`, for an object; no unit: on one line."""
    value = {
        "age": [{"enc": one.enc, "recipient": one.recipient} for one in metadata.age],
        **dict(_fields(metadata)),
    }
    text = json.dumps(value, ensure_ascii=False, indent=unit).translate(_HTML)
    if unit is not None:
        text = text.replace("\n", f"\n{unit}")
    return f'"{METADATA_KEY}": {text}'


def _fields(metadata: Metadata) -> list[tuple[str, str | bool]]:
    fields: dict[str, str | bool] = {
        "lastmodified": metadata.lastmodified,
        "mac": metadata.mac,
        "version": metadata.version,
    }
    if metadata.selector.name:
        fields[metadata.selector.name] = metadata.selector.pattern
    if metadata.only_encrypted:
        fields["mac_only_encrypted"] = True
    return sorted(fields.items())
