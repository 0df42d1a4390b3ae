"""Merge patches (RFC 7396)."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree


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
        return [without_nulls(one) for one in value if one is not None]
    return value
