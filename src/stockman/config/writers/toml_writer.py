"""The TOML writer: tables for mappings, arrays of tables for lists of mappings, with comments.

Keys keep their order, except that plain values come before tables, as TOML requires. The output
only depends on the input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stockman.config.writers.yaml_writer import (
    Commented,
    as_commented,
    comment_lines,
    inline_comment,
    strip_comments,
)
from stockman.model.pattern import pattern

_BARE_KEY = pattern(r"[A-Za-z0-9_-]+")
_CONTROL = pattern(r"[\x00-\x08\x0a-\x1f\x7f]")
_CONTROL_IN_LINES = pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_ESCAPES = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}


def format_key(text: str) -> str:
    """Format a key: bare where TOML allows it, otherwise quoted."""
    return text if _BARE_KEY.fullmatch(text) else format_line(text)


def format_string(text: str) -> str:
    """Format a text; multi-line texts stay multi-line."""
    return _format_lines(text) if "\n" in text else format_line(text)


def format_line(text: str) -> str:
    """Format a text on one line."""
    if ('"' in text or "\\" in text) and "'" not in text and _CONTROL.search(text) is None:
        return f"'{text}'"
    return '"' + re.sub(r'[\x00-\x1f\x7f"\\]', _escape, text) + '"'


def _format_lines(text: str) -> str:
    as_is = "'''" not in text and not text.endswith("'") and not _CONTROL_IN_LINES.search(text)
    if as_is and ("\\" in text or '"' in text):
        return f"'''\n{text}'''"
    body = re.sub(r'[\x00-\x08\x0b-\x1f\x7f\\]|"(?="|\Z)', _escape, text)
    return f'"""\n{body}"""'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


_WIDTH = 100
_INDENT = "  "


def render_toml(value: object) -> str:
    """Render a mapping of JSON-like values as TOML; `Commented` values have comments.

    TOML has no null: None is refused.
    """
    top = as_commented(value)
    lines: list[str] = []
    for line in (
        *comment_lines(top.above),
        *_write_table(_as_table(top.value), ()),
        *comment_lines(top.below),
    ):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _write_table(table: dict[str, Commented], path: tuple[str, ...]) -> Iterator[str]:
    first = True
    for name, item in table.items():
        if not _is_table(item.value) and not _is_table_list(item.value):
            yield from _write_pair(name, item, first=first)
            first = False
    for name, item in table.items():
        if _is_table(item.value):
            yield from _write_section(item, (*path, name))
        elif _is_table_list(item.value):
            yield from _write_sections(item, (*path, name))


def _write_section(section: Commented, path: tuple[str, ...]) -> Iterator[str]:
    table = _as_table(section.value)
    only_tables = all(
        _is_table(item.value) or _is_table_list(item.value) for item in table.values()
    )
    if not table or not only_tables or any(section.above) or section.beside:
        yield ""
        yield from comment_lines(section.above, first=True)
        yield f"[{_format_path(path)}]{inline_comment(section.beside)}"
    yield from _write_table(table, path)
    yield from comment_lines(section.below)


def _write_sections(many: Commented, path: tuple[str, ...]) -> Iterator[str]:
    of_list = (*many.above, many.beside) if many.beside else many.above
    for item in _as_items(many.value):
        yield ""
        yield from comment_lines((*of_list, *item.above), first=True)
        yield f"[[{_format_path(path)}]]{inline_comment(item.beside)}"
        yield from _write_table(_as_table(item.value), path)
        yield from comment_lines(item.below)
        of_list = ()
    yield from comment_lines(many.below)


def _write_pair(name: str, item: Commented, *, first: bool) -> Iterator[str]:
    yield from comment_lines(item.above, first=first)
    start = f"{format_key(name)} = "
    if isinstance(item.value, list | tuple):
        yield from _write_array(start, item)
    else:
        # A text may hold line ends of its own; nothing here looks at single lines afterwards.
        yield f"{start}{_format_inline(item.value)}{inline_comment(item.beside)}"
    yield from comment_lines(item.below)


def _write_array(start: str, array: Commented) -> Iterator[str]:
    items = [_hoist_comments(item) for item in _as_items(array.value)]
    line = f"{start}{_format_inline(array.value)}"
    quiet = not any(any(item.above) or item.beside or any(item.below) for item in items)
    if quiet and (len(line) <= _WIDTH or not items) and "\n" not in line:
        yield f"{line}{inline_comment(array.beside)}"
        return
    yield f"{start}[{inline_comment(array.beside)}"
    for index, item in enumerate(items):
        yield from comment_lines(item.above, _INDENT, first=index == 0)
        yield f"{_INDENT}{_format_inline(item.value)},{inline_comment(item.beside)}"
        yield from comment_lines(item.below, _INDENT)
    yield "]"


def _hoist_comments(item: Commented) -> Commented:
    """Move comments inside an item of an array above it, because one line cannot contain them."""
    inside = tuple(line for line in _comments_inside(item.value) if line)
    return Commented(
        value=strip_comments(item.value),
        above=(*item.above, *inside),
        beside=item.beside,
        below=item.below,
    )


def _comments_inside(value: object) -> Iterator[str]:
    if isinstance(value, Commented):
        yield from value.above
        yield value.beside
        yield from _comments_inside(value.value)
        yield from value.below
    elif isinstance(value, dict):
        for item in value.values():
            yield from _comments_inside(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _comments_inside(item)


def _format_inline(value: object) -> str:
    match value:
        case Commented():
            return _format_inline(value.value)
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return "nan" if math.isnan(value) else repr(value)
        case str():
            return format_string(value)
        case list() | tuple():
            return f"[{', '.join(_format_inline(item) for item in value)}]"
        case dict():
            pairs = [
                f"{format_key(name)} = {_format_inline(item)}"
                for name, item in _as_table(value).items()
            ]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise TypeError(f"{type(value).__name__} has no place in TOML")


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_table_list(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(as_commented(item).value, dict) for item in value)
    )


def _as_table(value: object) -> dict[str, Commented]:
    if not isinstance(value, dict):
        raise TypeError("a TOML document is a mapping")
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"a key is a text, not {type(name).__name__}")
    return {name: as_commented(item) for name, item in value.items()}


def _as_items(value: object) -> list[Commented]:
    return [as_commented(item) for item in value] if isinstance(value, list | tuple) else []


def _format_path(path: tuple[str, ...]) -> str:
    return ".".join(format_key(step) for step in path)
