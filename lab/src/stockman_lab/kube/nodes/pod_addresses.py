"""Addresses of pods, out of the part of the network that their node has."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.objects import Object, metadata_of, part_of

_FIRST = 2
_PART = 24
_DEFAULT = "10.244.0.0/24"


def free_address(objects: Objects, node_name: str, pods: Iterable[Object]) -> str:
    """The lowest address of a node that no pod on it has."""
    node = objects.get("nodes", node_name)
    network = ip_network(part_of(node or {}, "spec").get("podCIDR") or _DEFAULT)
    taken = {part_of(pod, "status").get("podIP") for pod in pods}
    number = int(network.network_address) + _FIRST
    while str(ip_address(number)) in taken:
        number += 1
    return str(ip_address(number))


def free_network(nodes: list[Object], subnets: tuple[str, ...]) -> str:
    """The first part of the pod network that no node has. Empty: there is none."""
    taken = {part_of(node, "spec").get("podCIDR") for node in nodes if metadata_of(node)}
    whole = next((one for one in map(ip_network, subnets) if one.version == 4), None)
    if whole is None or whole.prefixlen > _PART:
        return ""
    for subnet in whole.subnets(new_prefix=_PART):
        if str(subnet) not in taken:
            return str(subnet)
    return ""
