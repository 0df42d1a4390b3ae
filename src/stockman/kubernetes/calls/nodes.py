"""What is true of nodes and pods."""

from __future__ import annotations

from stockman.kubernetes.calls.objects import TypedCalls
from stockman.kubernetes.nodes import Condition, Node, Taint
from stockman.kubernetes.objects import NODES, ObjectRef, Selection, object_path
from stockman.kubernetes.rows import Row, boolean, mapping, mappings, optional_text, text, text_map


def read_conditions(row: Row) -> tuple[Condition, ...]:
    """Parse the conditions in the status of an object."""
    return tuple(
        Condition(
            type=text(condition, "type"),
            status=text(condition, "status"),
            reason=optional_text(condition, "reason"),
            message=optional_text(condition, "message"),
        )
        for condition in mappings(mapping(row, "status"), "conditions")
    )


class NodeCalls(TypedCalls):
    """Nodes calls."""

    async def node(self, name: str) -> Node:
        """Return a node; raises `NotFound`."""
        return await self._read(object_path(ObjectRef(kind=NODES, name=name)), read_node)

    async def nodes(self, selection: Selection | None = None) -> tuple[Node, ...]:
        """List nodes, sorted by name."""
        return await self._list_records(NODES, selection, read_node)


def read_node(row: Row) -> Node:
    """Parse a node; raises `UnexpectedAnswer`."""
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
                key=text(item, "key"),
                effect=text(item, "effect"),
                value=optional_text(item, "value"),
                added=optional_text(item, "timeAdded"),
            )
            for item in mappings(spec, "taints")
        ),
        addresses=tuple(
            (text(item, "type"), text(item, "address")) for item in mappings(status, "addresses")
        ),
        unschedulable=boolean(spec, "unschedulable"),
        kubelet=optional_text(info, "kubeletVersion"),
        operating_system=optional_text(info, "osImage"),
        boot_id=optional_text(info, "bootID"),
        machine_id=optional_text(info, "machineID"),
        provider_id=optional_text(spec, "providerID"),
        allocatable=text_map(status, "allocatable"),
    )
