"""Rules for values that are valid, but together cannot be meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, summarize_address_range
from urllib.parse import urlsplit

from stockman.config.language import NodeSection, VmSection, proxmox_clusters
from stockman.config.resolve import resolve_schematic
from stockman.config.rules.context import RuleContext
from stockman.model.origin import Origin
from stockman.model.version import Version

_AGENT = "siderolabs/qemu-guest-agent"
_LOCAL_STORAGES = ("local", "local-lvm", "local-zfs")
"""Storages of a fresh installation of Proxmox VE; each host has its own."""


def check_plausibility(context: RuleContext) -> None:
    """Check addresses of Proxmox VE, pools, versions, HA, guest agents and untagged cards."""
    _check_endpoints(context)
    _check_pool(context)
    _check_patches(context)
    for node in context.configuration.nodes:
        if node.vm is not None:
            _check_high_availability(context, node, node.vm)
            _check_agent(context, node, node.vm)
    _check_untagged(context)


def _machine_addresses(context: RuleContext) -> dict[IPv4Address, str]:
    estate = context.configuration
    owners = {
        node.address: f"node {node.name}" for node in estate.nodes if node.address is not None
    }
    api = estate.kubernetes.api.addr
    if api is not None:
        owners.setdefault(api, context.name("kubernetes.api.addr"))
    return owners


def _check_endpoints(context: RuleContext) -> None:
    proxmox = context.configuration.proxmox
    owners = _machine_addresses(context)
    for cluster in proxmox_clusters(proxmox) if proxmox is not None else ():
        for url in (cluster.endpoint, *cluster.endpoints):
            try:
                address = IPv4Address(urlsplit(url or "").hostname or "")
            except ValueError:
                continue
            if address in owners:
                context.problems.error(
                    "address.taken",
                    f"{owners[address]} has the address of Proxmox VE",
                    why=f"{url} is the API of Proxmox VE, which keeps {address}",
                    fix=f"give {owners[address]} an address of its own",
                    at=cluster.where("endpoint"),
                )


def _check_pool(context: RuleContext) -> None:
    cilium = context.configuration.cilium
    owners = _machine_addresses(context)
    for index, text in enumerate(cilium.loadbalancer_pool):
        taken = [
            f"{address} ({owner})"
            for address, owner in sorted(owners.items())
            if any(address in network for network in _networks(text))
        ]
        if taken:
            context.problems.warn(
                "address.in-pool",
                "the pool for LoadBalancer services contains addresses of machines",
                why=f"{text} contains {', '.join(taken)}, and Cilium may give them to a service",
                fix="leave these addresses out, for example with ranges a-b",
                at=cilium.origins.get(f"loadbalancer_pool[{index}]"),
            )


def _networks(text: str) -> Iterator[IPv4Network]:
    first, _, last = text.partition("-")
    try:
        if "/" in text:
            yield IPv4Network(text)
        else:
            yield from summarize_address_range(IPv4Address(first), IPv4Address(last or first))
    except ValueError:
        return  # reported by the rules for networks


def _check_patches(context: RuleContext) -> None:
    estate = context.configuration
    versions: tuple[tuple[str, Version | None, Origin | None], ...] = (
        ("talos.version", estate.talos.version, estate.talos.where("version")),
        ("kubernetes.version", estate.kubernetes.version, estate.kubernetes.where("version")),
    )
    for path, version, where in versions:
        if version is not None and version.patch is None:
            context.problems.error(
                "config.value",
                f"{context.name(path)} has a value that does not fit",
                why=f"{version.bare} is a release line, not a release",
                fix=f"write all three numbers, such as {version.bare}.1",
                at=where,
            )


def _check_high_availability(context: RuleContext, node: NodeSection, vm: VmSection) -> None:
    if (vm.ha is None and vm.ha_group is None) or vm.datastore not in _LOCAL_STORAGES:
        return
    context.problems.warn(
        "vm.ha-local",
        f"HA cannot start node {node.name} on another host",
        why=f"its system disk is on {vm.datastore}, a storage of one host",
        fix="use a shared storage, or remove `ha`; Kubernetes moves pods to other nodes by itself",
        at=vm.where("ha") if "ha" in vm.origins else vm.where("ha_group"),
    )


def _check_agent(context: RuleContext, node: NodeSection, vm: VmSection) -> None:
    schematic = resolve_schematic(context.configuration, node)
    if not vm.agent or schematic.id is not None or schematic.written is not None:
        return
    if schematic.extensions and _AGENT not in schematic.extensions:
        context.problems.warn(
            "vm.no-agent",
            f"the guest agent of node {node.name} never answers",
            why=f"`agent` is on, and its image has no {_AGENT}",
            fix=f"add {_AGENT} to talos.extensions, or set `agent: false`",
            at=vm.where("agent"),
        )


def _check_untagged(context: RuleContext) -> None:
    """Report nodes without a VLAN tag where all others on the same bridge have the same tag."""
    by_bridge: dict[str, list[tuple[NodeSection, int | None]]] = defaultdict(list)
    for node in context.configuration.nodes:
        vm = node.vm
        if vm is not None:
            first = vm.nics[0] if vm.nics else vm
            by_bridge[first.bridge].append((node, first.vlan_id))
    for bridge, cards in by_bridge.items():
        tags = {tag for _, tag in cards if tag is not None}
        untagged = [node for node, tag in cards if tag is None]
        if len(tags) != 1 or len(untagged) != 1 or len(cards) <= len(untagged) + 1:
            continue
        (node,) = untagged
        context.problems.warn(
            "vm.untagged",
            f"node {node.name} is the only one without a VLAN tag",
            why=f"the first cards of all other nodes on {bridge} are in VLAN {min(tags)},"
            " and nodes share one network",
            fix=f"set `vlan_id: {min(tags)}`, or use another bridge",
            at=node.where("vm"),
        )
