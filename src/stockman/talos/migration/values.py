"""Small readers of plain values whose shape the loader has checked already."""

from __future__ import annotations

import base64
import binascii

from stockman.talos.migration.edit import Plain


def mapping(value: object) -> Plain:
    """The mapping; empty where there is none."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Plain]:
    """The mappings of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The texts of a list."""
    return [str(item) for item in value] if isinstance(value, list) else []


def text(value: object) -> str:
    """The text; empty where there is none."""
    return value if isinstance(value, str) else ""


def chosen(source: Plain, *names: str, **renamed: str) -> Plain:
    """The fields that are there: `names` as they are called, `renamed` as new name = old name."""
    wanted = {**{name: name for name in names}, **renamed}
    return {new: source[old] for new, old in wanted.items() if old in source}


def unpacked(value: object) -> str:
    """The PEM text of what the v1alpha1 document holds in base64; empty where there is none."""
    packed = text(value)
    try:
        return base64.b64decode(packed, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return packed
