"""Who grants access: somebody with more rights than stockman needs afterwards."""

from __future__ import annotations

from stockman.proxmox.client import ProxmoxClient
from stockman.steps.ports import Ports


def admin_client_name(cluster: str) -> str:
    """The name under which `Ports.proxmox` has a cluster in the name of an administrator."""
    return f"{cluster} as administrator"


def admin_client(ports: Ports, cluster: str) -> ProxmoxClient:
    """The cluster in the name of an administrator, or of whoever is there."""
    return ports.proxmox.get(admin_client_name(cluster)) or ports.on(cluster)
