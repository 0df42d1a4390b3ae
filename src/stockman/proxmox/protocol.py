"""Proxmox VE: one cluster of hosts, behind one door."""

from __future__ import annotations

from typing import Protocol

from stockman.proxmox.access import Access
from stockman.proxmox.backups import Backups
from stockman.proxmox.cluster import Cluster
from stockman.proxmox.ha import HighAvailability
from stockman.proxmox.hosts import Hosts
from stockman.proxmox.pools import Mappings, Pools
from stockman.proxmox.storages import Storages
from stockman.proxmox.tasks import Tasks
from stockman.proxmox.vms import Agent, Power, Snapshots, Vms


class Proxmox(
    Cluster,
    Hosts,
    Storages,
    Vms,
    Power,
    Snapshots,
    Agent,
    HighAvailability,
    Pools,
    Mappings,
    Access,
    Backups,
    Tasks,
    Protocol,
):
    """One Proxmox cluster.

    Each call is made once; only a read whose connection was dead is repeated, once. What goes
    wrong is one of `NotFound`, `Conflict` (`Locked` where somebody works on it), `Denied`,
    `Rejected`, `Unreachable`, `Refused` and, where nobody knows whether it was done, `Uncertain`.
    """
