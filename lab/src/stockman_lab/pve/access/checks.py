"""Checks that look at more than one path."""

from __future__ import annotations

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority


def check_guest(
    authority: Authority, caller: Caller, vmid: int, *privs: str, pool: str | None = None
) -> None:
    """Refuses who holds the privileges neither on the guest nor on the pool it is to join."""
    if pool and authority.allowed(caller, f"/pool/{pool}", *privs):
        return
    authority.check(caller, f"/vms/{vmid}", *privs)


def may_use_bridge(
    authority: Authority, caller: Caller, zone: str, bridge: str, *privs: str
) -> bool:
    """Whether any of the privileges is held on a bridge, or on one of its VLANs."""
    path = f"/sdn/zones/{zone}/{bridge}"
    vlans = (found for found in authority.state.acl if found.startswith(f"{path}/"))
    return any(authority.allowed(caller, found, *privs, any_of=True) for found in (path, *vlans))


def check_bridge(authority: Authority, caller: Caller, zone: str, bridge: str, *privs: str) -> None:
    """Refuses who holds none of the privileges on a bridge or on one of its VLANs."""
    if not may_use_bridge(authority, caller, zone, bridge, *privs):
        authority.check(caller, f"/sdn/zones/{zone}/{bridge}", *privs, any_of=True)
