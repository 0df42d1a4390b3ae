"""The YAML writer: two spaces of indentation, keys in the given order, and unambiguous texts.

Every text that YAML 1.1 or YAML 1.2 would read as another type is quoted. The output only depends
on the input.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import TypeAlias

from stockman.model.pattern import pattern
from stockman.model.record import record

_WORDS = frozenset(
    form
    for boolean in ("null", "y", "yes", "n", "no", "true", "false", "on", "off")
    for form in (boolean, boolean.capitalize(), boolean.upper())
)
_NUMBER_OR_TIME = pattern(
    r"""
      [-+]?0[bBoOxX][0-9A-Fa-f_]*                                     # other bases
    | [-+]?[0-9][0-9_,]*(:[0-9_]+)+(\.[0-9_]*)?                       # base 60
    | [-+]?([0-9][0-9_,]*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9_]*)?   # decimal
    | [-+]?\.(inf|Inf|INF|nan|NaN|NAN)
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?                       # time stamps
    | [0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2})+                                # MAC addresses, all alike
    """,
    re.VERBOSE,
)
_BARE_ASCII = pattern(r"[A-Za-z0-9_/.$(~^;+\\][^\n\t]*")
_ESCAPED_ASCII = pattern(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}


@cache
def _bare_pattern() -> re.Pattern[str]:
    """Compiled on demand: non-ASCII character classes are slow to compile and rarely needed."""
    return re.compile(r"[A-Za-z0-9_/.$(~^;+\\\u00c0-\ud7ff][^\n\t]*")


@cache
def _escaped_pattern() -> re.Pattern[str]:
    return re.compile(
        r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    )


def _escape_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of characters that need an escape."""
    return _ESCAPED_ASCII if text.isascii() else _escaped_pattern()


def format_scalar(text: str) -> str:
    """Format a text on one line: plain, or in single or double quotes."""
    if is_bare(text):
        return text
    if _escape_pattern(text).search(text) or not re.search(r'["\\]', text):
        return _double_quote(text)
    return "'" + text.replace("'", "''") + "'"


def is_bare(text: str) -> bool:
    """Return whether a text needs no quotes in block style, as a key or a value."""
    return (
        (_BARE_ASCII if text.isascii() else _bare_pattern()).fullmatch(text) is not None
        and text[-1] not in " :"
        and ": " not in text
        and " #" not in text
        and text not in _WORDS
        and text != "~"
        and text != "..."
        and _NUMBER_OR_TIME.fullmatch(text) is None
        and _escape_pattern(text).search(text) is None
    )


def is_block(text: str) -> bool:
    """Return whether a literal block preserves a multi-line text."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(lines[0])
        and lines[0][0] not in " \t"
        and not text.endswith("\n\n")
        and not any(line.isspace() for line in lines)
        and not any(_escape_pattern(text).search(line.replace("\t", "")) for line in lines)
    )


def format_block(text: str) -> tuple[str, list[str]]:
    """Return the header of a literal block and its lines, without indentation."""
    body = text.removesuffix("\n")
    return ("|-" if body == text else "|"), body.split("\n")


def _double_quote(text: str) -> str:
    escaped = re.sub(r'["\\]', lambda match: _ESCAPES[match[0]], text)
    return '"' + _escape_pattern(text).sub(lambda match: _escape_character(match[0]), escaped) + '"'


def _escape_character(character: str) -> str:
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


YamlCollection: TypeAlias = dict[object, object] | list[object] | tuple[object, ...]

_INDENT = "  "
_MAX_INLINE_KEY = 1000
"""Parsers accept `key:` up to 1024 characters; a longer key is written on its own line."""


def render_yaml(value: object) -> str:
    """Render a JSON-like value as YAML with a final newline; `Commented` values have comments."""
    lines: list[str] = []
    inner = value.value if isinstance(value, Commented) else value
    notes = value if isinstance(value, Commented) else None
    if notes is not None:
        lines += comment_lines(notes.above)
    if isinstance(inner, dict) and inner:
        _write_mapping(lines, inner, "")
    elif isinstance(inner, list | tuple) and inner:
        _write_sequence(lines, inner, "")
    else:
        _write_leaf(lines, "", "", inner, notes)
    if notes is not None:
        lines += comment_lines(notes.below)
    lines.append("")
    return "\n".join(lines)


def render_yaml_document(value: object) -> str:
    """Render a YAML file: a value after a document start marker."""
    return f"---\n{render_yaml(value)}"


def _write_mapping(lines: list[str], mapping: dict[object, object], indent: str) -> None:
    first = True
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise TypeError(f"a key is a text, not {type(key).__name__}")
        notes = None
        if isinstance(value, Commented):
            notes, value = value, value.value
            lines += comment_lines(notes.above, indent, first=first)
        first = False
        written = _format_key(key)
        if len(written) > _MAX_INLINE_KEY:
            lines.append(f"{indent}? {written}")
            _write_value(lines, f"{indent}:", indent, value, notes)
        else:
            _write_value(lines, f"{indent}{written}:", indent, value, notes)
        if notes is not None:
            lines += comment_lines(notes.below, indent)


def _write_value(
    lines: list[str], start: str, indent: str, value: object, notes: Commented | None
) -> None:
    """Write a value after a key; nested collections start on a new line."""
    if isinstance(value, dict | list | tuple) and value:
        lines.append(f"{start}{inline_comment(notes.beside)}" if notes is not None else start)
        _write_collection(lines, value, indent + _INDENT)
    else:
        _write_leaf(lines, f"{start} ", indent, value, notes)


def _write_sequence(
    lines: list[str], items: list[object] | tuple[object, ...], indent: str
) -> None:
    first = True
    for value in items:
        notes = None
        if isinstance(value, Commented):
            notes, value = value, value.value
            lines += comment_lines(notes.above, indent, first=first)
        first = False
        if not isinstance(value, dict | list | tuple) or not value:
            _write_leaf(lines, f"{indent}- ", indent, value, notes)
        elif notes is not None and notes.beside:
            lines.append(f"{indent}-{inline_comment(notes.beside)}")
            _write_collection(lines, value, indent + _INDENT)
        else:
            _write_compact(lines, value, indent)
        if notes is not None:
            lines += comment_lines(notes.below, indent)


def _write_compact(lines: list[str], value: YamlCollection, indent: str) -> None:
    """Write a collection that starts on the line of its dash, unless comments precede it."""
    inside = indent + _INDENT
    at = len(lines)
    _write_collection(lines, value, inside)
    first = lines[at]
    if first.lstrip().startswith("#") or not first:
        lines.insert(at, f"{indent}-")
    else:
        lines[at] = f"{indent}- {first.removeprefix(inside)}"


def _write_collection(lines: list[str], value: YamlCollection, indent: str) -> None:
    if isinstance(value, dict):
        _write_mapping(lines, value, indent)
    else:
        _write_sequence(lines, value, indent)


def _write_leaf(
    lines: list[str], start: str, indent: str, value: object, notes: Commented | None
) -> None:
    beside = inline_comment(notes.beside) if notes is not None else ""
    if isinstance(value, str) and is_block(value):
        header, inner = format_block(value)
        lines.append(f"{start}{header}{beside}")
        lines += [f"{indent}{_INDENT}{line}" if line else "" for line in inner]
    else:
        lines.append(f"{start}{_format_simple(value)}{beside}")


_format_key = lru_cache(4096)(format_scalar)
"""Cached, because keys are repeated."""


def _format_simple(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _format_float(value)
        case str():
            return format_scalar(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
    raise TypeError(f"{type(value).__name__} has no place in YAML")


def _format_float(value: float) -> str:
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


_NOT_IN_COMMENTS = (
    r"[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_NOT_IN_ASCII_COMMENTS = r"[\x00-\x08\x0a-\x1f\x7f]"


@record
class Commented:
    """A value of a mapping or list with its comments, without their `#`."""

    value: object
    above: tuple[str, ...] = ()
    """Lines before it; an empty text is a blank line, a space is a single `#`."""
    beside: str = ""
    """Comment at the end of its line."""
    below: tuple[str, ...] = ()
    """Lines after it."""


def as_commented(value: object) -> Commented:
    """Return the value as `Commented`; a plain value has no comments."""
    return value if isinstance(value, Commented) else Commented(value=value)


def strip_comments(value: object) -> object:
    """Return the value without comments, recursively."""
    if isinstance(value, Commented):
        return strip_comments(value.value)
    if isinstance(value, dict):
        return {key: strip_comments(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strip_comments(item) for item in value]
    return value


def comment_line(text: str, indent: str = "") -> str:
    """Format a comment on its own line."""
    return f"{indent}{_format_comment(text)}" if text else ""


def inline_comment(text: str) -> str:
    """Format a comment at the end of a line; empty: no comment."""
    return f"  {_format_comment(text)}" if text else ""


def comment_lines(lines: tuple[str, ...], indent: str = "", *, first: bool = False) -> list[str]:
    """Format comments as lines; those of the first item do not start with a blank line."""
    start = next((at for at, line in enumerate(lines) if line), len(lines)) if first else 0
    return [comment_line(line, indent) for line in lines[start:]]


def _format_comment(text: str) -> str:
    """Format a comment on a single line: all line break characters become spaces."""
    space = "" if text.startswith("#") else " "
    unfit = _NOT_IN_ASCII_COMMENTS if text.isascii() else _NOT_IN_COMMENTS
    return f"#{space}{re.sub(unfit, ' ', text)}".rstrip()
