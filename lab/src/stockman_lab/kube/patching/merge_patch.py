"""Merge patches (RFC 7396)."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree


def merge_patched(content: Object, patch: Object) -> Object:
    """What an object becomes: null takes a field away, lists are replaced."""
    made = dict(content)
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
            continue
        before = made.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            made[name] = merge_patched(before, value)
        else:
            keeps = before is not None and isinstance(before, dict)
            made[name] = value if keeps else without_nulls(value)
    return {name: made[name] for name in sorted(made)}


def without_nulls(value: Tree) -> Tree:
    """A new value, of which nothing is null."""
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value if one is not None]
    return value
