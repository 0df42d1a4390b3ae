"""Virtual machines and containers: what differs about them."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.assessment.drift.proxmox import (
    CHANGE_TASKS,
    CREATE_TASKS,
    DELETE_TASKS,
    POWER_TASKS,
    ProxmoxSide,
    task_author,
)
from stockman.assessment.drift.report import (
    Correction,
    Drift,
    DriftSeverity,
    DriftValue,
    Gap,
    Layer,
)
from stockman.model.problem import Problems
from stockman.planning.access.problems import hidden_guests
from stockman.planning.vm.checks import is_ours, needs_creation
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.difference import guest_difference, pending_keys
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.disks import GIB, disk_size
from stockman.steps.vm.problems import creation_in_progress

_COSMETIC = frozenset({"description", "tags", "startup", "onboot"})
_GONE = "no guest has its number"


def vm_drifts(side: ProxmoxSide) -> Iterator[Drift]:
    """Guests that are gone, are others, differ in their keys, or do not run."""
    if not side.is_known:
        return
    for wish in side.wishes:
        guest = side.seen.guest(wish.who.vmid)
        if guest is None:
            if side.seen.shows_guests:
                yield _missing_guest(side, wish)
            continue
        config = side.seen.config(wish.who.vmid)
        if config is None:
            continue
        if side.seen.is_new(wish.who.vmid):
            yield _reserved_vmid(side, wish, guest)
            continue
        if not is_ours(wish, guest, config):
            yield _different_guest(side, wish, guest, config)
            continue
        if needs_creation(side.seen, wish):
            yield _incomplete_guest(side, wish)
            continue
        yield from _changed_keys(side, wish, guest, config)


def vm_gaps(side: ProxmoxSide) -> Iterator[Gap]:
    """Guests whose configuration could not be read, or that are not shown at all."""
    for wish in side.wishes:
        unread = side.unread(wish.who.vmid)
        if unread is not None:
            yield Gap(layer=Layer.VMS, subject=wish.who.name, problem=unread.problem)
    if side.is_known and not side.seen.shows_guests:
        hidden = Problems()
        hidden_guests(hidden, side.seen.name, side.cluster.where("token_id"))
        for problem in hidden:
            for layer in (Layer.VMS, Layer.PLACEMENT):
                yield Gap(layer=layer, subject=side.seen.name, problem=problem)


def idle_nodes(side: ProxmoxSide) -> frozenset[str]:
    """Nodes of which it is known that nothing runs there."""
    found = set()
    for wish in side.wishes if side.is_known else ():
        guest = side.seen.guest(wish.who.vmid)
        hidden = guest is None and not side.seen.shows_guests
        if not hidden and (guest is None or guest.status == "stopped"):
            found.add(wish.who.name)
    return frozenset(found)


def _missing_guest(side: ProxmoxSide, wish: DesiredGuest) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} is not there",
        why=_GONE,
        author=task_author(side.tasks, wish.who.vmid, DELETE_TASKS | CREATE_TASKS, side.own_user),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{wish.who.name}",),
    )


def _reserved_vmid(side: ProxmoxSide, wish: DesiredGuest, guest: GuestSummary) -> Drift:
    """A number that is taken for it, and has nothing in it: somebody makes it, or did."""
    problem = creation_in_progress(wish.who.kind, wish.who.vmid, wish.who.name, guest.host)
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} is not made yet",
        why="it has neither a name nor anything else: somebody makes it, or was interrupted",
        author=task_author(side.tasks, wish.who.vmid, CREATE_TASKS, side.own_user),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=problem.fix if guest.lock else ""),
        claims=(f"node:{wish.who.name}",),
        by_hand=bool(guest.lock),
    )


def _incomplete_guest(side: ProxmoxSide, wish: DesiredGuest) -> Drift:
    return Drift(
        layer=Layer.VMS,
        subject=wish.who.name,
        what=f"{wish.who.called} {'has no disk' if wish.who.kind == 'qemu' else 'is unfinished'}",
        why="making it was interrupted",
        author=task_author(side.tasks, wish.who.vmid, CREATE_TASKS | CHANGE_TASKS, side.own_user),
        severity=DriftSeverity.CRITICAL,
        claims=(f"node:{wish.who.name}",),
    )


def _different_guest(
    side: ProxmoxSide, wish: DesiredGuest, guest: GuestSummary, config: VmConfig
) -> Drift:
    name, vmid = wish.who.name, wish.who.vmid
    values = (
        DriftValue(key="name", found=config.name, wanted=name),
        DriftValue(key="uuid", found=str(config.uuid or "none"), wanted=str(wish.who.uuid)),
    )
    is_renamed = config.uuid == wish.who.uuid
    back = f"on {guest.host}: qm set {vmid} --name {name}"
    other = f"give {name} another vmid in nodes.yaml, or the machine its name and UUID back"
    return Drift(
        layer=Layer.VMS,
        subject=name,
        what=f"{wish.who.called} {'has another name' if is_renamed else 'is another machine'}",
        why="name, number and UUID belong together, and these are not those of the configuration",
        values=tuple(one for one in values if one.found != one.wanted),
        author=task_author(side.tasks, vmid, CREATE_TASKS | CHANGE_TASKS, side.own_user),
        severity=DriftSeverity.CRITICAL,
        correction=Correction(command=back if is_renamed else other),
    )


def _changed_keys(
    side: ProxmoxSide, wish: DesiredGuest, guest: GuestSummary, config: VmConfig
) -> Iterator[Drift]:
    values = tuple(_drift_values(wish, config))
    name = wish.who.name
    if values:
        keys = {one.key for one in values}
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            what=f"{wish.who.called} differs",
            values=values,
            author=task_author(side.tasks, wish.who.vmid, CHANGE_TASKS, side.own_user),
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
    left = [key for key in pending_keys(wish, config) if key not in {one.key for one in values}]
    if left:
        yield _pending_keys(side, wish, guest, config, left)
    if guest.status == "stopped" and wish.is_node and not _may_be_off(side, wish):
        yield Drift(
            layer=Layer.VMS,
            subject=name,
            what=f"{wish.who.called} does not run",
            values=(DriftValue(key="status", found="stopped", wanted="running"),),
            author=task_author(side.tasks, wish.who.vmid, POWER_TASKS, side.own_user),
            severity=DriftSeverity.CRITICAL,
            claims=(f"vms/start/{name}",),
        )


def _pending_keys(
    side: ProxmoxSide, wish: DesiredGuest, guest: GuestSummary, config: VmConfig, keys: list[str]
) -> Drift:
    """What was changed as it should be, and does not hold before the next start."""
    name, tool = wish.who.name, "qm" if wish.who.kind == "qemu" else "pct"
    return Drift(
        layer=Layer.VMS,
        subject=name,
        what=f"{wish.who.called} waits for a restart",
        why="it was changed while it runs, and its next start reads the change",
        values=tuple(
            DriftValue(key=key, found=config.waiting[key], wanted=config.values.get(key))
            for key in keys
        ),
        author=task_author(side.tasks, wish.who.vmid, CHANGE_TASKS, side.own_user),
        correction=Correction(
            command=f"restart it when it suits, on {guest.host}: {tool} reboot {wish.who.vmid}"
        ),
        claims=(f"vms/restart/{name}", f"nodes/drain/{name}", f"nodes/back/{name}"),
    )


def _may_be_off(side: ProxmoxSide, wish: DesiredGuest) -> bool:
    """High availability starts what should run; what it was told to stop is its affair."""
    return side.is_looked_after(wish) and (wish.ha is None or wish.ha.state != "started")


def _drift_values(wish: DesiredGuest, config: VmConfig) -> Iterator[DriftValue]:
    found = guest_difference(wish, config)
    for key, wanted in found.values.items():
        yield DriftValue(key=key, found=config.values.get(key), wanted=wanted)
    for key in found.delete:
        yield DriftValue(key=key, found=config.values[key], wanted=None)
    for slot, gib in found.grow.items():
        has = disk_size(config, slot) // GIB
        yield DriftValue(key=f"{slot}.size", found=f"{has} GiB", wanted=f"{gib} GiB")
    for disk in found.attach:
        yield DriftValue(key=f"disk {disk}", found=None, wanted="there")
    for disk in found.detach:
        yield DriftValue(key=f"disk {disk}", found="there", wanted=None)
    for path in found.mount:
        yield DriftValue(key=f"mount {path}", found=None, wanted="there")
