"""Tables of nodes."""

from __future__ import annotations

from stockman_lab.kube.tables.ages import UNKNOWN, Ages
from stockman_lab.kube.tables.printing import (
    NONE,
    Cells,
    Object,
    at,
    cells_of,
    condition,
    created,
    listed,
    name_of,
    text,
)

_ROLE = "node-role.kubernetes.io/"
_OLD_ROLE = "kubernetes.io/role"


@cells_of("v1/nodes")
def node_cells(node: Object, ages: Ages) -> Cells:
    """Name, status, roles, age, version, addresses, system, kernel, runtime."""
    info = at(node, "status", "nodeInfo")
    kernel = text(info, "kernelVersion", default=UNKNOWN)
    if machine := text(info, "architecture"):
        kernel = f"{kernel} ({machine})"
    return [
        name_of(node),
        _status(node),
        ",".join(roles(node)) or NONE,
        ages.since(created(node)),
        text(info, "kubeletVersion"),
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        text(info, "osImage", default=UNKNOWN),
        kernel,
        text(info, "containerRuntimeVersion", default=UNKNOWN),
    ]


def roles(node: Object) -> list[str]:
    """The roles that the labels of a node name."""
    found = set()
    for name, value in (at(node, "metadata", "labels") or {}).items():
        role = name.removeprefix(_ROLE) if name.startswith(_ROLE) else ""
        if name == _OLD_ROLE:
            role = value
        if role:
            found.add(role)
    return sorted(found)


def _status(node: Object) -> str:
    ready = text(condition(node, "Ready"), "status")
    found = ("Ready" if ready == "True" else "NotReady") if ready else "Unknown"
    return f"{found},SchedulingDisabled" if at(node, "spec", "unschedulable") else found


def _address(node: Object, kind: str) -> str:
    for one in listed(node, "status", "addresses"):
        if one.get("type") == kind:
            return text(one, "address")
    return NONE
