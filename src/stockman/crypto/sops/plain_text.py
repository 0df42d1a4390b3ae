"""Values in the clear as YAML and JSON text that reads back as the same value."""

from __future__ import annotations

import json
import math

from stockman.crypto.sops.go_yaml import needs_quotes
from stockman.crypto.sops.scalars import Timestamp, Value, go_float
from stockman.crypto.sops.tree import Leaf

_INDENT = 2


def yaml_text(value: Value, leaf: Leaf, *, ends_line: bool) -> str:
    """A value for the place that a leaf has; texts with lines become literal blocks."""
    if isinstance(value, str):
        return _yaml_string(value, leaf, block=ends_line and not leaf.flow)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return _yaml_float(value)
    return value.text if isinstance(value, Timestamp) else str(value)


def json_text(value: Value) -> str:
    """A value as JSON; moments become texts, as SOPS writes them."""
    if isinstance(value, Timestamp):
        return json.dumps(value.text)
    if isinstance(value, float):
        return _with_point(go_float(value))
    return json.dumps(value, ensure_ascii=False)


def _yaml_string(text: str, leaf: Leaf, *, block: bool) -> str:
    if block and "\n" in text and _fits_a_block(text):
        return _block(text, leaf.column + _INDENT)
    if leaf.flow or needs_quotes(text):
        return _quoted(text)
    return text


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(
        character if character.isprintable() else _escaped(character) for character in quoted
    )


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fits_a_block(text: str) -> bool:
    """Whether a literal block keeps a text as it is."""
    lines = text.split("\n")
    return (
        not text.startswith((" ", "\n"))
        # Blank lines that stand behind it in the file would be added to those at its end.
        and not text.endswith("\n\n")
        and all(line.isprintable() for line in lines)
        and not any(line.endswith(" ") for line in lines)
    )


def _block(text: str, column: int) -> str:
    body = text.removesuffix("\n")
    lines = [f"{' ' * column}{line}" if line else "" for line in body.split("\n")]
    return "\n".join(["|" if body != text else "|-", *lines])


def _yaml_float(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    return _with_point(go_float(number))


def _with_point(digits: str) -> str:
    return digits if "." in digits else f"{digits}.0"
