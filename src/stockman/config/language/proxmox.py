"""The Proxmox VE section: one or several clusters."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.formats import ENDPOINT
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record


@record
class ProxmoxSection(ProxmoxCluster):
    """Proxmox VE: a single cluster, or several under `clusters`."""

    clusters: tuple[ProxmoxCluster, ...] = ()
    """Several Proxmox clusters. The other keys of this section are then ignored."""
    connect: dict[str, Annotated[str, ENDPOINT]] = field(default_factory=dict)
    """Connection overrides, `host:port` to `host:port`, for tunnels and labs."""
