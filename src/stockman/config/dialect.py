"""The classic dialect's flat keys and where each belongs in the one shape of the language."""

from __future__ import annotations

CLASSIC_KEYS: dict[str, str] = {
    "cluster_name": "cluster.name",
    "node_cidr": "network.node_cidr",
    "node_dns_servers": "network.dns_servers",
    "node_ntp_servers": "network.ntp_servers",
    "node_default_gateway": "network.default_gateway",
    "node_vlan_tag": "network.vlan_tag",
    "cluster_api_addr": "kubernetes.api.addr",
    "cluster_api_tls_sans": "kubernetes.api.tls_sans",
    "cluster_pod_cidr": "kubernetes.pod_cidr",
    "cluster_svc_cidr": "kubernetes.svc_cidr",
    "cluster_dns_gateway_addr": "gateways.dns",
    "cluster_gateway_addr": "gateways.internal",
    "cloudflare_gateway_addr": "gateways.external",
    "repository_name": "repository.url",
    "repository_branch": "repository.branch",
    "cloudflare_enabled": "dns.provider",
    "cloudflare_domain": "domain.name",
    "cloudflare_token": "dns.token",
    "cilium_loadbalancer_mode": "cilium.loadbalancer_mode",
    "cilium_bgp_router_addr": "cilium.bgp.router_addr",
    "cilium_bgp_router_asn": "cilium.bgp.router_asn",
    "cilium_bgp_node_asn": "cilium.bgp.node_asn",
    "talos_version": "talos.version",
    "talos_contract": "talos.contract",
    "controller_schematic_id": "talos.controller_schematic_id",
    "worker_schematic_id": "talos.worker_schematic_id",
    "kubernetes_version": "kubernetes.version",
    "proxmox_endpoint": "proxmox.endpoint",
    "proxmox_region": "proxmox.region",
    "proxmox_token_id": "proxmox.token_id",
    "proxmox_token_secret": "proxmox.token_secret",
    "proxmox_ccm_enabled": "components.proxmox-ccm.enabled",
    "proxmox_ccm_token_id": "components.proxmox-ccm.token_id",
    "proxmox_ccm_token_secret": "components.proxmox-ccm.token_secret",
    "proxmox_csi_enabled": "components.proxmox-csi.enabled",
    "proxmox_csi_storage": "components.proxmox-csi.storage",
    "backup_s3_endpoint": "backup.targets[0].endpoint",
    "backup_s3_bucket": "backup.targets[0].bucket",
    "backup_s3_access_key": "backup.targets[0].access_key",
    "backup_s3_secret_key": "backup.targets[0].secret_key",
    "backup_age_public_key": "backup.recipients[0]",
}
"""Classic key to path."""

VISIBILITY = "repository_visibility"
"""Folded into the repository's address: private ones are reached by SSH."""

CLASSIC_ONLY = (VISIBILITY,)

CLASSIC_BY_PATH = {path: key for key, path in CLASSIC_KEYS.items()}


def name_of(path: str, *, classic: bool) -> str:
    """The name a user of the dialect knows a path by."""
    return CLASSIC_BY_PATH.get(path, path) if classic else path
