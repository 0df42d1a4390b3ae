"""What a schema does not know is dropped, as servers do it to custom objects."""

from __future__ import annotations

from stockman_lab.kube.schema.type import Json, Kind, Type


def prune(made: Type, value: Json) -> None:
    """Drop the fields of a value that its type does not have."""
    if isinstance(value, list):
        if made.kind is Kind.LIST and made.element is not None:
            for one in value:
                prune(made.element, one)
    elif isinstance(value, dict):
        _prune_fields(made, value)


def _prune_fields(made: Type, value: dict[str, Json]) -> None:
    if made.kind is Kind.ANY and not made.embedded:
        return
    for name in [*value]:
        below = made.below(name)
        if below is not None:
            prune(below, value[name])
        elif not made.is_open:
            del value[name]
