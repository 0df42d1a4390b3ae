"""Machines of ours that the configuration does not have any more, and where each answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_interface

from stockman.model.desired import Desired
from stockman.model.names import MachineAddress
from stockman.model.problem import Problems
from stockman.planning.observed_kubernetes import ObservedKubernetes
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.vm_removal import surplus
from stockman.planning.vm_wanted import guest_wishes, owner_of
from stockman.ports.proxmox.vms import VmConfig

_NETWORK = "ipconfig0"


def leaving_machines(
    desired: Desired,
    proxmox: Mapping[str, ObservedProxmox],
    kubernetes: ObservedKubernetes | None,
) -> dict[str, MachineAddress]:
    """By name; a guest that is neither a Node nor told an address by us is no machine of Talos."""
    found: dict[str, MachineAddress] = {}
    wanted_names = {str(node.name) for node in desired.nodes}
    for name, config in _surplus(desired, proxmox):
        if name in wanted_names:
            continue
        address = _told(config) or _of_node(kubernetes, name)
        if address:
            found[name] = MachineAddress(address)
    return found


def _surplus(
    desired: Desired, proxmox: Mapping[str, ObservedProxmox]
) -> Iterator[tuple[str, VmConfig]]:
    if desired.cluster is None:
        return
    kept = {one.vmid for one in desired.guests}
    for cluster in desired.proxmox:
        seen = proxmox.get(str(cluster.region))
        if seen is None:
            continue
        wanted = {wish.who.vmid for wish in guest_wishes(desired, cluster, Problems())}
        for guest, config in surplus(seen, owner_of(desired), frozenset(wanted | kept)):
            if guest.kind == "qemu":
                yield config.name, config


def _told(config: VmConfig) -> str:
    """The address that the VM was made with."""
    for part in config.get(_NETWORK).split(","):
        key, _, value = part.partition("=")
        if key == "ip" and value not in ("", "dhcp"):
            return str(ip_interface(value).ip)
    return ""


def _of_node(kubernetes: ObservedKubernetes | None, name: str) -> str:
    node = kubernetes.node(name) if kubernetes is not None else None
    return node.addresses[0] if node is not None and node.addresses else ""
