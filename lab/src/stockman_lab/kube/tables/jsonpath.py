"""JSONPath as columns of custom kinds use it: fields, places, all entries, filters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache

from stockman_lab.kube.schema.type import Json

_Step = Callable[[Json], Iterator[Json]]

_TOKEN = re.compile(
    r"""
    \.?\[\s*(?P<quoted>'(?:\\.|[^'])*'|"(?:\\.|[^"])*")\s*\]
    | \.?\[\s*(?P<all>\*)\s*\]
    | \.?\[\s*\?\((?P<filter>.*?)\)\s*\]
    | \.?\[\s*(?P<place>-?\d+)\s*\]
    | \.?(?P<star>\*)
    | \.?(?P<name>(?:\\.|[^.\[\]\s\\])+)
    """,
    re.VERBOSE,
)
_FILTER = re.compile(r"\s*@(?P<path>[^=!<>]*?)\s*(?:(?P<sign>==|!=)\s*(?P<value>.+?))?\s*$")


class BadPath(ValueError):
    """A path that cannot be read."""


def first(path: str, value: Json) -> Json:
    """The first thing that a path leads to; None: nothing, or null."""
    return next(found(path, value), None)


def found(path: str, value: Json) -> Iterator[Json]:
    """All that a path leads to."""
    values: Iterator[Json] = iter((value,))
    for step in _steps(path.strip()):
        values = _after(values, step)
    return values


def _after(values: Iterator[Json], step: _Step) -> Iterator[Json]:
    for value in values:
        yield from step(value)


@cache
def _steps(path: str) -> tuple[_Step, ...]:
    path = path.removeprefix("{").removesuffix("}").strip().removeprefix("$")
    steps: list[_Step] = []
    end = 0
    while end < len(path):
        match = _TOKEN.match(path, end)
        if match is None or (match.end() == end):
            if path[end:] == ".":
                break
            raise BadPath(path)
        steps.append(_step(match))
        end = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> _Step:
    kind = match.lastgroup
    text = match[kind or 0]
    match kind:
        case "all" | "star":
            return _entries
        case "quoted":
            return _name_step(re.sub(r"\\(.)", r"\1", text[1:-1]))
        case "place":
            return _index_step(int(text))
        case "filter":
            return _filter_step(text)
        case _:
            return _name_step(re.sub(r"\\(.)", r"\1", text))


def _name_step(name: str) -> _Step:
    def step(value: Json) -> Iterator[Json]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index_step(key: int) -> _Step:
    def step(value: Json) -> Iterator[Json]:
        if isinstance(value, list) and -len(value) <= key < len(value):
            yield value[key]

    return step


def _entries(value: Json) -> Iterator[Json]:
    if isinstance(value, dict):
        yield from (value[name] for name in sorted(value))
    elif isinstance(value, list):
        yield from value


def _filter_step(text: str) -> _Step:
    match = _FILTER.fullmatch(text)
    if match is None:
        raise BadPath(text)
    path, sign = match["path"].strip(), match["sign"]
    literal = _literal(match["value"]) if sign else None

    def step(value: Json) -> Iterator[Json]:
        for item in value if isinstance(value, list) else ():
            results = [*found(path, item)] if path else [item]
            if results and (not sign or (results[0] == literal) is (sign == "==")):
                yield item

    return step


def _literal(text: str) -> Json:
    text = text.strip()
    if text[:1] in "'\"":
        return text[1:-1]
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value
