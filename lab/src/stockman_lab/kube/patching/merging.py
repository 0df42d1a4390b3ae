"""Merging what is applied into what is there, each kind of list in its own way."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree
from stockman_lab.kube.patching.shapes import Shape, form_of, is_leaf, item_element, member_of

_ABSENT = object()


def merged(live: Tree, applied: Tree, shape: Shape | None) -> Tree:
    """A live value with an applied one put over it."""
    result = _merge(live, applied, shape)
    return None if result is _ABSENT else result


def _merge(live: object, applied: object, shape: Shape | None) -> object:
    newest = live if applied is _ABSENT else applied
    form = form_of(shape, newest)
    empty = not any(item for item in (live, applied) if item is not _ABSENT)
    if is_leaf(shape, form) or empty:
        return newest
    if applied is None:
        return None
    if form == "list":
        if shape is None or not isinstance(newest, list):
            return newest
        left = live if isinstance(live, list) else []
        right = applied if isinstance(applied, list) else []
        return _merge_lists(left, right, shape) or _ABSENT
    if not isinstance(newest, dict):
        return newest
    left_object = live if isinstance(live, dict) else {}
    right_object = applied if isinstance(applied, dict) else {}
    return _merge_objects(left_object, right_object, shape) or _ABSENT


def _merge_objects(live: Object, applied: Object, shape: Shape | None) -> Object:
    founds: Object = {}
    for name in {**live, **applied}:
        inner = member_of(shape, name)
        result = _merge(live.get(name, _ABSENT), applied.get(name, _ABSENT), inner)
        if result is not _ABSENT:
            founds[name] = result
    return founds


def _merge_lists(live: list[Tree], applied: list[Tree], shape: Shape) -> list[Tree]:
    """Items in the order of what is applied; what only the live list has stays near its place."""
    left = [item_element(shape, item) for item in live]
    right = [item_element(shape, item) for item in applied]
    lives: dict[str, object] = {}
    for name, item in zip(left, live, strict=True):
        lives[name] = None if name in lives else item
    applies = dict(zip(right, applied, strict=True))
    shared = [name for name in right if name in lives]
    trees: list[Tree] = []
    done: set[str] = set()

    def put(name: str) -> None:
        found = _merge(lives.get(name, _ABSENT), applies.get(name, _ABSENT), shape.element)
        if found is not _ABSENT:
            trees.append(found)

    at, to = 0, 0
    while at < len(left) or to < len(right):
        if at < len(left) and to < len(right):
            name = left[at]
            if name == right[to]:
                done.add(name)
                put(name)
                at, to = at + 1, to + 1
                shared = shared[1:]
                continue
            if name in applies and shared and shared[0] != name:
                at += 1
                continue
        if at < len(left):
            name = left[at]
            if name not in applies:
                result = _merge(live[at], _ABSENT, shape.element)
                if result is not _ABSENT:
                    trees.append(result)
                at += 1
                continue
            if name in done:
                at += 1
        if to < len(right):
            name = right[to]
            done.add(name)
            put(name)
            to += 1
            if shared and shared[0] == name:
                shared = shared[1:]
    return trees
