"""What a component may do outside of Kubernetes: in Proxmox VE, and through the Talos API."""

from __future__ import annotations

from stockman.model.record import record


@record
class ProxmoxAccess:
    """The user, role and token that a component has in Proxmox VE."""

    user: str
    """`stockman-csi@pve`."""
    token: str
    """Name of its token."""
    role: str
    privileges: tuple[str, ...]
    privileges_from_9: tuple[str, ...] = ()
    """Further privileges, which Proxmox VE has from version 9 on."""
    paths: tuple[str, ...] = ("/",)
    """Where the role is given, to the user and to its token."""


@record
class TalosAccess:
    """The role with which a component reaches the Talos API from inside of the cluster."""

    role: str
    """As in its facts, from which machine configurations allow it."""
    secret: str
    """Secret that Talos makes for it."""
