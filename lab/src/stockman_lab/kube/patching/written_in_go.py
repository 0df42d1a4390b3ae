"""Values as Go's `%v` writes them, which messages of the server show."""

from __future__ import annotations

from stockman_lab.kube.objects import Tree


def written_in_go(value: Tree) -> str:
    """`map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        inner = (f"{name}:{written_in_go(value[name])}" for name in sorted(value))
        return f"map[{' '.join(inner)}]"
    if isinstance(value, list):
        return f"[{' '.join(map(written_in_go, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_CALLED = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}


def called_in_go(value: Tree) -> str:
    """The type of a value that was read from JSON."""
    return "<nil>" if value is None else _CALLED.get(type(value), "map[string]interface {}")
