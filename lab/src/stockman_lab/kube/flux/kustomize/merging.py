"""Strategic merge patches as kustomize merges them: what a patch brings comes first in lists."""

from __future__ import annotations

from enum import Enum

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.objects import Object, Tree
from stockman_lab.kube.schema.type import ListKind, Type
from stockman_lab.kube.schema.types import Types, UnknownKind

_DIRECTIVE = "$patch"


class _Gone(Enum):
    GONE = "gone"


_GONE = _Gone.GONE
"""There is nothing, or nothing is left."""


def shape_of(content: Object) -> Type | None:
    """The type of an object, where its kind is one of the server's own."""
    group, _, version = str(content.get("apiVersion") or "").rpartition("/")
    try:
        return Types.of_server().type_of(group, version, str(content.get("kind") or ""))
    except UnknownKind:
        return None


def merged(content: Object, patch: Object) -> Object:
    """What an object becomes by a patch that may be changed; empty: it is to go."""
    found = _merged(content, patch, shape_of(content))
    return {} if found is _GONE else found


def _merged(value: Tree, patch: Tree, shape: Type | None) -> Tree:
    if patch is None:
        return _GONE
    is_new = value is _GONE or value is None
    if not is_new and _form(value) is not _form(patch):
        wanted, node = _NODES[_form(value)], _NODES[_form(patch)]
        raise BuildFailure(f"wrong node kind: expected {wanted} but got {node}")
    if isinstance(patch, dict):
        return _objects({} if is_new else value, patch, shape, is_new=is_new)
    if isinstance(patch, list):
        return _lists([] if is_new else value, patch, shape)
    return patch


def _form(value: Tree) -> type:
    return type(value) if isinstance(value, dict | list) else str


_NODES: dict[type, str] = {dict: "MappingNode", list: "SequenceNode", str: "ScalarNode"}


def _directive(patch: Object) -> str:
    word = patch.pop(_DIRECTIVE, "merge")
    if word not in {"delete", "replace", "merge"}:
        raise BuildFailure(f"unknown patch strategy '{word}'")
    return str(word)


def _objects(value: Object, patch: Object, shape: Type | None, *, is_new: bool) -> Tree:
    directive = _directive(patch)
    if directive == "delete":
        return _GONE
    if directive == "replace" and not is_new:
        return patch
    founds = dict(value)
    for name, change in patch.items():
        found = _merged(founds.get(name, _GONE), change, _member(shape, name))
        if found is _GONE:
            founds.pop(name, None)
        else:
            founds[name] = found
    return founds


def _member(shape: Type | None, name: str) -> Type | None:
    if shape is None:
        return None
    field = shape.field(name)
    return shape.element if field is None else field.type


def _lists(value: list[Tree], patch: list[Tree], shape: Type | None) -> Tree:
    if shape is None or not shape.merges:
        return patch
    whole = next((one for one in patch if isinstance(one, dict) and list(one) == [_DIRECTIVE]), {})
    directive = whole.get(_DIRECTIVE, "merge")
    patch = [one for one in patch if one is not whole]
    if directive == "delete":
        return _GONE
    if directive == "replace":
        return patch
    keys = _keys(shape)
    if not keys:
        return list(dict.fromkeys([*patch, *value]))
    if len(keys) == 1:
        return _entries(value, patch, shape.element, keys[0])
    return _told_by_several(value, patch, shape.element, keys)


def _keys(shape: Type) -> list[str]:
    if shape.list_kind is ListKind.MAP and shape.keys:
        return list(shape.keys)
    return [shape.merge_key] if shape.merge_key else []


def _values(entry: Tree, keys: list[str]) -> tuple[str, ...]:
    if not isinstance(entry, dict):
        return ()
    return tuple("" if entry.get(key) is None else str(entry[key]) for key in keys)


def _entries(value: list[Tree], patch: list[Tree], element: Type | None, key: str) -> list[Tree]:
    """Entries that a patch names first, in its order, and the others behind them."""
    rest = list(value)
    trees: list[Tree] = []
    for change in patch:
        at = _position(rest, {key: _said(change, key)})
        found = _merged(_GONE if at is None else rest.pop(at), change, element)
        if found is not _GONE and found != {}:
            trees.append(found)
    return [*trees, *rest]


def _said(entry: Tree, key: str) -> str:
    return _values(entry, [key])[0] if isinstance(entry, dict) else ""


def _position(entries: list[Tree], wanted: dict[str, str]) -> int | None:
    for position, entry in enumerate(entries):
        if all(_said(entry, key) == value for key, value in wanted.items()):
            return position
    return None


def _told_by_several(
    value: list[Tree], patch: list[Tree], element: Type | None, keys: list[str]
) -> list[Tree]:
    """Entries that several fields tell apart: new ones first, the others where they were.

    A field that some entries leave away is filled in from others of the same kind; an entry that
    then no longer says its own name is lost, as kustomize loses it.
    """
    rest: list[Tree] = list(value)
    trees: list[Tree] = []
    for name in dict.fromkeys(_filled([_values(one, keys) for one in (*patch, *value)])):
        saids = {key: said for key, said in zip(keys, name, strict=True) if said}
        change, at = _position(patch, saids), _position(rest, saids)
        if change is None:
            continue
        found = _merged(_GONE if at is None else rest[at], patch[change], element)
        if at is None and found is not _GONE:
            trees.append(found)
        elif at is not None:
            rest[at : at + 1] = [] if found is _GONE else [found]
    return [*trees, *rest]


def _filled(names: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    for i in range(len(names)):
        for j in range(len(names)):
            both = _both(names[i], names[j])
            if both is not None:
                names[i] = names[j] = both
    return [name for name in names if name]


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """What two names say together; None: they are of different entries."""
    pairs = list(zip(one, other, strict=True)) if one and other else []
    if not any(a == b for a, b in pairs) or any(a and b and a != b for a, b in pairs):
        return None
    return tuple(a or b for a, b in pairs)
