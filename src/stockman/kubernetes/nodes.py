"""Calls on nodes."""

from __future__ import annotations

from stockman.kubernetes.conditions import conditions
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.rows import Row, part, parts, text, text_or_none, texts, yes
from stockman.kubernetes.typed import TypedCalls
from stockman.ports.kubernetes.kinds import NODES, Ref
from stockman.ports.kubernetes.nodes import Node, Taint
from stockman.ports.kubernetes.objects import Selection


class NodeCalls(TypedCalls):
    """`ports.kubernetes.nodes.Nodes` over a wire."""

    async def node(self, name: str) -> Node:
        return await self._read(object_path(Ref(kind=NODES, name=name)), read_node)

    async def nodes(self, selection: Selection | None = None) -> tuple[Node, ...]:
        return await self._typed(NODES, selection, read_node)


def read_node(row: Row) -> Node:
    """A node, from the object; raises `OddAnswer`."""
    metadata, spec, status = (part(row, name) for name in ("metadata", "spec", "status"))
    info = part(status, "nodeInfo")
    return Node(
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        version=text(metadata, "resourceVersion"),
        labels=texts(metadata, "labels"),
        conditions=conditions(row),
        taints=tuple(
            Taint(
                key=text(one, "key"), effect=text(one, "effect"), value=text_or_none(one, "value")
            )
            for one in parts(spec, "taints")
        ),
        addresses=tuple(
            (text(one, "type"), text(one, "address")) for one in parts(status, "addresses")
        ),
        unschedulable=yes(spec, "unschedulable"),
        kubelet=text_or_none(info, "kubeletVersion"),
        operating_system=text_or_none(info, "osImage"),
        boot_id=text_or_none(info, "bootID"),
        machine_id=text_or_none(info, "machineID"),
        provider_id=text_or_none(spec, "providerID"),
        allocatable=texts(status, "allocatable"),
    )
