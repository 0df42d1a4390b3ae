"""Walks over values with their types: which fields they have, differ in, gain and lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from stockman_lab.kube.objects import Object, Tree
from stockman_lab.kube.patching.field_set import FieldSet, field_element, written_path
from stockman_lab.kube.patching.shapes import (
    Shape,
    Unlike,
    declares,
    form_of,
    is_leaf,
    item_element,
    member_of,
)
from stockman_lab.kube.schema.type import Kind, ListKind

Path = tuple[str, ...]


def fields_of(value: Tree, shape: Shape | None) -> FieldSet:
    """All fields that a value has."""
    field_set = FieldSet()
    _collect(value, shape, (), field_set)
    return field_set


def _collect(value: Tree, shape: Shape | None, path: Path, field_set: FieldSet) -> None:
    form = form_of(shape, value)
    if is_leaf(shape, form):
        field_set.add(path)
    elif form == "list" and isinstance(value, list) and shape is not None:
        items = [(item_element(shape, item), item) for item in value]
        names = [name for name, _ in items]
        for name, item in items:
            if names.count(name) == 1:
                _collect(item, shape.element, (*path, name), field_set)
            field_set.add((*path, name))
    elif form == "object" and isinstance(value, dict):
        for name, one in value.items():
            inner = (*path, field_element(name))
            _collect(one, member_of(shape, name), inner, field_set)
            if one is None or one == {} or not declares(shape, name):
                field_set.add(inner)


@dataclass(slots=True)
class Comparison:
    """In which fields two values differ."""

    added: FieldSet = field(default_factory=FieldSet)
    modified: FieldSet = field(default_factory=FieldSet)
    removed: FieldSet = field(default_factory=FieldSet)

    def without(self, paths: tuple[Path, ...]) -> Comparison:
        """Less some fields."""
        if not paths:
            return self
        return Comparison(
            self.added.without(paths), self.modified.without(paths), self.removed.without(paths)
        )


_ABSENT = object()


def compared(old: Tree, new: Tree, shape: Shape | None) -> Comparison:
    """In which fields a new value differs from an old one."""
    comparison = Comparison()
    _compare(old, new, shape, (), comparison)
    return comparison


def _compare(
    old: object, new: object, shape: Shape | None, path: Path, comparison: Comparison
) -> None:
    if old == new and shape is not None and not shape.is_custom and _same(old, new):
        return  # of built-in types, what is equal has nothing in it that differs
    present = [item for item in (old, new) if item is not _ABSENT]
    forms = {form_of(shape, item) for item in present}
    leaf = False
    for form in sorted(forms):
        empty = not any(present) and form != "scalar"
        if is_leaf(shape, form) or empty:
            leaf = True
            if old is not _ABSENT and new is not _ABSENT and not _same(old, new):
                comparison.modified.add(path)
        elif form == "list" and shape is not None:
            _compare_lists(_list(old), _list(new), shape, path, comparison)
        else:
            _compare_objects(_object(old), _object(new), shape, path, comparison)
    if old is _ABSENT:
        comparison.added.add(path)
    elif new is _ABSENT:
        comparison.removed.add(path)
    elif not leaf and len(forms) > 1:
        comparison.modified.add(path)


def _list(value: object) -> list[Tree]:
    return value if isinstance(value, list) else []


def _object(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def _same(one: object, other: object) -> bool:
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return one == other


def _compare_objects(
    old: Object, new: Object, shape: Shape | None, path: Path, comparison: Comparison
) -> None:
    for name in {**old, **new}:
        inner = (*path, field_element(name))
        left, right = old.get(name, _ABSENT), new.get(name, _ABSENT)
        _compare(left, right, member_of(shape, name), inner, comparison)


def _compare_lists(
    old: list[Tree], new: list[Tree], shape: Shape, path: Path, comparison: Comparison
) -> None:
    left, right = _by_element(old, shape), _by_element(new, shape)
    for name in {**left, **right}:
        inner = (*path, name)
        before, after = left.get(name, []), right.get(name, [])
        if len(before) <= 1 and len(after) <= 1:
            absent = before[0] if before else _ABSENT
            other = after[0] if after else _ABSENT
            _compare(absent, other, shape.element, inner, comparison)
        elif len(before) > 1 and len(after) > 1:
            if before != after:
                comparison.modified.add(inner)
        elif len(before) > 1:
            if after:
                _compare(_ABSENT, after[0], shape.element, inner, comparison)
            comparison.removed.add(inner)
        else:
            if before:
                _compare(before[0], _ABSENT, shape.element, inner, comparison)
            comparison.added.add(inner)


def _by_element(items: list[Tree], shape: Shape) -> dict[str, list[Tree]]:
    trees: dict[str, list[Tree]] = {}
    for item in items:
        trees.setdefault(item_element(shape, item), []).append(item)
    return trees


def reduced(value: Tree, gone: FieldSet, shape: Shape | None) -> Tree:
    """A value without some of its fields; None where nothing is left of it."""
    form = form_of(shape, value)
    if form == "list" and isinstance(value, list) and value:
        if shape is None or is_leaf(shape, form):
            return None if is_leaf(shape, form) and shape is not None else value
        return _reduce_list(value, gone, shape)
    if form == "object" and isinstance(value, dict) and value:
        return None if is_leaf(shape, form) else _reduce_object(value, gone, shape)
    return value if form == "scalar" else None


def _reduce_list(value: list[Tree], gone: FieldSet, shape: Shape) -> Tree:
    kept: list[Tree] = []
    for item in value:
        name = item_element(shape, item)
        if gone.has(name):
            continue
        inner = gone.below(name)
        kept.append(reduced(item, inner, shape.element) if inner else item)
    return kept or None


def _reduce_object(value: Object, gone: FieldSet, shape: Shape | None) -> Tree:
    kept: Object = {}
    for name, one in value.items():
        element = field_element(name)
        if gone.has(element):
            continue
        inner = gone.below(element)
        kept[name] = reduced(one, inner, member_of(shape, name)) if inner else one
    return kept or None


def with_named_members(fields: FieldSet, shape: Shape | None) -> FieldSet:
    """A set to which fields belong, too, that have something in them that belongs to it."""
    field_set = FieldSet()
    field_set.members = set(fields.members)
    for element, child in fields.children.items():
        inner: Shape | None = None
        if element.startswith("f:"):
            name = element[2:]
            if declares(shape, name):
                field_set.members.add(element)
            inner = member_of(shape, name)
        elif element.startswith("k:") and shape is not None and shape.kind is Kind.LIST:
            inner = shape.element
        field_set.children[element] = with_named_members(child, inner)
    return field_set


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
