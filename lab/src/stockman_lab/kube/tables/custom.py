"""Tables of custom kinds: the columns that their definitions declare."""

from __future__ import annotations

import json
from typing import Any, cast

from stockman_lab.kube.schema.resource import Resource
from stockman_lab.kube.schema.type import Json
from stockman_lab.kube.tables.ages import Ages
from stockman_lab.kube.tables.jsonpath import BadPath, first
from stockman_lab.kube.tables.printing import Cells, Object, name_of

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
