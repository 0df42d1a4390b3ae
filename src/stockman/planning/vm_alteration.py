"""A guest that is there and differs: changed, moved, started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.model.names import HostName
from stockman.planning.change import Mark
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.proxmox_change import ProxmoxChange
from stockman.planning.vm_beginning import is_new, started
from stockman.planning.vm_difference import Difference, difference, without
from stockman.planning.vm_disk_steps import disk_attachment, growth
from stockman.planning.vm_mounts import mount_attachment
from stockman.planning.vm_moving import is_down, moving
from stockman.planning.vm_wanted import GuestWish
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm_configure import ConfigureVm
from stockman.steps.vm_disks import DetachDisk
from stockman.steps.vm_gates import HostOnline
from stockman.steps.vm_import import is_half_made
from stockman.steps.vm_power import RestartVm


def alterations(
    seen: ObservedProxmox,
    wish: GuestWish,
    guest: GuestSeen,
    config: VmConfig,
    needs: tuple[str, ...],
) -> Iterator[ProxmoxChange]:
    """What differs about a guest that is there."""
    name, last = wish.who.name, needs
    host = guest.host
    looked_after = wish.ha is not None and wish.ha.enabled
    if host != wish.host and not looked_after and seen.is_online(host):
        move = moving(wish, guest, config, last)
        off = ", switched off on the way" if is_down(move) else ""
        yield _change(wish, f"{wish.who.called} moves to {wish.host}{off}", move.reason, (move,))
        last, host = (move.id,), wish.host
    found = difference(wish, config)
    never_ran = guest.status == "stopped" and is_new(config)
    if never_ran:
        found = without(found, "description")
    if guest.status == "stopped":
        # Everything is true at once, and whoever switched it off may want it so.
        found = replace(found, restart=())
    made = tuple(_alteration_steps(seen, wish, host, found, last))
    if made:
        disks = (*found.grow, *found.attach, *found.detach, *found.mount)
        keys = ", ".join((*found.values, *found.delete, *disks))
        tail = f"; needs a restart for {', '.join(found.restart)}" if found.restart else ""
        why = "; ".join(found.reasons)
        what = f"{wish.who.called}: {keys}{tail}" if keys else f"{wish.who.called}{tail[1:]}"
        yield _change(wish, what, why, made)
    wants_running = not looked_after or (wish.ha is not None and wish.ha.state == "started")
    is_whole = wish.copied is None or not is_half_made(config)
    starts = (wish.is_node or never_ran) and wants_running and is_whole
    if guest.status == "stopped" and starts:
        after = (*last, *(step.id for step in made if not isinstance(step.action, RestartVm)))
        why = f"{name} was never started" if never_ran else f"{name} does not run"
        start = started(wish, host, after, why, first=never_ran)
        yield _change(wish, f"{wish.who.called} is started", start.reason, (start,))


def _alteration_steps(
    seen: ObservedProxmox,
    wish: GuestWish,
    host: HostName,
    found: Difference,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    name, last = wish.who.name, needs
    for slot, gib in found.grow.items():
        step = growth(wish, slot, gib, last, host)
        last = (step.id,)
        yield step
    for disk in found.detach:
        step = Step(
            id=f"vms/detach/{name}/{disk}",
            action=DetachDisk(vm=wish.who, host=host, name=disk),
            stage=Stage.VMS,
            reason=f"the configuration has no disk {disk}",
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    for disk, slot in found.attach.items():
        number = [one.name for one in wish.disks].index(disk) + 1
        step = disk_attachment(seen, wish, number, slot, last)
        last = (step.id,)
        yield step
    for path, slot in found.mount.items():
        step = Step(
            id=f"vms/mount/{name}/{slot}",
            action=mount_attachment(wish, host, path, slot),
            stage=Stage.VMS,
            reason=f"nothing is mounted at {path}",
            gates=(HostOnline(cluster=wish.who.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if found.values or found.delete:
        step = Step(
            id=f"vms/configure/{name}",
            action=ConfigureVm(
                vm=wish.who, host=host, values=found.values, delete=tuple(found.delete)
            ),
            stage=Stage.VMS,
            reason="; ".join(found.reasons),
            gates=(HostOnline(cluster=wish.who.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if found.restart:
        yield Step(
            id=f"vms/restart/{name}",
            action=RestartVm(vm=wish.who, host=host, keys=found.restart),
            stage=Stage.VMS,
            reason=f"{', '.join(found.restart)} cannot change while it runs",
            needs=last,
            node=name,
            seconds=90.0,
        )


def _change(wish: GuestWish, what: str, why: str, made: tuple[Step, ...]) -> ProxmoxChange:
    return ProxmoxChange(
        region=wish.who.cluster,
        what=what,
        why=why,
        mark=Mark.CHANGE,
        stage=Stage.VMS,
        node=wish.who.name,
        steps=made,
    )
