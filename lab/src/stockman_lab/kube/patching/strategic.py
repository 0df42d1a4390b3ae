"""Strategic merge patches: lists are merged by keys where their type says so."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree, copied
from stockman_lab.kube.patching.shapes import Shape, member_of

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"


class BadPatch(Exception):
    """A patch that makes no sense; its text is that of the server."""


def strategically_patched(content: Object, patch: Object, shape: Shape) -> Object:
    """What an object becomes; raises `BadPatch`."""
    return _objects(copied(content), copied(patch), shape)


def _objects(original: Object, patch: Object, shape: Shape | None) -> Object:
    if _DIRECTIVE in patch:
        return _follow_directive(patch)
    _retain(original, patch)
    _merge_in_order(original, patch, shape)
    for name, value in patch.items():
        is_deletion = name.startswith(_DELETE_FROM)
        name = name.removeprefix(_DELETE_FROM)
        if value is None:
            original.pop(name, None)
            continue
        before: Tree = original.get(name)
        if type(before) is not type(value):
            if not is_deletion:
                _take_over(original, name, value)
        elif isinstance(before, dict):
            original[name] = _objects(before, value, member_of(shape, name))
        elif isinstance(before, list):
            inner = member_of(shape, name)
            if is_deletion:
                original[name] = [item for item in before if item not in value]
            else:
                original[name] = _lists(before, value, inner)
        else:
            original[name] = value
    return original


def _follow_directive(patch: Object) -> Object:
    match patch.pop(_DIRECTIVE):
        case "replace":
            return patch
        case "delete":
            return {}
        case other:
            raise BadPatch(f"unknown patch type: {other}")


def _take_over(original: Object, name: str, value: Tree) -> None:
    keep, result = _without_directives(_without_nulls(value))
    if keep:
        original[name] = result
    else:
        original.pop(name, None)


def _without_nulls(value: Tree) -> Tree:
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _without_directives(value: Tree) -> tuple[bool, Tree]:
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return False, None
        inner = {name: _without_directives(one) for name, one in value.items() if name != _RETAIN}
        return True, {name: one for name, (keep, one) in inner.items() if keep}
    if isinstance(value, list):
        return True, [one for keep, one in map(_without_directives, value) if keep]
    return True, value


def _retain(original: Object, patch: Object) -> None:
    if _RETAIN not in patch:
        return
    kept = patch.pop(_RETAIN)
    names = [
        name
        for name, one in patch.items()
        if one is not None and not name.startswith((_DELETE_FROM, _ORDER))
    ]
    if not isinstance(kept, list) or any(name not in kept for name in names):
        raise BadPatch("invalid patch format of retainKeys")
    for name in [name for name in original if name not in kept]:
        del original[name]


def _merge_in_order(original: Object, patch: Object, shape: Shape | None) -> None:
    """Merge lists whose order the patch tells."""
    for directive in [name for name in patch if name.startswith(_ORDER)]:
        order = patch.pop(directive)
        name = directive.removeprefix(_ORDER)
        before: Tree = original.get(name)
        value: Tree = patch.get(name)
        if not isinstance(order, list):
            raise BadPatch("invalid patch format of setElementOrder list")
        if not isinstance(before, list | None) or not isinstance(value, list | None):
            raise BadPatch("$setElementOrder is for lists only")
        inner = member_of(shape, name)
        _check_order(value or [], order, inner)
        if before is None and value is None:
            continue
        if value is None:
            merged = list(before or [])
        elif before is None:
            merged = _without_directives(value)[1]
        else:
            merged = _lists(list(before), value, inner)
        key = inner.merge_key if inner is not None else ""
        original[name] = _in_order(merged, order, before or [], key)
        patch.pop(name, None)


def _check_order(value: list[Tree], order: list[Tree], shape: Shape | None) -> None:
    """Refuse a list whose items are in another order than the patch tells."""
    key = shape.merge_key if shape is not None else ""
    told = [item.get(key) if key and isinstance(item, dict) else item for item in order]
    places = [
        told.index(content)
        for item in value
        if not (isinstance(item, dict) and _DIRECTIVE in item)
        and (content := item.get(key) if key and isinstance(item, dict) else item) in told
    ]
    if places != sorted(places):
        raise BadPatch("The order in patch list doesn't match $setElementOrder list")


def _lists(original: list[Tree], patch: list[Tree], shape: Shape | None) -> list[Tree]:
    if shape is None or not shape.merges:
        return patch
    if not original and not patch:
        return original
    if len({isinstance(item, dict) for item in (*original, *patch)}) > 1:
        raise BadPatch("list element types are not identical")
    if not any(isinstance(one, dict) for one in (*original, *patch)):
        merged = list(dict.fromkeys([*original, *patch]))
        return _in_order(merged, patch, original, "")
    key = shape.merge_key
    left, right = _special(original, patch, key)
    before = list(left)
    for item in right:
        if key not in item:
            raise _no_key(key)
        position = _position(left, key, item[key])
        if position is None:
            left = [*left, item]
        else:
            left = [
                *left[:position],
                _objects(left[position], item, shape.element),
                *left[position + 1 :],
            ]
    return _in_order(left, right, before, key)


def _special(original: list[Tree], patch: list[Tree], key: str) -> tuple[list[Tree], list[Tree]]:
    """Do what items of a patch say that are there for that alone."""
    plain: list[Tree] = []
    replaces = False
    for item in patch:
        match item.get(_DIRECTIVE, _NO_DIRECTIVE):
            case "delete":
                if key not in item:
                    raise _no_key(key)
                original = [one for one in original if one.get(key) != item[key]]
            case "replace":
                replaces = True
            case found if found is _NO_DIRECTIVE:
                plain.append(item)
            case other:
                raise BadPatch(f"unknown patch type: {other}")
    return (plain, []) if replaces else (original, plain)


_NO_DIRECTIVE = object()


def _no_key(key: str) -> BadPatch:
    return BadPatch(f"map does not contain declared merge key: {key}")


def _position(items: list[Tree], key: str, value: Tree) -> int | None:
    return next(
        (
            place
            for place, one in enumerate(items)
            if isinstance(one, dict) and one.get(key) == value
        ),
        None,
    )


def _in_order(merged: list[Tree], order: list[Tree], before: list[Tree], key: str) -> list[Tree]:
    """Items that the patch tells in its order, the others where they were between them."""

    def place(items: list[Tree], one: Tree) -> int:
        if not key:
            return items.index(one) if one in items else -1
        if not isinstance(one, dict) or key not in one:
            raise _no_key(key)
        position = _position(items, key, one[key])
        return -1 if position is None else position

    told = sorted(
        (item for item in merged if place(order, item) >= 0), key=lambda o: place(order, o)
    )
    others = sorted(
        (item for item in merged if place(order, item) < 0), key=lambda item: place(before, item)
    )
    trees: list[Tree] = []
    while told and others:
        left, right = place(before, others[0]), place(before, told[0])
        first = left >= 0 and right >= 0 and left < right
        trees.append(others.pop(0) if first else told.pop(0))
    return [*trees, *told, *others]
