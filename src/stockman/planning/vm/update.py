"""Guests that go to another host: while they run, or switched off where devices hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from stockman.model.names import HostName
from stockman.planning.change import ChangeKind, ProxmoxChange
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.vm.desired import DesiredGuest
from stockman.planning.vm.difference import GuestDifference, guest_difference, ignore_key
from stockman.planning.vm.disks import attach_disk_step, attach_mount_action, grow_disk_step
from stockman.planning.vm.first_start import is_new, start_step
from stockman.proxmox.cluster import GuestSummary
from stockman.proxmox.vms import VmConfig
from stockman.steps.step import Stage, Step
from stockman.steps.vm.configure import ConfigureVm, MoveVm
from stockman.steps.vm.disks import DetachDisk
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum
from stockman.steps.vm.power import RUNNING, RestartVm
from stockman.steps.vm.system_disk import has_no_disk

_DEVICE = re.compile(r"(?:hostpci|usb)\d+")


def move_step(
    wish: DesiredGuest, guest: GuestSummary, config: VmConfig, needs: tuple[str, ...]
) -> Step:
    """The step that brings a guest to the host that is asked for."""
    name, cluster = wish.who.name, wish.who.cluster
    held = _passthrough_keys(config) if guest.status == RUNNING and guest.kind == "qemu" else ()
    why = f"it is on {guest.host}, and {wish.host} is asked for"
    return Step(
        id=offline_move_step_id(name) if held else f"vms/move/{name}",
        action=MoveVm(vm=wish.who, host=guest.host, target=wish.host, down=bool(held)),
        stage=Stage.VMS,
        reason=f"{why}; {', '.join(held)} cannot move while it runs" if held else why,
        gates=(
            ProxmoxQuorum(cluster=cluster),
            HostOnline(cluster=cluster, host=wish.host),
        ),
        needs=needs,
        deadline=3600.0,
        lanes=(f"host/{cluster}/{guest.host}", f"host/{cluster}/{wish.host}"),
        node=name,
        seconds=60.0,
    )


def offline_move_step_id(name: str) -> str:
    """The step that brings a VM to another host while it is switched off."""
    return f"vms/carry/{name}"


def is_offline_move(step: Step) -> bool:
    """Whether a step switches a VM off on its way."""
    return isinstance(step.action, MoveVm) and step.action.down


def _passthrough_keys(config: VmConfig) -> tuple[str, ...]:
    """Keys with devices of the host, which are passed on to nobody who runs."""
    found = (key for key, value in config.values.items() if "spice" not in value)
    return tuple(sorted(key for key in found if _DEVICE.fullmatch(key)))


def plan_updates(
    seen: ObservedProxmox,
    wish: DesiredGuest,
    guest: GuestSummary,
    config: VmConfig,
    needs: tuple[str, ...],
) -> Iterator[ProxmoxChange]:
    """What differs about a guest that is there."""
    name, last = wish.who.name, needs
    host = guest.host
    looked_after = wish.ha is not None and wish.ha.enabled
    if host != wish.host and not looked_after and seen.is_online(host):
        move = move_step(wish, guest, config, last)
        off = ", switched off on the way" if is_offline_move(move) else ""
        yield _change(wish, f"{wish.who.called} moves to {wish.host}{off}", move.reason, (move,))
        last, host = (move.id,), wish.host
    found = guest_difference(wish, config)
    never_ran = guest.status == "stopped" and is_new(config)
    if never_ran:
        found = ignore_key(found, "description")
    if guest.status == "stopped":
        # Everything is true at once, and whoever switched it off may want it so.
        found = replace(found, restart=())
    made = tuple(_update_steps(seen, wish, host, found, last))
    if made:
        disks = (*found.grow, *found.attach, *found.detach, *found.mount)
        keys = ", ".join((*found.values, *found.delete, *disks))
        tail = f"; needs a restart for {', '.join(found.restart)}" if found.restart else ""
        why = "; ".join(found.reasons)
        what = f"{wish.who.called}: {keys}{tail}" if keys else f"{wish.who.called}{tail[1:]}"
        yield _change(wish, what, why, made)
    wants_running = not looked_after or (wish.ha is not None and wish.ha.state == "started")
    is_whole = wish.copied is None or not has_no_disk(config)
    starts = (wish.is_node or never_ran) and wants_running and is_whole
    if guest.status == "stopped" and starts:
        after = (*last, *(step.id for step in made if not isinstance(step.action, RestartVm)))
        why = f"{name} was never started" if never_ran else f"{name} does not run"
        start = start_step(wish, host, after, why, first=never_ran)
        yield _change(wish, f"{wish.who.called} is started", start.reason, (start,))


def _update_steps(
    seen: ObservedProxmox,
    wish: DesiredGuest,
    host: HostName,
    found: GuestDifference,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    name, last = wish.who.name, needs
    for slot, gib in found.grow.items():
        step = grow_disk_step(wish, slot, gib, last, host)
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
        step = attach_disk_step(seen, wish, number, slot, last)
        last = (step.id,)
        yield step
    for path, slot in found.mount.items():
        step = Step(
            id=f"vms/mount/{name}/{slot}",
            action=attach_mount_action(wish, host, path, slot),
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


def _change(wish: DesiredGuest, what: str, why: str, made: tuple[Step, ...]) -> ProxmoxChange:
    return ProxmoxChange(
        region=wish.who.cluster,
        what=what,
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.VMS,
        node=wish.who.name,
        steps=made,
    )
