"""The one TOML writer: tables for mappings, arrays of tables for lists of them, comments kept.

Keys keep the order given, except that plain values come before the tables beside them, as TOML
wants it. Output is a function of input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stockman.config.noted import Noted, bare, comment_behind, comment_lines, noted
from stockman.config.toml_text import key, string

__all__ = ["dump"]

_WIDTH = 100
_INDENT = "  "


def dump(value: object) -> str:
    """A mapping of JSON-like values as TOML text; `Noted` values bring comments.

    TOML has no null: a value that is None is refused.
    """
    top = noted(value)
    lines: list[str] = []
    for line in (
        *comment_lines(top.above),
        *_table(_mapping(top.value), ()),
        *comment_lines(top.below),
    ):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _table(table: dict[str, Noted], path: tuple[str, ...]) -> Iterator[str]:
    first = True
    for name, one in table.items():
        if not _is_table(one.value) and not _is_tables(one.value):
            yield from _pair(name, one, first=first)
            first = False
    for name, one in table.items():
        if _is_table(one.value):
            yield from _section(one, (*path, name))
        elif _is_tables(one.value):
            yield from _sections(one, (*path, name))


def _section(one: Noted, path: tuple[str, ...]) -> Iterator[str]:
    table = _mapping(one.value)
    only_tables = all(_is_table(item.value) or _is_tables(item.value) for item in table.values())
    if not table or not only_tables or any(one.above) or one.beside:
        yield ""
        yield from comment_lines(one.above, first=True)
        yield f"[{_path(path)}]{comment_behind(one.beside)}"
    yield from _table(table, path)
    yield from comment_lines(one.below)


def _sections(many: Noted, path: tuple[str, ...]) -> Iterator[str]:
    of_list = (*many.above, many.beside) if many.beside else many.above
    for item in _items(many.value):
        yield ""
        yield from comment_lines((*of_list, *item.above), first=True)
        yield f"[[{_path(path)}]]{comment_behind(item.beside)}"
        yield from _table(_mapping(item.value), path)
        yield from comment_lines(item.below)
        of_list = ()
    yield from comment_lines(many.below)


def _pair(name: str, one: Noted, *, first: bool) -> Iterator[str]:
    yield from comment_lines(one.above, first=first)
    start = f"{key(name)} = "
    if isinstance(one.value, list | tuple):
        yield from _array(start, one)
    else:
        # A text may hold line ends of its own; nothing here looks at single lines afterwards.
        yield f"{start}{_inline(one.value)}{comment_behind(one.beside)}"
    yield from comment_lines(one.below)


def _array(start: str, one: Noted) -> Iterator[str]:
    items = [_hoisted(item) for item in _items(one.value)]
    line = f"{start}{_inline(one.value)}"
    quiet = not any(any(item.above) or item.beside or any(item.below) for item in items)
    if quiet and (len(line) <= _WIDTH or not items) and "\n" not in line:
        yield f"{line}{comment_behind(one.beside)}"
        return
    yield f"{start}[{comment_behind(one.beside)}"
    for index, item in enumerate(items):
        yield from comment_lines(item.above, _INDENT, first=index == 0)
        yield f"{_INDENT}{_inline(item.value)},{comment_behind(item.beside)}"
        yield from comment_lines(item.below, _INDENT)
    yield "]"


def _hoisted(item: Noted) -> Noted:
    """An item of an array with the comments from inside of it above: one line holds none."""
    inside = tuple(line for line in _comments_inside(item.value) if line)
    return Noted(
        value=bare(item.value),
        above=(*item.above, *inside),
        beside=item.beside,
        below=item.below,
    )


def _comments_inside(value: object) -> Iterator[str]:
    if isinstance(value, Noted):
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


def _inline(value: object) -> str:
    match value:
        case Noted():
            return _inline(value.value)
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return "nan" if math.isnan(value) else repr(value)
        case str():
            return string(value)
        case list() | tuple():
            return f"[{', '.join(_inline(item) for item in value)}]"
        case dict():
            pairs = [f"{key(name)} = {_inline(one)}" for name, one in _mapping(value).items()]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise TypeError(f"{type(value).__name__} has no place in TOML")


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_tables(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(noted(item).value, dict) for item in value)
    )


def _mapping(value: object) -> dict[str, Noted]:
    if not isinstance(value, dict):
        raise TypeError("a TOML document is a mapping")
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"a key is a text, not {type(name).__name__}")
    return {name: noted(item) for name, item in value.items()}


def _items(value: object) -> list[Noted]:
    return [noted(item) for item in value] if isinstance(value, list | tuple) else []


def _path(path: tuple[str, ...]) -> str:
    return ".".join(key(step) for step in path)
