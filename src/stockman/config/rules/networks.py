"""Networks: no two overlap, services have room, cluster DNS has a place, tags are set once."""

from __future__ import annotations

from itertools import combinations

from stockman.config.rules.context import Context

_DNS_INDEX = 10


def check(context: Context) -> None:
    _check_overlaps(context)
    _check_services(context)
    _check_time_servers(context)
    _check_double_tags(context)
    _check_pool(context)


def _check_overlaps(context: Context) -> None:
    estate = context.estate
    networks = [
        ("network.node_cidr", estate.network.node_cidr, estate.network.where("node_cidr")),
        ("kubernetes.pod_cidr", estate.kubernetes.pod_cidr, estate.kubernetes.where("pod_cidr")),
        ("kubernetes.svc_cidr", estate.kubernetes.svc_cidr, estate.kubernetes.where("svc_cidr")),
    ]
    if not context.has_cluster:
        return
    for (one, first, there), (other, second, here) in combinations(networks, 2):
        if first is None or second is None or not first.overlaps(second):
            continue
        context.problems.error(
            "cidr.overlap",
            f"{context.name(other)} overlaps {context.name(one)}",
            why=f"{second} and {first} share addresses" + (f" ({there.at})" if there else ""),
            fix="choose networks that have no address in common",
            at=here or there,
        )


def _check_services(context: Context) -> None:
    kubernetes = context.estate.kubernetes
    services = kubernetes.svc_cidr
    where = kubernetes.where("svc_cidr")
    name = context.name("kubernetes.svc_cidr")
    if services.num_addresses <= _DNS_INDEX + 1:
        context.problems.error(
            "cidr.too-small",
            f"{name} has no room for cluster DNS",
            why=f"{services} has {services.num_addresses} addresses; DNS takes the tenth",
            fix="use a network of /28 or larger; /16 is usual",
            at=where,
        )
    elif kubernetes.coredns_addr is not None and kubernetes.coredns_addr not in services:
        context.problems.error(
            "cidr.dns-outside",
            "kubernetes.coredns_addr is outside of the service network",
            why=f"{kubernetes.coredns_addr} is not inside {services}",
            fix=f"use {services[_DNS_INDEX]}, or remove the key",
            at=kubernetes.where("coredns_addr"),
        )


def _check_time_servers(context: Context) -> None:
    network = context.estate.network
    for index, server in enumerate(network.ntp_servers):
        if not server.replace(".", "").isdigit():
            context.problems.warn(
                "network.time-server-name",
                f"the time server {server} is a name",
                why="a node needs the time first of all, and a name works only once DNS does",
                fix="use addresses of time servers",
                at=network.origins.get(f"ntp_servers[{index}]") or network.where("ntp_servers"),
            )


def _check_double_tags(context: Context) -> None:
    tag = context.estate.network.vlan_tag
    if tag is None:
        return
    for node in context.estate.nodes:
        first = node.vm.nics[0] if node.vm is not None and node.vm.nics else None
        vlan = first.vlan_id if first is not None else node.vm.vlan_id if node.vm else None
        if vlan is None or node.vm is None:
            continue
        context.problems.warn(
            "network.double-tag",
            f"frames of node {node.name} are tagged twice",
            why=f"{context.name('network.vlan_tag')} is {tag}, and its card is in VLAN {vlan}",
            fix="let either the node or the bridge tag, not both",
            at=(first or node.vm).where("vlan_id"),
        )


def _check_pool(context: Context) -> None:
    from ipaddress import IPv4Address, IPv4Network

    cilium = context.estate.cilium
    for index, text in enumerate(cilium.loadbalancer_pool):
        try:
            if "-" in text:
                low, high = (IPv4Address(part) for part in text.split("-"))
                fits = low <= high
            else:
                fits = IPv4Network(text) is not None
        except ValueError:
            fits = False
        if not fits:
            context.problems.error(
                "config.value",
                "cilium.loadbalancer_pool has an item that does not fit",
                why=f"{text!r} is not an address, a rising range a-b, or a network",
                fix="write for example 127.66.0.19 or 127.66.0.20-127.66.0.29",
                at=cilium.origins.get(f"loadbalancer_pool[{index}]"),
            )
