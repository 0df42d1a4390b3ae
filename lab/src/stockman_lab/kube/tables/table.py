"""Tables of objects: columns, and one row for each object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, cast

from stockman.model.package_file import read_package_bytes
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.type import Json
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.builtin import builtin_cells, has_printer
from stockman_lab.kube.tables.printing import Cells, name_of, text

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


Column = tuple[str, str, str, int]
"""Name, type, format and priority."""

NAME: Column = ("Name", "string", "name", 0)
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def _printer_columns(resource: Resource) -> list[dict[str, Any]]:
    additional_printer_columns = cast(
        "list[dict[str, Any]]", resource.declared.get("additionalPrinterColumns") or []
    )
    return additional_printer_columns or [_AGE]


def custom_columns(resource: Resource) -> list[Column]:
    """The columns of a custom kind."""
    return [
        NAME,
        *(
            (item["name"], item["type"], item.get("format", ""), item.get("priority", 0))
            for item in _printer_columns(resource)
        ),
    ]


def custom_cells(resource: Resource, content: Object, ages: Ages) -> Cells:
    """The cells of a custom object."""
    cells: Cells = [name_of(content)]
    for item in _printer_columns(resource):
        try:
            value = first(item["jsonPath"], cast("Json", content))
        except BadPath:
            value = None
        cells.append(_cell(item["type"], value, ages))
    return cells


def _cell(kind: str, value: Json, ages: Ages) -> Json:
    if value is None:
        return None
    match kind:
        case "string":
            return _text(value)
        case "integer" if _is_number(value):
            return int(cast("float", value))
        case "number" if _is_number(value):
            return cast("float", value)
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            try:
                return ages.since(value)
            except ValueError:
                return "<invalid>"
    return None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


_NAME_AND_TIME: tuple[Column, ...] = (
    ("Name", "string", "name", 0),
    ("Created At", "date", "", 0),
)
_ENDINGS = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class Include(Enum):
    """How much of each object goes with its row (`includeObject` of a request)."""

    NONE = "None"
    METADATA = "Metadata"
    OBJECT = "Object"


def columns_of(resource: Resource) -> list[Object]:
    """The definitions of the columns of a resource; their descriptions are empty."""
    columns: Iterable[Column]
    if resource.is_custom:
        columns = custom_columns(resource)
    elif has_printer(_path(resource)):
        columns = _builtin()[_path(resource)]
    else:
        columns = _NAME_AND_TIME
    return [
        {"name": name, "type": kind, "format": form, "description": "", "priority": priority}
        for name, kind, form, priority in columns
    ]


def row_of(
    resource: Resource, content: Object, ages: Ages, include: Include = Include.METADATA
) -> Object:
    """The row of one object."""
    row: Object = {"cells": _cells(resource, content, ages)}
    phase = text(content, "status", "phase") if _path(resource) == "v1/pods" else ""
    if phase in _ENDINGS:
        row["conditions"] = [
            {"type": "Completed", "status": "True", "reason": phase, "message": _ENDINGS[phase]}
        ]
    row["object"] = _row_object(content, include)
    return row


def table(
    resource: Resource,
    objects: Iterable[Object],
    now: float,
    metadata: Mapping[str, Any],
    include: Include = Include.METADATA,
) -> Object:
    """A whole table; the metadata are those of the list, or of the single object its version."""
    ages = Ages(now)
    rows = [row_of(resource, content, ages, include) for content in objects]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {name: value for name, value in metadata.items() if value != ""},
        "columnDefinitions": columns_of(resource),
        "rows": rows,
    }


def _cells(resource: Resource, content: Object, ages: Ages) -> Cells:
    if resource.is_custom:
        return custom_cells(resource, content, ages)
    return builtin_cells(_path(resource), content, ages)


def _row_object(content: Object, include: Include) -> Object | None:
    match include:
        case Include.NONE:
            return None
        case Include.OBJECT:
            return content
        case _:
            return {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": content.get("metadata", {}),
            }


def _path(resource: Resource) -> str:
    return f"{resource.api_version}/{resource.plural}"


@cache
def _builtin() -> dict[str, list[Column]]:
    columns: dict[str, list[Column]] = json.loads(
        read_package_bytes("stockman_lab.kube.tables", "columns.json")
    )
    return columns
