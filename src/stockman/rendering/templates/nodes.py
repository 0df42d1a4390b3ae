"""The nodes as templates see them: what a class or stockman gives stands beside what is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.model.desired import Desired, Node
from stockman.model.names import SchematicId
from stockman.model.problem import Problems

_MTU = 1500


def needed_keys(node: Node) -> dict[str, object]:
    """Keys that every node has, for templates that do without a default."""
    return {
        "name": node.name,
        "address": str(node.address.ip),
        "controller": node.is_controller,
        "disk": node.disk,
        "mac_addr": node.mac_addr,
        "schematic_id": node.schematic.id or _computed_id(node),
    }


def _computed_id(node: Node) -> SchematicId | None:
    from stockman.talos.schematic_reader import wanted_id

    return wanted_id(node.schematic, Problems())


def further_keys(node: Node) -> dict[str, object]:
    """Keys that a node may have, as they are for this one."""
    return {
        "mtu": node.mtu,
        "secureboot": node.secureboot,
        "encrypt_disk": node.encrypt_disk,
        "kernel_modules": list(node.kernel_modules),
    }


def unusual_keys(node: Node) -> dict[str, object]:
    """Of the keys that a node may have those that are not as they are by default."""
    usual = {"mtu": _MTU, "secureboot": False, "encrypt_disk": False, "kernel_modules": []}
    return {name: value for name, value in further_keys(node).items() if value != usual[name]}


def written_nodes(
    values: Mapping[str, object], desired: Desired
) -> Iterable[tuple[dict[str, object], Node]]:
    """Every node as it is written, and as it is meant."""
    meant = {node.name: node for node in desired.nodes}
    nodes = values.get("nodes")
    for written in nodes if isinstance(nodes, list) else ():
        if isinstance(written, dict) and written.get("name") in meant:
            yield written, meant[written["name"]]


def fill(written: dict[str, object], keys: Mapping[str, object]) -> None:
    """Give a mapping the keys that it does not have, or that are written as nothing."""
    for name, value in keys.items():
        if written.get(name) is None:
            written[name] = value
