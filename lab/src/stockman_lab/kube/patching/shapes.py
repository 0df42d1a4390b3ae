"""What patches have to know about the type of a value."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree
from stockman_lab.kube.patching.field_set import key_element, value_element
from stockman_lab.kube.schema.type import MISSING, Kind, ListKind, Type

Shape = Type


class Unlike(Exception):
    """A value is not of the type that it should have."""


def item_element(shape: Shape, item: Tree) -> str:
    """How an item of a list is told apart from the others."""
    if shape.list_kind is not ListKind.MAP:
        return value_element(item)
    if not isinstance(item, dict):
        raise Unlike("associative list with keys may not have non-map elements")
    values: Object = {}
    for name in shape.keys:
        value = item.get(name, _default(shape.element, name))
        if value is not MISSING:
            values[name] = value
    if not values:
        raise Unlike(
            f'associative list with keys has an element that omits key field "{shape.keys[0]}"'
            " (and doesn't have default value)"
        )
    return key_element(values)


def _default(shape: Shape | None, name: str) -> object:
    field = None if shape is None else shape.field(name)
    return MISSING if field is None else field.default


def form_of(shape: Shape | None, value: Tree) -> str:
    """What a value is treated as: `object`, `list` or `scalar`."""
    if shape is None or shape.kind is Kind.ANY:
        if isinstance(value, dict):
            return "object"
        return "list" if isinstance(value, list) else "scalar"
    if shape.kind is Kind.OBJECT or shape.kind is Kind.MAP:
        return "object"
    return "list" if shape.kind is Kind.LIST else "scalar"


def is_leaf(shape: Shape | None, form: str) -> bool:
    """Whether a value has one owner as a whole. Lists of unknown make have."""
    if form == "scalar":
        return True
    if shape is None:
        return form == "list"
    if shape.kind is Kind.ANY:
        return form == "list" or not shape.is_custom
    return shape.atomic if form == "object" else shape.list_kind is ListKind.ATOMIC


def member_of(shape: Shape | None, name: str) -> Shape | None:
    """The type of a field; None: nothing is known about it."""
    if shape is None or (shape.kind is not Kind.OBJECT and shape.kind is not Kind.MAP):
        return None
    return shape.below(name)


def declares(shape: Shape | None, name: str) -> bool:
    """Whether an object has a field of that name of its own."""
    return shape is not None and shape.kind is Kind.OBJECT and shape.field(name) is not None
