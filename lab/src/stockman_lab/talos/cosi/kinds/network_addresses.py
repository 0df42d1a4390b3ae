"""Addresses of links, and those that stand for the node."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import bare, family_of, is_configured, ordered
from stockman_lab.talos.cosi.kinds.network_links import LOOPBACK, is_up
from stockman_lab.talos.cosi.registry import Contents, kind
from stockman_lab.talos.state import AddressState

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_LOOPBACK = (
    AddressState("127.0.0.1/8", LOOPBACK, "default", "host"),
    AddressState("::1/128", LOOPBACK, "default", "host"),
)
_LOCAL_SCOPES = ("link", "host", "nowhere")


def _all(machine: Machine) -> list[AddressState]:
    """Its addresses, those of the loopback too."""
    network = machine.state.network
    if not any(link.name == LOOPBACK for link in network.links):
        return network.addresses
    addresses = {address.address for address in network.addresses}
    return [*(one for one in _LOOPBACK if one.address not in addresses), *network.addresses]


def _index(machine: Machine, name: str) -> int:
    return next((link.index for link in machine.state.network.links if link.name == name), 0)


@kind("AddressStatuses.net.talos.dev", "network.AddressStatusController")
def address_statuses(machine: Machine) -> Contents:
    contents: dict[str, dict[str, object]] = {}
    for kubernetes_cluster in _all(machine):
        spec = contents[f"{kubernetes_cluster.link}/{kubernetes_cluster.address}"] = {
            "address": kubernetes_cluster.address,
            "local": bare(kubernetes_cluster.address),
            "linkIndex": _index(machine, kubernetes_cluster.link),
            "linkName": kubernetes_cluster.link,
            "family": family_of(kubernetes_cluster.address),
            "scope": kubernetes_cluster.scope,
            "flags": "permanent",
        }
        network = ipaddress.ip_interface(kubernetes_cluster.address).network
        if network.version == 4 and kubernetes_cluster.link != LOOPBACK and network.prefixlen < 31:
            spec["broadcast"] = str(network.broadcast_address)
    return contents


def _node_addresses(machine: Machine) -> list[AddressState]:
    """Those that may stand for the node, by link and address."""
    addresses = [
        address
        for address in machine.state.network.addresses
        if address.scope not in _LOCAL_SCOPES and address.link != LOOPBACK
    ]
    return sorted(addresses, key=lambda one: (one.link, ipaddress.ip_interface(one.address).packed))


def routed_addresses(machine: Machine) -> list[str]:
    """Addresses that others reach it at, without prefixes."""
    addresses = [
        address_state.address
        for address_state in _node_addresses(machine)
        if is_up(machine, address_state.link)
    ]
    return [bare(text) for text in ordered(addresses)]


def _algorithm(machine: Machine) -> str:
    config = machine.config
    return config.features.address_sorting if config is not None else "v1"


@kind("NodeAddresses.net.talos.dev", "network.NodeAddressController")
def node_addresses(machine: Machine) -> Contents:
    address_states = _node_addresses(machine)
    every = ordered([address_state.address for address_state in address_states])
    current = ordered(
        [
            address_state.address
            for address_state in address_states
            if is_up(machine, address_state.link)
        ]
    )
    by_name = {"current": current, "routed": current, "accumulative": every}
    for name, filtered in _filters(machine).items():
        for base in ("current", "routed", "accumulative"):
            by_name[f"{base}-{name}"] = [one for one in by_name[base] if _passes(one, filtered)]
    first = next(
        (address_state.address for address_state in address_states if not address_state.is_vip), ""
    )
    if first:
        by_name["default"] = [first]
    algorithm = _algorithm(machine)
    return {
        name: {"addresses": addresses, "sortAlgorithm": algorithm}
        for name, addresses in by_name.items()
    }


def _filters(machine: Machine) -> dict[str, dict[str, object]]:
    config = machine.config
    if config is None or config.is_partial:
        return {}
    subnets = [*config.kubernetes.pod_subnets, *config.kubernetes.service_subnets]
    return {"no-k8s": {"excludeSubnets": subnets}, "only-k8s": {"includeSubnets": subnets}}


def _passes(prefix: str, filtered: dict[str, object]) -> bool:
    address = ipaddress.ip_interface(prefix).ip

    def is_in(name: str) -> bool | None:
        subnets = filtered.get(name)
        if not isinstance(subnets, list):
            return None
        return any(address in ipaddress.ip_network(subnet) for subnet in subnets)

    return is_in("includeSubnets") is not False and is_in("excludeSubnets") is not True


@kind("NodeIPs.kubernetes.talos.dev", "k8s.NodeIPController")
def node_ips(machine: Machine) -> Contents:
    if not is_configured(machine) or not machine.address:
        return {}
    return {"kubelet": {"addresses": node_ip_addresses(machine)}}


def node_ip_addresses(machine: Machine) -> list[str]:
    """What the kubelet is told to be reached at: one address of each family at most."""
    config = machine.config
    subnets = config.kubelet.node_ip_subnets if config is not None else ()
    values: dict[str, str] = {}
    for address_state in _node_addresses(machine):
        address = bare(address_state.address)
        if not address_state.is_vip and _in_subnets(address, subnets):
            values.setdefault(family_of(address), address)
    return list(values.values())


def _in_subnets(address: str, subnets: tuple[str, ...]) -> bool:
    held = ipaddress.ip_address(address)
    wanted = [subnet for subnet in subnets if not subnet.startswith("!")]
    refused = [subnet.removeprefix("!") for subnet in subnets if subnet.startswith("!")]
    if any(held in ipaddress.ip_network(one, strict=False) for one in refused):
        return False
    return not wanted or any(held in ipaddress.ip_network(one, strict=False) for one in wanted)
