"""Tables of objects: columns, and one row for each object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Any, cast

from stockman.model.package_file import read_package_bytes
from stockman_lab.kube.objects import Object
from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.type import Json
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.builtin import builtin_cells, has_printer
from stockman_lab.kube.tables.jsonpath import BadPath, first
from stockman_lab.kube.tables.printing import Cells, name_of, text

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
