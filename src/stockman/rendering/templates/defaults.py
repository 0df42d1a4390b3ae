"""Defaults of cluster-template: what templates see besides the keys in the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stockman.model.desired import Cluster, Desired, Node
from stockman.model.names import SchematicId
from stockman.model.problem import Problems
from stockman.rendering.templates.contract import host_keys

_MTU = 1500


def mandatory_node_keys(node: Node) -> dict[str, object]:
    """Return keys that every node has, for templates without defaults."""
    return {
        "name": node.name,
        "address": str(node.address.ip),
        "controller": node.is_controller,
        "disk": node.disk,
        "mac_addr": node.mac_addr,
        "schematic_id": node.schematic.id or _default_id(node),
    }


def _default_id(node: Node) -> SchematicId | None:
    from stockman.talos.schematic import desired_schematic_id

    return desired_schematic_id(node.schematic, Problems())


def optional_node_keys(node: Node) -> dict[str, object]:
    """Return optional keys with their values for this node."""
    return {
        "mtu": node.mtu,
        "secureboot": node.secureboot,
        "encrypt_disk": node.encrypt_disk,
        "kernel_modules": list(node.kernel_modules),
    }


def non_default_keys(node: Node) -> dict[str, object]:
    """Return the optional keys whose values are not the defaults."""
    usual = {"mtu": _MTU, "secureboot": False, "encrypt_disk": False, "kernel_modules": []}
    return {name: value for name, value in optional_node_keys(node).items() if value != usual[name]}


def template_nodes(
    values: Mapping[str, object], desired: Desired
) -> Iterable[tuple[dict[str, object], Node]]:
    """Return each node as written, together with its resolved node."""
    meant = {node.name: node for node in desired.nodes}
    nodes = values.get("nodes")
    for written in nodes if isinstance(nodes, list) else ():
        if isinstance(written, dict) and written.get("name") in meant:
            yield written, meant[written["name"]]


def fill_missing(written: dict[str, object], keys: Mapping[str, object]) -> None:
    """Add keys that a mapping does not have, or that have no value."""
    for name, value in keys.items():
        if written.get(name) is None:
            written[name] = value


_BGP = ("cilium_bgp_router_addr", "cilium_bgp_router_asn", "cilium_bgp_node_asn")


def add_classic_defaults(values: dict[str, object], desired: Desired) -> None:
    """Add the names that the plugin of the classic cluster-template defines."""
    cluster = desired.cluster
    if cluster is None:
        return
    defaults: dict[str, object] = {
        "cluster_name": cluster.name,
        "talos_version": str(cluster.talos.version),
        "kubernetes_version": str(cluster.kubernetes.version),
        "node_default_gateway": str(cluster.network.default_gateway),
        "node_dns_servers": [str(server) for server in cluster.network.dns_servers],
        "node_ntp_servers": [str(server) for server in cluster.network.ntp_servers],
        "cluster_pod_cidr": str(cluster.kubernetes.pod_cidr),
        "cluster_svc_cidr": str(cluster.kubernetes.svc_cidr),
        "repository_branch": cluster.repository.branch,
        "repository_visibility": "private" if cluster.repository.private else "public",
        "cilium_loadbalancer_mode": cluster.cilium.loadbalancer_mode,
        "cilium_bgp_enabled": all(values.get(key) for key in _BGP),
        "spegel_enabled": cluster.spegel,
    }
    for name, value in defaults.items():
        values.setdefault(name, value)
    for written, node in template_nodes(values, desired):
        for name, value in (mandatory_node_keys(node) | non_default_keys(node)).items():
            written.setdefault(name, value)


def add_toml_defaults(values: dict[str, object], desired: Desired) -> None:
    """Add the names that templates of the TOML dialect see besides the keys in the file."""
    cluster = desired.cluster
    if cluster is None:
        return
    for path, keys in _sections(cluster).items():
        fill_missing(_section(values, path), keys)
    repository = _section(values, "repository")
    own = repository.get("known_hosts") or ""
    repository["known_hosts"] = "\n".join([*host_keys(), str(own)]).strip()
    for written, node in template_nodes(values, desired):
        fill_missing(written, mandatory_node_keys(node) | optional_node_keys(node))
    values |= {
        "cilium_bgp_enabled": cluster.cilium.bgp is not None,
        "controller_count": sum(node.is_controller for node in desired.nodes),
        "cluster_issuer": _issuer(cluster),
        "cert_sans": [
            "127.0.0.1",
            str(cluster.kubernetes.api_addr),
            *cluster.kubernetes.api_tls_sans,
        ],
    }


def _sections(cluster: Cluster) -> dict[str, dict[str, object]]:
    network, kubernetes, gateways = cluster.network, cluster.kubernetes, cluster.gateways
    return {
        "network": {
            "dns_servers": [str(server) for server in network.dns_servers],
            "ntp_servers": [str(server) for server in network.ntp_servers],
            "default_gateway": str(network.default_gateway),
            "vlan_tag": None,
        },
        "kubernetes": {
            "pod_cidr": str(kubernetes.pod_cidr),
            "svc_cidr": str(kubernetes.svc_cidr),
            "coredns_addr": str(kubernetes.coredns_addr),
        },
        "kubernetes.api": {"tls_sans": None},
        "gateways": {"external": None if gateways.external is None else str(gateways.external)},
        "repository": {
            "branch": cluster.repository.branch,
            "webhook_provider": cluster.repository.webhook_provider,
            "known_hosts": "",
        },
        "domain": {"name": cluster.edge.domain},
        "dns": {"provider": cluster.edge.dns_provider, "token": ""},
        "ingress": {"mode": cluster.edge.ingress_mode},
        "cilium": {"loadbalancer_mode": cluster.cilium.loadbalancer_mode},
        "cilium.bgp": {"router_addr": "", "router_asn": "", "node_asn": ""},
        "talos": {"schematic_id": None},
        "spegel": {"enabled": cluster.spegel},
    }


def _section(values: dict[str, object], path: str) -> dict[str, object]:
    section = values
    for name in path.split("."):
        below = section.get(name)
        if not isinstance(below, dict):
            below = {}
            section[name] = below
        section = below
    return section


def _issuer(cluster: Cluster) -> str:
    return "letsencrypt-production" if cluster.edge.dns_provider == "cloudflare" else "internal-ca"
