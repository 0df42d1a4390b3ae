"""The one YAML writer: two spaces, keys in the order given, nothing that a reader could retype.

Every text that YAML 1.1 or YAML 1.2 would read as something else is quoted. Output is a function
of input.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

from stockman.config.noted import Noted, comment_behind, comment_lines
from stockman.config.yaml_text import block, is_block, scalar

__all__ = ["document", "dump", "scalar"]

Collection: TypeAlias = dict[object, object] | list[object] | tuple[object, ...]

_INDENT = "  "
_LONGEST_KEY = 1000
"""Readers accept `key:` up to 1024 characters; a longer key has a line of its own."""


def dump(value: object) -> str:
    """A JSON-like value as YAML text that ends with a newline; `Noted` values bring comments."""
    lines: list[str] = []
    inner = value.value if isinstance(value, Noted) else value
    notes = value if isinstance(value, Noted) else None
    if notes is not None:
        lines += comment_lines(notes.above)
    if isinstance(inner, dict) and inner:
        _mapping(lines, inner, "")
    elif isinstance(inner, list | tuple) and inner:
        _sequence(lines, inner, "")
    else:
        _leaf(lines, "", "", inner, notes)
    if notes is not None:
        lines += comment_lines(notes.below)
    lines.append("")
    return "\n".join(lines)


def document(value: object) -> str:
    """The text of a YAML file: a value after the mark that starts a document."""
    return f"---\n{dump(value)}"


def _mapping(lines: list[str], mapping: dict[object, object], indent: str) -> None:
    first = True
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is a text, not {type(key).__name__}")
        notes = None
        if isinstance(value, Noted):
            notes, value = value, value.value
            lines += comment_lines(notes.above, indent, first=first)
        first = False
        written = _key(key)
        if len(written) > _LONGEST_KEY:
            lines.append(f"{indent}? {written}")
            _below(lines, f"{indent}:", indent, value, notes)
        else:
            _below(lines, f"{indent}{written}:", indent, value, notes)
        if notes is not None:
            lines += comment_lines(notes.below, indent)


def _below(lines: list[str], start: str, indent: str, value: object, notes: Noted | None) -> None:
    """A value behind a key: nested collections on lines of their own."""
    if isinstance(value, dict | list | tuple) and value:
        lines.append(f"{start}{comment_behind(notes.beside)}" if notes is not None else start)
        _nested(lines, value, indent + _INDENT)
    else:
        _leaf(lines, f"{start} ", indent, value, notes)


def _sequence(lines: list[str], items: list[object] | tuple[object, ...], indent: str) -> None:
    first = True
    for value in items:
        notes = None
        if isinstance(value, Noted):
            notes, value = value, value.value
            lines += comment_lines(notes.above, indent, first=first)
        first = False
        if not isinstance(value, dict | list | tuple) or not value:
            _leaf(lines, f"{indent}- ", indent, value, notes)
        elif notes is not None and notes.beside:
            lines.append(f"{indent}-{comment_behind(notes.beside)}")
            _nested(lines, value, indent + _INDENT)
        else:
            _compact(lines, value, indent)
        if notes is not None:
            lines += comment_lines(notes.below, indent)


def _compact(lines: list[str], value: Collection, indent: str) -> None:
    """A collection that starts on the line of its dash, unless comments come before it."""
    inside = indent + _INDENT
    at = len(lines)
    _nested(lines, value, inside)
    first = lines[at]
    if first.lstrip().startswith("#") or not first:
        lines.insert(at, f"{indent}-")
    else:
        lines[at] = f"{indent}- {first.removeprefix(inside)}"


def _nested(lines: list[str], value: Collection, indent: str) -> None:
    if isinstance(value, dict):
        _mapping(lines, value, indent)
    else:
        _sequence(lines, value, indent)


def _leaf(lines: list[str], start: str, indent: str, value: object, notes: Noted | None) -> None:
    beside = comment_behind(notes.beside) if notes is not None else ""
    if isinstance(value, str) and is_block(value):
        header, inner = block(value)
        lines.append(f"{start}{header}{beside}")
        lines += [f"{indent}{_INDENT}{line}" if line else "" for line in inner]
    else:
        lines.append(f"{start}{_simple(value)}{beside}")


_key = lru_cache(4096)(scalar)
"""Keys come again and again."""


def _simple(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return scalar(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
    raise TypeError(f"{type(value).__name__} has no place in YAML")


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    if not exponent:
        return mantissa
    # YAML 1.1 knows a float by its point and by the sign of its exponent.
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{point}e{power if power[0] in '+-' else f'+{power}'}"
