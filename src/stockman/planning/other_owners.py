"""Other clusters of stockman in the same Proxmox cluster, which share its users and roles."""

from __future__ import annotations

from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.vm_mark import TAG, own_tags, read_mark


def other_owners(seen: ObservedProxmox, owner: str) -> tuple[str, ...]:
    """Other clusters whose machines are here, or ones that nobody can look at."""
    found, own = set[str](), set(own_tags(owner))
    for guest in seen.guests():
        if TAG not in guest.tags or own <= set(guest.tags):
            continue
        config = seen.config(guest.vmid)
        mark = read_mark(config.get("description")) if config is not None else None
        if config is None:
            found.add(f"VM {guest.vmid}, which cannot be looked at")
        elif mark is not None and mark.owner != owner:
            found.add(mark.owner)
    return tuple(sorted(found))
