"""Keys of former versions and forks of cluster-template, with the keys that replaced them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stockman.config.nearest import nearest_key
from stockman.model.origin import Position
from stockman.model.problem import Problems

_BGP = "cilium_bgp_router_addr, cilium_bgp_router_asn and cilium_bgp_node_asn"
_IN_VM = "`vm:` of a node in nodes.yaml"

_FORMER: dict[str, str] = {
    "cluster_ingress_addr": "write cluster_gateway_addr",
    "cloudflare_ingress_addr": "write cloudflare_gateway_addr",
    "cloudflare_tunnel_ingress_addr": "write cloudflare_gateway_addr",
    "cloudflare_dns_gateway_addr": "write cluster_dns_gateway_addr",
    "cloudflare_cluster_issuer": "remove it; certificates are always production certificates",
    "cilium_lb_pool_cidr": "write `cilium: {loadbalancer_pool: [CIDR]}`",
    "cilium_loadbalancer_pool": "write `cilium: {loadbalancer_pool: [CIDR]}`",
    "cilium_bgp_enabled": f"remove it; BGP is on when {_BGP} are set",
    "cilium_bgp_peer_addr": "write cilium_bgp_router_addr",
    "cilium_bgp_peer_asn": "write cilium_bgp_router_asn",
    "cilium_bgp_local_asn": "write cilium_bgp_node_asn",
    "cilium_bgp_peers": "write cilium_bgp_router_addr",
    "tuppr_enabled": "write `upgrade: {engine: tuppr}`",
    "spegel_enabled": "write `spegel: {enabled: true}`, or false",
    "talos_backup_enabled": "remove it; backups are on when backup_s3_bucket is set",
    "backup_enabled": "write `backup: {enabled: true}`, or false",
    "backup_s3_region": "write `backup: {targets: [{bucket: NAME, region: REGION}]}`"
    " in place of all backup_s3 keys",
    "backup_s3_prefix": "write `backup: {targets: [{bucket: NAME, prefix: PREFIX}]}`"
    " in place of all backup_s3 keys",
    "proxmox_csi_token_id": "write `components: {proxmox-csi: {token_id: ID}}`",
    "proxmox_csi_token_secret": "write `components: {proxmox-csi: {token_secret: SECRET}}`",
    "proxmox_insecure": "remove it, and write `proxmox: {tls: {ca_file: FILE}}`",
    "vm_id": f"write vmid in {_IN_VM}",
    "vm_vmid": f"write vmid in {_IN_VM}",
    "vm_host": f"write host in {_IN_VM}",
    "vm_node": f"write host in {_IN_VM}",
    "vm_cores": f"write cores in {_IN_VM}",
    "vm_cpu": f"write cores in {_IN_VM}",
    "vm_sockets": f"write sockets in {_IN_VM}",
    "vm_cpu_type": f"write cpu_type in {_IN_VM}",
    "vm_memory": f"write memory in {_IN_VM}",
    "vm_disk_gb": f"write disk_gb in {_IN_VM}",
    "vm_disk_size": f"write disk_gb in {_IN_VM}",
    "vm_datastore": f"write datastore in {_IN_VM}",
    "vm_storage": f"write datastore in {_IN_VM}",
    "vm_bridge": f"write bridge in {_IN_VM}",
    "vm_vlan": f"write vlan_id in {_IN_VM}",
    "vm_vlan_id": f"write vlan_id in {_IN_VM}",
    "vm_vlan_tag": f"write vlan_id in {_IN_VM}",
    "vm_ha_group": f"write ha_group in {_IN_VM}",
}
"""What to do about a former key, by its name."""


class KeyAdvice(NamedTuple):
    """What to do about an unknown key."""

    reason: str
    """Empty: nothing is known about the key."""
    fix: str
    """Empty: there is no advice."""
    nearest: str | None = None
    """The known key that it is a misspelling of. None: no key is."""


MAX_UNKNOWN_KEYS = 100
"""Unknown keys of one mapping to list; more of them have one cause, as another program's file."""


def report_more_unknown_keys(problems: Problems, parent: str, total: int, at: Position) -> None:
    """Report the number of unknown keys that are not listed."""
    problems.error(
        "config.unknown-key",
        f"{total - MAX_UNKNOWN_KEYS} more keys are not keys of {parent}",
        why=f"{parent} has {total} unknown keys; the first {MAX_UNKNOWN_KEYS} are listed",
        fix="check whether this is a file of another program",
        at=at,
    )


def advise_on_key(name: str, known: Iterable[str]) -> KeyAdvice:
    """Return the successor of a former key, or the known key that it is a misspelling of."""
    former = _FORMER.get(name)
    if former is not None:
        return KeyAdvice("stockman has another key for it", former)
    near = nearest_key(name, known)
    if near is None:
        return KeyAdvice("", "")
    return KeyAdvice(f"{near} is the nearest", f"write {near}", near)
