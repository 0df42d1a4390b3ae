"""Guests that are no nodes: VMs and containers beside the cluster."""

from __future__ import annotations

from stockman.app.status import place_problems as say
from stockman.app.status.finding import HIDDEN, Finding, Item, unknown, warning
from stockman.app.status.health import Health, worst
from stockman.app.status.seen import Seen
from stockman.model.guest import Guest
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.planning.fact import Fact

_RUNS = "running"


@record
class GuestJudged:
    """A guest, and what is wrong with it."""

    item: Item
    findings: tuple[Finding, ...] = ()


def judged_guests(seen: Seen) -> tuple[GuestJudged, ...]:
    """Every guest of the configuration, those that are only watched too."""
    return tuple(_judged(one, seen) for one in seen.desired.guests)


def _judged(guest: Guest, seen: Seen) -> GuestJudged:
    region = _region(guest, seen)
    cluster = seen.proxmox(region)
    if cluster is None or not isinstance(cluster.resources, Fact):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        finding = unknown(f"guest {guest.name}", "Proxmox VE does not tell", fix)
        return _told(guest, "not known", finding)
    found = cluster.guest(Vmid(guest.vmid))
    if found is None and not cluster.shows_guests:
        return _told(guest, "not shown", unknown(f"guest {guest.name}", *HIDDEN))
    if found is None:
        is_watched = guest.manage == "observe"
        missing = say.guest_missing(guest.name, guest.vmid, region, is_watched=is_watched)
        return _told(guest, "missing", Finding(subject=guest.name, problem=missing))
    host = str(found.host)
    if (region, host) in seen.offline:
        return GuestJudged(
            item=Item(name=guest.name, health=Health.ERROR, seen=f"{host} is offline")
        )
    kind = "qemu" if guest.vm is not None else "lxc"
    if (found.kind, found.name) != (kind, guest.name):
        other = say.vm_identity(guest.name, guest.vmid, host, found.name, None)
        return _told(guest, "another guest", Finding(subject=guest.name, problem=other))
    findings = []
    if found.status == "unknown":
        why = f"Proxmox VE says nothing of {guest.vmid} on {host}"
        findings.append(unknown(f"guest {guest.name}", why, "look again with `stockman status`"))
    elif found.status != _RUNS:
        stopped = say.guest_stopped(guest.name, guest.vmid, host, found.status)
        findings.append(Finding(subject=guest.name, problem=warning(stopped)))
    if host != str(guest.host):
        moved = warning(say.vm_elsewhere(guest.name, guest.vmid, host, str(guest.host)))
        findings.append(Finding(subject=guest.name, problem=moved))
    return _told(guest, f"{found.status} on {host}", *findings)


def _told(guest: Guest, text: str, *findings: Finding) -> GuestJudged:
    health = worst(one.health for one in findings)
    return GuestJudged(item=Item(name=guest.name, health=health, seen=text), findings=findings)


def _region(guest: Guest, seen: Seen) -> str:
    """The Proxmox cluster that lists its host; the only one where there is one."""
    clusters = seen.desired.proxmox
    for one in clusters:
        if len(clusters) == 1 or str(guest.host) in one.hosts:
            return str(one.region)
    return ""
