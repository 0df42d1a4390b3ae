"""Layers that are compared, each with what should be on one side and what is on the other."""

from __future__ import annotations

from enum import Enum


class Layer(Enum):
    """One of them; the names are those of `drift.ignore` in the files."""

    VMS = "vms"
    """Keys, disks and power of VMs and containers."""
    PLACEMENT = "placement"
    """Hosts, pools and high availability."""
    TALOS = "talos"
    """Machine configurations, versions and schematics."""
    KUBERNETES = "kubernetes"
    """Objects that stockman put into the cluster."""
    TREE = "tree"
    """Rendered files, commits, what is pushed, and what Flux made of it."""
    ACCESS = "access"
    """Roles, users, tokens and rights in Proxmox VE, and files for clients."""


SAYS = {
    Layer.VMS: "virtual machines",
    Layer.PLACEMENT: "placement",
    Layer.TALOS: "Talos configurations",
    Layer.KUBERNETES: "objects in Kubernetes",
    Layer.TREE: "rendered files",
    Layer.ACCESS: "access",
}
