"""Virtual machines and containers: what differs about them."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.drift.finding import Correction, Drift, DriftSeverity, Gap, Value
from stockman.app.drift.layer import Layer
from stockman.app.drift.proxmox_side import ProxmoxSide
from stockman.app.drift.task_authors import CHANGED, GONE, MADE, STOPPED, task_author
from stockman.planning.vm_checks import is_ours, is_to_be_made
from stockman.planning.vm_difference import difference
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.vm_disks import GIB, disk_size

_COSMETIC = frozenset({"description", "tags", "startup", "onboot"})
_GONE = "no guest has its number"


def vm_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Guests that are gone, are others, differ in their keys, or do not run."""
    if not side.is_known:
        return
    for wish in side.wishes:
        guest = side.seen.guest(wish.who.vmid)
        if guest is None:
            yield _missing(side, wish)
            continue
        config = side.seen.config(wish.who.vmid)
        if config is None:
            continue
        if not is_ours(wish, guest, config):
            yield _another(side, wish, config)
            continue
        if is_to_be_made(side.seen, wish):
            yield _half_made(side, wish)
            continue
        yield from _altered(side, wish, guest, config)


def vm_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Guests whose configuration could not be read."""
    for wish in side.wishes:
        unread = side.unread(wish.who.vmid)
        if unread is not None:
            yield Gap(layer=Layer.VMS, subject=wish.who.name, problem=unread.problem)


def idle(side: ProxmoxSide) -> frozenset[str]:
    """Nodes of which it is known that nothing runs there."""
    found = set()
    for wish in side.wishes if side.is_known else ():
        guest = side.seen.guest(wish.who.vmid)
        if guest is None or guest.status == "stopped":
            found.add(wish.who.name)
    return frozenset(found)


def _missing(side: ProxmoxSide, wish: GuestWish) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} is not there",
        why=_GONE,
        author=task_author(side.tasks, wish.who.vmid, GONE | MADE, side.own_user),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{wish.who.name}",),
    )


def _half_made(side: ProxmoxSide, wish: GuestWish) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} has no disk",
        why="making it was interrupted",
        author=task_author(side.tasks, wish.who.vmid, MADE | CHANGED, side.own_user),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{wish.who.name}",),
    )


def _another(side: ProxmoxSide, wish: GuestWish, config: VmConfig) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} is another machine",
        why="name, number and UUID belong together, and these are not those of the configuration",
        values=(
            Value(key="name", found=config.name, wanted=wish.who.name),
            Value(key="uuid", found=str(config.uuid or "none"), wanted=str(wish.who.uuid)),
        ),
        author=task_author(side.tasks, wish.who.vmid, MADE | CHANGED, side.own_user),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(
            command=f"give {wish.who.name} another vmid in nodes.yaml, or the machine its name and"
            " UUID back"
        ),
    )


def _altered(
    side: ProxmoxSide, wish: GuestWish, guest: GuestSeen, config: VmConfig
) -> Iterator[Drift]:
    values = tuple(_values(wish, config))
    name = wish.who.name
    if values:
        keys = {one.key for one in values}
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            what=f"{wish.who.called} differs",
            values=values,
            author=task_author(side.tasks, wish.who.vmid, CHANGED, side.own_user),
            severity=DriftSeverity.NOTICE if keys <= _COSMETIC else DriftSeverity.WARNING,
            claims=(
                *(f"vms/configure/{name}", f"vms/restart/{name}", f"vms/grow/{name}"),
                *(
                    f"vms/disk/{name}",
                    f"vms/detach/{name}",
                    f"nodes/drain/{name}",
                    f"nodes/back/{name}",
                ),
            ),
        )
    if guest.status == "stopped" and wish.is_node and not _may_be_off(side, wish):
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            what=f"{wish.who.called} does not run",
            values=(Value(key="status", found="stopped", wanted="running"),),
            author=task_author(side.tasks, wish.who.vmid, STOPPED, side.own_user),
            severity=DriftSeverity.CRITICAL,
            claims=(f"vms/start/{name}",),
        )


def _may_be_off(side: ProxmoxSide, wish: GuestWish) -> bool:
    """High availability starts what should run; what it was told to stop is its affair."""
    return side.is_looked_after(wish) and (wish.ha is None or wish.ha.state != "started")


def _values(wish: GuestWish, config: VmConfig) -> Iterator[Value]:
    found = difference(wish, config)
    for key, wanted in found.values.items():
        yield Value(key=key, found=config.values.get(key), wanted=wanted)
    for key in found.delete:
        yield Value(key=key, found=config.values[key], wanted=None)
    for slot, gib in found.grow.items():
        has = disk_size(config, slot) // GIB
        yield Value(key=f"{slot}.size", found=f"{has} GiB", wanted=f"{gib} GiB")
    for disk in found.attach:
        yield Value(key=f"disk {disk}", found=None, wanted="there")
    for disk in found.detach:
        yield Value(key=f"disk {disk}", found="there", wanted=None)
    for path in found.mount:
        yield Value(key=f"mount {path}", found=None, wanted="there")
