"""Descriptions of keys: their types, their meaning, and the meaning of an unset key."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator

from stockman.config.reference.keys import Key, child_keys
from stockman.model.record import record

Paint = Callable[[str, str], str]
"""Takes a text and the name of a style; returns the styled text."""

USUAL_WIDTH = 80
_LABEL_WIDTH = 10
INDENT = "  "


@record
class Explanation:
    """A key and its children."""

    key: Key
    recursive: bool
    """Whether `fields` contains all descendants."""
    fields: tuple[Key, ...]


def build_explanation(key: Key, *, recursive: bool = False) -> Explanation:
    """Collect the documentation of a key."""
    return Explanation(key=key, recursive=recursive, fields=child_keys(key, recursive=recursive))


def render_explanation(
    explanation: Explanation, *, width: int | None = None, paint: Paint = lambda text, style: text
) -> Iterator[str]:
    """Yield the lines of an explanation, wrapped at `width` columns."""
    columns = width or USUAL_WIDTH
    yield from fact_lines(_fact_rows(explanation.key), _LABEL_WIDTH, columns, paint)
    yield ""
    yield paint("DESCRIPTION:", "heading")
    yield from wrap_text(explanation.key.docs, columns, INDENT, INDENT)
    if explanation.fields:
        yield ""
        yield paint("FIELDS:", "heading")
        tree = _render_tree if explanation.recursive else _render_list
        yield from tree(explanation, columns, paint)


def render_overview(
    files: Iterable[tuple[str, Iterable[Key]]],
    *,
    width: int | None = None,
    paint: Paint = lambda text, style: text,
) -> Iterator[str]:
    """Yield the top-level keys of files, under the name of each file."""
    columns = width or USUAL_WIDTH
    for number, (file, keys) in enumerate(files):
        if number:
            yield ""
        yield paint(f"{file}:", "heading")
        for key in keys:
            yield f"{INDENT}{paint(key.path, 'name')} <{_short_type(key)}>"
            yield from wrap_text(key.docs, columns, INDENT * 3, INDENT * 3)


def fact_lines(
    facts: Iterable[tuple[str, str]], label_width: int, columns: int, paint: Paint
) -> Iterator[str]:
    """Yield facts, each after its label."""
    for label, text in facts:
        start = f"{label}:".ljust(label_width)
        first, *continuation = wrap_text(text, columns, start, " " * label_width)
        yield paint(first[: len(label) + 1], "heading") + first[len(label) + 1 :]
        yield from continuation


def default_text(key: Key) -> str:
    """Describe the default of a key."""
    if key.required:
        return "none (required)"
    if key.default:
        return f"{key.default} ({key.absent})" if key.absent else key.default
    return f"not set ({key.absent})" if key.absent else "not set"


def field_text(key: Key) -> str:
    """Describe a key and its default in one paragraph."""
    text = f"{key.docs} Default: {key.default}." if key.default else key.docs
    known = not key.absent or key.absent in key.docs
    return text if known else f"{text} Not set: {key.absent}."


def range_text(key: Key) -> str:
    """Describe the limits of a number; empty: no limits."""
    if key.low is None or key.high is None:
        return ""
    unit = f" {key.unit}" if key.unit else ""
    return f"{key.low} to {key.high}{unit}"


def _fact_rows(key: Key) -> Iterator[tuple[str, str]]:
    yield "KEY", key.path
    yield "YAML", f"{' or '.join(key.yaml)} in {key.file}"
    if key.toml:
        yield "TOML", f"{key.toml} in cluster.toml"
    yield "TYPE", key.type
    if key.form:
        yield "FORM", key.form
    if range_text(key):
        yield "RANGE", range_text(key)
    if key.secret:
        yield "SECRET", "${NAME}, file:path, sops:path#key, or encrypted by SOPS"
    if not child_keys(key):
        yield "DEFAULT", default_text(key)
    elif key.absent:
        yield "DEFAULT", f"not set ({key.absent})"
    if key.examples and not key.default:
        yield "EXAMPLE", ", ".join(key.examples)


def _render_list(explanation: Explanation, columns: int, paint: Paint) -> Iterator[str]:
    for number, key in enumerate(explanation.fields):
        if number:
            yield ""
        yield f"{INDENT}{_field_line(key, paint)}"
        yield from wrap_text(field_text(key), columns, INDENT * 2, INDENT * 2)


def _render_tree(explanation: Explanation, columns: int, paint: Paint) -> Iterator[str]:
    del columns
    above = explanation.key.depth
    for key in explanation.fields:
        yield f"{INDENT * (key.depth - above)}{_field_line(key, paint)}"


def _field_line(key: Key, paint: Paint) -> str:
    required = " required" if key.required else ""
    return f"{paint(key.name, 'name')} <{_short_type(key)}>{required}"


def _short_type(key: Key) -> str:
    """Return a short type: choices as in a command line."""
    if not key.choices:
        return key.type
    choices = "|".join(key.choices)
    return f"list of {choices}" if key.type.startswith("list") else choices


def wrap_text(text: str, columns: int, start: str, indent: str) -> list[str]:
    """Wrap a text after a start, with an indentation of further lines."""
    lines = textwrap.wrap(
        text,
        max(columns, len(indent) + 20),
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [start.rstrip()]
