"""What the plugin of the classic cluster-template adds to the keys of its two files."""

from __future__ import annotations

from stockman.model.desired import Desired
from stockman.rendering.templates.nodes import needed_keys, unusual_keys, written_nodes

_BGP = ("cilium_bgp_router_addr", "cilium_bgp_router_asn", "cilium_bgp_node_asn")


def with_classic_defaults(values: dict[str, object], desired: Desired) -> None:
    """Add what templates of the classic dialect see besides the keys that are written."""
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
    for written, node in written_nodes(values, desired):
        for name, value in (needed_keys(node) | unusual_keys(node)).items():
            written.setdefault(name, value)
