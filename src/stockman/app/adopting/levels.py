"""For whom a difference holds: for all machines, for those of a role, or for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.app.adopting.operations import Operation
from stockman.talos.patches.documents import V1ALPHA1

ALL, CONTROLLER, WORKER = "all", "controller", "worker"
_OF_ONE_MACHINE = (("machine", "network"), ("machine", "install"), ("machine", "disks"))
_CLUSTER_WIDE = ("Kube", "Discovery", "Time", "Resolver", "Registry")
"""Beginnings of kinds that mean the same on every machine."""


def by_level(
    found: Mapping[str, tuple[Operation, ...]], controllers: frozenset[str]
) -> dict[str, tuple[Operation, ...]]:
    """Operations by level, `all`, `controller`, `worker` or the name of a node."""
    workers = frozenset(found) - controllers
    left = {name: dict.fromkeys(every) for name, every in found.items()}
    levels: dict[str, tuple[Operation, ...]] = {}
    for level, members in ((ALL, frozenset(found)), (CONTROLLER, controllers), (WORKER, workers)):
        shared = _shared(left, members)
        if shared:
            levels[level] = shared
            for name in members:
                left[name] = {one: None for one in left[name] if one not in shared}
    return levels | {name: tuple(every) for name, every in left.items() if every}


def alone(found: Mapping[str, tuple[Operation, ...]]) -> dict[str, tuple[Operation, ...]]:
    """The same with nothing in common."""
    return {name: every for name, every in found.items() if every}


def _shared(
    left: Mapping[str, Iterable[Operation]], members: frozenset[str]
) -> tuple[Operation, ...]:
    lists = [left[name] for name in left if name in members]
    if not lists:
        return ()
    first, *rest = lists
    common = [one for one in first if all(one in other for other in rest)]
    return tuple(one for one in common if rest or not _is_own(one))


def _is_own(one: Operation) -> bool:
    """Whether it would hardly hold for a second machine."""
    kind = one.document[0]
    if kind == V1ALPHA1:
        return any(one.path[: len(place)] == place for place in _OF_ONE_MACHINE)
    return not kind.startswith(_CLUSTER_WIDE)
