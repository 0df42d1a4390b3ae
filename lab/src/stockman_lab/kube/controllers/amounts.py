"""Numbers that may be given as a share of all."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree


def resolved(value: Tree, total: int, *, up: bool) -> int:
    """`3` or `25%` of so many, rounded up or down."""
    if isinstance(value, int):
        return value
    share = int(str(value).removesuffix("%")) * total
    return -(-share // 100) if up else share // 100


def without_zeros(status: Object) -> Object:
    """A status without the numbers that are not written when they are nought."""
    return {name: one for name, one in status.items() if one not in (0, None, [], {})}
