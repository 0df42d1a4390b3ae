"""Placement: what is named exists, controllers are spread, memory is promised once."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from stockman.config.language.node import NodeSection, VmSection
from stockman.config.language.proxmox import ProxmoxSection
from stockman.config.nearest import nearest
from stockman.config.rules.context import Context
from stockman.model.origin import Origin
from stockman.model.proxmox import ProxmoxCluster


def check(context: Context) -> None:
    proxmox = context.estate.proxmox
    placed = [(node, node.vm) for node in context.estate.nodes if node.vm is not None]
    if proxmox is None:
        _check_section(context, placed)
    else:
        _check_clusters(context, proxmox, needed=bool(placed or context.estate.guests))
        for node, vm in placed:
            _check_vm(context, proxmox, node, vm)
        _check_memory(context, proxmox, placed)
    _check_spread(context, placed)


def clusters_of(proxmox: ProxmoxSection) -> tuple[ProxmoxCluster, ...]:
    """The Proxmox clusters: those listed, or the section itself."""
    return proxmox.clusters or (proxmox,)


def _check_section(context: Context, placed: list[tuple[NodeSection, VmSection]]) -> None:
    machines: list[tuple[str, Origin | None]] = [
        (f"node {node.name}", vm.where()) for node, vm in placed
    ]
    machines += [(f"guest {guest.name}", guest.where()) for guest in context.estate.guests]
    if machines and context.complete:
        owner, origin = machines[0]
        context.problems.error(
            "proxmox.missing",
            f"{owner} has a place on a Proxmox host, but there is no Proxmox",
            why="no `proxmox:` section says how to reach it",
            fix=f"add {context.name('proxmox.endpoint')}; see `stockman explain proxmox`",
            at=origin,
        )


def _check_clusters(context: Context, proxmox: ProxmoxSection, *, needed: bool) -> None:
    regions: dict[str, ProxmoxCluster] = {}
    for cluster in clusters_of(proxmox):
        other = regions.setdefault(cluster.region, cluster)
        if other is not cluster:
            context.problems.error(
                "proxmox.region-taken",
                f"two Proxmox clusters are called {cluster.region}",
                why="the region is how nodes and volumes find their cluster",
                fix="give each cluster a region of its own",
                at=cluster.where("region"),
            )
        if needed and cluster.endpoint is None and "endpoint" not in cluster.origins:
            name = context.name("proxmox.endpoint") if cluster is proxmox else "endpoint"
            context.problems.error(
                "config.missing-key",
                f"{name} is missing",
                why=f"Proxmox cluster {cluster.region} cannot be reached without it",
                fix=f"add {name}, such as https://127.66.0.4:8006",
                at=cluster.where(),
            )


def _check_vm(context: Context, proxmox: ProxmoxSection, node: NodeSection, vm: VmSection) -> None:
    clusters = {str(cluster.region): cluster for cluster in clusters_of(proxmox)}
    if vm.region is None and len(clusters) > 1:
        context.problems.error(
            "vm.region",
            f"node {node.name} does not say which Proxmox cluster it lives in",
            why=f"there are {len(clusters)}: {', '.join(clusters)}",
            fix="add `region:` to its `vm:` block",
            at=vm.where(),
        )
        return
    cluster = clusters.get(vm.region) if vm.region is not None else next(iter(clusters.values()))
    if cluster is None:
        _unknown(
            context,
            node,
            _Use("region.unknown", "region", str(vm.region), vm.where("region")),
            tuple(clusters),
        )
        return
    if vm.host is not None and cluster.hosts and vm.host not in cluster.hosts:
        _unknown(
            context,
            node,
            _Use("host.unknown", "host", vm.host, vm.where("host")),
            tuple(cluster.hosts),
        )
    if cluster.storages:
        stores = [(vm.datastore, vm.where("datastore"))]
        stores += [
            (disk.datastore, disk.where("datastore")) for disk in vm.data_disks if disk.datastore
        ]
        for store, where in stores:
            if store not in cluster.storages:
                _unknown(
                    context,
                    node,
                    _Use("storage.unknown", "storage", store, where),
                    cluster.storages,
                )
    if cluster.bridges:
        cards = [(nic.bridge, nic.where("bridge")) for nic in vm.nics]
        for bridge, where in cards or [(vm.bridge, vm.where("bridge"))]:
            if bridge not in cluster.bridges:
                _unknown(
                    context, node, _Use("bridge.unknown", "bridge", bridge, where), cluster.bridges
                )


class _Use(NamedTuple):
    """Something of Proxmox that a node names."""

    code: str
    kind: str
    name: str
    where: Origin | None


def _unknown(context: Context, node: NodeSection, use: _Use, known: tuple[str, ...]) -> None:
    code, kind, name, where = use
    near = nearest(name, known)
    context.problems.error(
        code,
        f"node {node.name} uses a {kind} that is not listed",
        why=f"{name} is none of {', '.join(known)}",
        fix=f"write {near}" if near else f"add {name} to the {kind}s of the Proxmox section",
        at=where,
    )


def _check_memory(
    context: Context, proxmox: ProxmoxSection, placed: list[tuple[NodeSection, VmSection]]
) -> None:
    wanted: dict[str, int] = defaultdict(int)
    for _, vm in placed:
        if vm.host is not None:
            wanted[vm.host] += vm.memory
    for guest in context.estate.guests:
        block = guest.vm or guest.container
        wanted[guest.host] += block.memory if block is not None else 0
    for cluster in clusters_of(proxmox):
        for name, host in cluster.hosts.items():
            if host.memory is None:
                continue
            room = host.memory - host.reserve_memory
            if wanted[name] > room:
                context.problems.warn(
                    "host.overcommitted",
                    f"host {name} is promised more memory than it has",
                    why=f"its machines want {wanted[name]} MiB; {host.memory} MiB less "
                    f"{host.reserve_memory} MiB for the host leave {room} MiB",
                    fix="move a machine to another host, or give machines less memory",
                    at=host.where("memory"),
                )


def _check_spread(context: Context, placed: list[tuple[NodeSection, VmSection]]) -> None:
    hosts: dict[str, list[NodeSection]] = defaultdict(list)
    for node, vm in placed:
        if node.controller and vm.host is not None:
            hosts[vm.host].append(node)
    total = sum(len(nodes) for nodes in hosts.values())
    for host, nodes in hosts.items():
        if len(nodes) > 1:
            names = ", ".join(str(node.name) for node in nodes)
            context.problems.warn(
                "placement.one-host",
                f"{len(nodes)} of {total} controllers live on host {host}",
                why=f"{names} stop together when that host stops",
                fix="spread controllers over hosts",
                at=nodes[1].vm.where("host") if nodes[1].vm is not None else None,
            )
