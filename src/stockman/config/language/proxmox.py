"""Proxmox VE: one cluster of hosts, or several."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.formats import ENDPOINT
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record


@record
class ProxmoxSection(ProxmoxCluster):
    """Proxmox VE: one cluster here, or several under `clusters`."""

    clusters: tuple[ProxmoxCluster, ...] = ()
    """Several clusters; keys beside this one are then not used."""
    connect: dict[str, Annotated[str, ENDPOINT]] = field(default_factory=dict)
    """Connect map, `host:port` to `host:port`: where to dial instead (tunnels, labs)."""
