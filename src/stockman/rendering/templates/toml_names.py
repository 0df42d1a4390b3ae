"""What cluster-template makes of a `cluster.toml`: every key of it is there, with its default."""

from __future__ import annotations

from stockman.model.desired import Cluster, Desired
from stockman.rendering.templates.host_keys import host_keys
from stockman.rendering.templates.nodes import (
    fill,
    further_keys,
    needed_keys,
    written_nodes,
)


def with_toml_defaults(values: dict[str, object], desired: Desired) -> None:
    """Add what templates of the TOML dialect see besides the keys that are written."""
    cluster = desired.cluster
    if cluster is None:
        return
    for path, keys in _sections(cluster).items():
        fill(_section(values, path), keys)
    repository = _section(values, "repository")
    own = repository.get("known_hosts") or ""
    repository["known_hosts"] = "\n".join([*host_keys(), str(own)]).strip()
    for written, node in written_nodes(values, desired):
        fill(written, needed_keys(node) | further_keys(node))
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
    here = values
    for name in path.split("."):
        below = here.get(name)
        if not isinstance(below, dict):
            below = {}
            here[name] = below
        here = below
    return here


def _issuer(cluster: Cluster) -> str:
    return "letsencrypt-production" if cluster.edge.dns_provider == "cloudflare" else "internal-ca"
