"""Checks that look at more than one path."""

from __future__ import annotations

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority


def may_use_bridge(
    authority: Authority, caller: Caller, zone: str, bridge: str, *privs: str
) -> bool:
    """Whether any of the privileges is held on a bridge, or on one of its VLANs."""
    path = f"/sdn/zones/{zone}/{bridge}"
    vlans = (found for found in authority.state.acl if found.startswith(f"{path}/"))
    return any(authority.allowed(caller, found, *privs, any_of=True) for found in (path, *vlans))
