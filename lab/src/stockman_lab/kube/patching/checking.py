"""What is applied has to fit its type, and have no field that the type does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stockman_lab.kube.objects import Tree
from stockman_lab.kube.patching.field_set import written_path
from stockman_lab.kube.patching.shapes import Shape, Unlike, item_element
from stockman_lab.kube.patching.written_in_go import called_in_go, written_in_go
from stockman_lab.kube.schema.type import Kind, ListKind

_TEXTS = frozenset({Kind.STRING, Kind.BYTES, Kind.TIME, Kind.MICRO_TIME})
_NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})


def unlike(value: Tree, shape: Shape) -> list[str]:
    """What does not fit."""
    return list(_unlike(value, shape, ""))


def _unlike(value: Tree, shape: Shape, path: str) -> Iterator[str]:
    if value is None:
        return
    match shape.kind:
        case Kind.OBJECT | Kind.MAP:
            if not isinstance(value, dict):
                yield f"{path}: expected map, got {_shown(value)}"
                return
            for name, one in value.items():
                inner = shape.below(name)
                if inner is not None:
                    yield from _unlike(one, inner, f"{path}.{name}")
                elif not shape.is_open:
                    yield f"{path}.{name}: field not declared in schema"
        case Kind.LIST:
            if not isinstance(value, list):
                yield f"{path}: expected list, got {_shown(value)}"
            elif shape.element is not None:
                yield from _unlike_items(value, shape, path)
        case kind if kind in _TEXTS and not isinstance(value, str):
            told = _shown_in_go(value)
            yield f"{path}: expected string, got &value.valueUnstructured{{Value:{told}}}"
        case kind if kind in _NUMBERS and (isinstance(value, bool | str | list | dict)):
            yield f"{path}: expected numeric (int or float), got {called_in_go(value)}"
        case Kind.BOOLEAN if not isinstance(value, bool):
            yield f"{path}: expected boolean, got {_shown(value)}"


def _unlike_items(value: list[Tree], shape: Shape, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for place, one in enumerate(value):
        inner = f"{path}[{place}]"
        if shape.list_kind is not ListKind.ATOMIC:
            try:
                element = item_element(shape, one)
            except Unlike as why:
                yield f"{path}: element {place}: {why}"
                continue
            if element in seen:
                yield f"{path}: duplicate entries for key {written_path((element,))}"
            seen.add(element)
            inner = f"{path}{written_path((element,))}"
        if shape.element is not None:
            yield from _unlike(one, shape.element, inner)


def _shown_in_go(value: Tree) -> str:
    """As `%#v` writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inner = (f"{json.dumps(name)}:{_shown_in_go(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(inner)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_shown_in_go, value))}}}"
    return written_in_go(value)


def _shown(value: Tree) -> str:
    if isinstance(value, dict):
        return f"&{written_in_go(value)}"
    return f"&{{{written_in_go(value)}}}"
