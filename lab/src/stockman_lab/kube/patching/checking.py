"""What is applied has to fit its type, and have no field that the type does not have."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.objects import Tree
from stockman_lab.kube.patching.field_set import written_path
from stockman_lab.kube.patching.shapes import Shape, Unlike, item_element
from stockman_lab.kube.schema.type import Kind, ListKind

_TEXTS = frozenset({Kind.STRING, Kind.BYTES, Kind.TIME, Kind.MICRO_TIME})
_NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})


def unlike(value: Tree, shape: Shape) -> list[str]:
    """What does not fit."""
    return list(_unlike(value, shape, ""))


def _unlike(value: Tree, shape: Shape, path: str) -> Iterator[str]:
    if value is None:
        return
    kind = shape.kind
    if kind in (Kind.OBJECT, Kind.MAP):
        if not isinstance(value, dict):
            yield f"{path}: expected map"
            return
        for name, member in value.items():
            inner = shape.below(name)
            if inner is not None:
                yield from _unlike(member, inner, f"{path}.{name}")
            elif not shape.is_open:
                yield f"{path}.{name}: field not declared in schema"
    elif kind is Kind.LIST:
        if not isinstance(value, list):
            yield f"{path}: expected list"
        elif shape.element is not None:
            yield from _unlike_items(value, shape, path)
    elif kind in _TEXTS and not isinstance(value, str):
        yield f"{path}: expected string"
    elif kind in _NUMBERS and isinstance(value, bool | str | list | dict):
        yield f"{path}: expected numeric (int or float)"
    elif kind is Kind.BOOLEAN and not isinstance(value, bool):
        yield f"{path}: expected boolean"


def _unlike_items(value: list[Tree], shape: Shape, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for number, item in enumerate(value):
        inner = f"{path}[{number}]"
        if shape.list_kind is not ListKind.ATOMIC:
            try:
                element = item_element(shape, item)
            except Unlike as error:
                yield f"{path}: element {number}: {error}"
                continue
            if element in seen:
                yield f"{path}: duplicate entries for key {written_path((element,))}"
            seen.add(element)
            inner = f"{path}{written_path((element,))}"
        if shape.element is not None:
            yield from _unlike(item, shape.element, inner)
