"""JSON patches (RFC 6902), taken as liberally as the server's library takes them."""

from __future__ import annotations

import copy
from collections.abc import Callable

from stockman_lab.kube.objects import Object, Tree


class Unpatched(Exception):
    """An operation that cannot be done."""


def json_patched(content: Object, operations: list[Object]) -> Object:
    """What an object becomes; raises `Unpatched`."""
    deepcopy = copy.deepcopy(content)
    for operation in operations:
        name = operation.get("op")
        done = _OPERATIONS.get(name) if isinstance(name, str) else None
        if done is None:
            raise Unpatched(f"Unexpected kind: {name}")
        done(deepcopy, operation)
    return deepcopy


def _place(content: Tree, path: Tree) -> tuple[Tree, str]:
    """The object or list that a path leads into, and the last name."""
    if not isinstance(path, str):
        raise Unpatched("missing path")
    parts = path.split("/")
    if len(parts) < 2:
        raise Unpatched(f"no such path: {path}")
    got = content
    for part in parts[1:-1]:
        got = _got(got, _unescape(part))
        if not isinstance(got, dict | list):
            raise Unpatched(f"no such path: {path}")
    return got, _unescape(parts[-1])


def _unescape(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _got(result: Tree, name: str) -> Tree:
    if isinstance(result, dict):
        return result.get(name)
    return result[_index(name, len(result))]


def _index(name: str, size: int) -> int:
    try:
        index = int(name)
    except ValueError:
        raise Unpatched(f"no index: {name}") from None
    if not -size <= index < size:
        raise Unpatched(f"index out of range: {name}")
    return index + size if index < 0 else index


def _add(content: Object, operation: Object) -> None:
    _put(content, operation.get("path"), operation.get("value"))


def _put(content: Object, path: Tree, value: Tree) -> None:
    values, name = _place(content, path)
    if isinstance(values, dict):
        values[name] = value
    elif name == "-":
        values.append(value)
    else:
        values.insert(_index(name, len(values) + 1), value)


def _remove(content: Object, operation: Object) -> None:
    _take(content, operation.get("path"))


def _take(content: Object, path: Tree) -> Tree:
    result, name = _place(content, path)
    if isinstance(result, list):
        return result.pop(_index(name, len(result)))
    if name not in result:
        raise Unpatched(f"no such key: {name}")
    return result.pop(name)


def _replace(content: Object, operation: Object) -> None:
    values, name = _place(content, operation.get("path"))
    if isinstance(values, dict):
        values[name] = operation.get("value")
    else:
        values[_index(name, len(values))] = operation.get("value")


def _move(content: Object, operation: Object) -> None:
    _put(content, operation.get("path"), _take(content, operation.get("from")))


def _copy(content: Object, operation: Object) -> None:
    result, name = _place(content, operation.get("from"))
    _put(content, operation.get("path"), copy.deepcopy(_got(result, name)))


def _test(content: Object, operation: Object) -> None:
    result, name = _place(content, operation.get("path"))
    if _got(result, name) != operation.get("value"):
        raise Unpatched(f"testing path {operation.get('path')} failed")


_OPERATIONS: dict[str, Callable[[Object, Object], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def merge_patched(content: Object, patch: Object) -> Object:
    """What an object becomes: null takes a field away, lists are replaced."""
    objects = dict(content)
    for name, value in patch.items():
        if value is None:
            objects.pop(name, None)
            continue
        before = objects.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            objects[name] = merge_patched(before, value)
        else:
            keeps = before is not None and isinstance(before, dict)
            objects[name] = value if keeps else without_nulls(value)
    return {name: objects[name] for name in sorted(objects)}


def without_nulls(value: Tree) -> Tree:
    """A new value, of which nothing is null."""
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value
