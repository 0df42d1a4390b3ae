"""The one YAML writer: two spaces, keys in the order given, nothing that a reader could retype.

Every text that YAML 1.1 or YAML 1.2 would read as something else is quoted. Output is a function
of input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stockman.config.noted import Noted, comment_behind, comment_lines, noted
from stockman.config.yaml_text import block, is_block, scalar

__all__ = ["document", "dump", "scalar"]

_INDENT = "  "
_LONGEST_KEY = 1000
"""Readers accept `key:` up to 1024 characters; a longer key has a line of its own."""


def dump(value: object) -> str:
    """A JSON-like value as YAML text that ends with a newline; `Noted` values bring comments."""
    return "\n".join(_root(value)) + "\n"


def document(value: object) -> str:
    """The text of a YAML file: a value after the mark that starts a document."""
    return f"---\n{dump(value)}"


def _root(value: object) -> Iterator[str]:
    top = noted(value)
    yield from comment_lines(top.above, "")
    inner = top.value
    if isinstance(inner, dict) and inner:
        yield from _mapping(inner, "")
    elif isinstance(inner, list | tuple) and inner:
        yield from _sequence(inner, "")
    else:
        yield from _leaf("", "", Noted(value=inner, beside=top.beside))
    yield from comment_lines(top.below, "")


def _mapping(mapping: dict[object, object], indent: str) -> Iterator[str]:
    first = next(iter(mapping))
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is a text, not {type(key).__name__}")
        one = noted(value)
        yield from comment_lines(one.above, indent, first=key == first)
        written = scalar(key)
        if len(written) > _LONGEST_KEY:
            yield f"{indent}? {written}"
            yield from _below(f"{indent}:", indent, one)
        else:
            yield from _below(f"{indent}{written}:", indent, one)
        yield from comment_lines(one.below, indent)


def _below(start: str, indent: str, one: Noted) -> Iterator[str]:
    """A value behind a key: nested collections on lines of their own."""
    value = one.value
    if isinstance(value, dict) and value:
        yield f"{start}{comment_behind(one.beside)}"
        yield from _mapping(value, indent + _INDENT)
    elif isinstance(value, list | tuple) and value:
        yield f"{start}{comment_behind(one.beside)}"
        yield from _sequence(value, indent + _INDENT)
    else:
        yield from _leaf(f"{start} ", indent, one)


def _sequence(items: list[object] | tuple[object, ...], indent: str) -> Iterator[str]:
    for index, item in enumerate(items):
        one = noted(item)
        yield from comment_lines(one.above, indent, first=index == 0)
        value = one.value
        if isinstance(value, dict | list | tuple) and value:
            if one.beside:
                yield f"{indent}-{comment_behind(one.beside)}"
                yield from _nested(value, indent + _INDENT)
            else:
                yield from _compact(value, indent)
        else:
            yield from _leaf(f"{indent}- ", indent, one)
        yield from comment_lines(one.below, indent)


def _compact(value: object, indent: str) -> Iterator[str]:
    """A collection that starts on the line of its dash, unless comments come before it."""
    lines = _nested(value, indent + _INDENT)
    first = next(lines)
    if first.lstrip().startswith("#") or not first:
        yield f"{indent}-"
        yield first
    else:
        yield f"{indent}- {first.removeprefix(indent + _INDENT)}"
    yield from lines


def _nested(value: object, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _mapping(value, indent)
    elif isinstance(value, list | tuple):
        yield from _sequence(value, indent)


def _leaf(start: str, indent: str, one: Noted) -> Iterator[str]:
    value = one.value
    if isinstance(value, str) and is_block(value):
        header, lines = block(value)
        yield f"{start}{header}{comment_behind(one.beside)}"
        for line in lines:
            yield f"{indent}{_INDENT}{line}" if line else ""
    else:
        yield f"{start}{_simple(value)}{comment_behind(one.beside)}"


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
