"""What is true of nodes and pods."""

from __future__ import annotations

from stockman.kubernetes.calls.objects import TypedCalls
from stockman.kubernetes.nodes import Condition, Node, Taint
from stockman.kubernetes.objects import NODES, ObjectRef, Selection, object_path
from stockman.kubernetes.rows import Row, boolean, mapping, mappings, optional_text, text, text_map


def read_conditions(row: Row) -> tuple[Condition, ...]:
    """All conditions that a status tells."""
    return tuple(
        Condition(
            type=text(one, "type"),
            status=text(one, "status"),
            reason=optional_text(one, "reason"),
            message=optional_text(one, "message"),
        )
        for one in mappings(mapping(row, "status"), "conditions")
    )


class NodeCalls(TypedCalls):
    """`ports.kubernetes.nodes.Nodes` over a wire."""

    async def node(self, name: str) -> Node:
        return await self._read(object_path(ObjectRef(kind=NODES, name=name)), read_node)

    async def nodes(self, selection: Selection | None = None) -> tuple[Node, ...]:
        return await self._typed(NODES, selection, read_node)


def read_node(row: Row) -> Node:
    """A node, from the object; raises `OddAnswer`."""
    metadata, spec, status = (mapping(row, name) for name in ("metadata", "spec", "status"))
    info = mapping(status, "nodeInfo")
    return Node(
        name=text(metadata, "name"),
        uid=text(metadata, "uid"),
        version=text(metadata, "resourceVersion"),
        labels=text_map(metadata, "labels"),
        conditions=read_conditions(row),
        taints=tuple(
            Taint(
                key=text(one, "key"), effect=text(one, "effect"), value=optional_text(one, "value")
            )
            for one in mappings(spec, "taints")
        ),
        addresses=tuple(
            (text(one, "type"), text(one, "address")) for one in mappings(status, "addresses")
        ),
        unschedulable=boolean(spec, "unschedulable"),
        kubelet=optional_text(info, "kubeletVersion"),
        operating_system=optional_text(info, "osImage"),
        boot_id=optional_text(info, "bootID"),
        machine_id=optional_text(info, "machineID"),
        provider_id=optional_text(spec, "providerID"),
        allocatable=text_map(status, "allocatable"),
    )
