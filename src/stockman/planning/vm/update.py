"""Plans changes of existing guests: moves to another host, settings, disks and restarts."""

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
from stockman.steps.vm.power import RUNNING, RestartHaltedVm, RestartVm
from stockman.steps.vm.system_disk import has_no_disk

_NODE_CARD = "net0"
"""The card with the address of the node."""
_DEVICE = re.compile(r"(?:hostpci|usb)\d+")


def move_step(
    desired: DesiredGuest, guest: GuestSummary, config: VmConfig, needs: tuple[str, ...]
) -> Step:
    """Return the step that moves a guest to its configured host."""
    name, cluster = desired.identity.name, desired.identity.cluster
    held = _passthrough_keys(config) if guest.status == RUNNING and guest.kind == "qemu" else ()
    why = f"it is on {guest.host}, should be on {desired.host}"
    return Step(
        id=offline_move_step_id(name) if held else f"vms/move/{name}",
        action=MoveVm(vm=desired.identity, host=guest.host, target=desired.host, down=bool(held)),
        stage=Stage.VMS,
        reason=f"{why}; {', '.join(held)} cannot move while it runs" if held else why,
        gates=(
            ProxmoxQuorum(cluster=cluster),
            HostOnline(cluster=cluster, host=desired.host),
        ),
        needs=needs,
        deadline=3600.0,
        lanes=(f"host/{cluster}/{guest.host}", f"host/{cluster}/{desired.host}"),
        node=name,
        seconds=60.0,
    )


def offline_move_step_id(name: str) -> str:
    """Return the id of the step that moves a VM while it is powered off."""
    return f"vms/carry/{name}"


def is_offline_move(step: Step) -> bool:
    """Whether a step powers a VM off to move it."""
    return isinstance(step.action, MoveVm) and step.action.down


def _passthrough_keys(config: VmConfig) -> tuple[str, ...]:
    """Return keys with devices of the host, which cannot move with a running VM."""
    devices = (key for key, value in config.values.items() if "spice" not in value)
    return tuple(sorted(key for key in devices if _DEVICE.fullmatch(key)))


def plan_updates(
    observed: ObservedProxmox,
    desired: DesiredGuest,
    guest: GuestSummary,
    config: VmConfig,
    needs: tuple[str, ...],
) -> Iterator[ProxmoxChange]:
    """Plan the differences of an existing guest."""
    name, last = desired.identity.name, needs
    host = guest.host
    is_ha_managed = desired.ha is not None and desired.ha.enabled
    if host != desired.host and not is_ha_managed and observed.is_online(host):
        move = move_step(desired, guest, config, last)
        off = ", powered off during the move" if is_offline_move(move) else ""
        yield _change(
            desired, f"{desired.identity.label} moves to {desired.host}{off}", move.reason, (move,)
        )
        last, host = (move.id,), desired.host
    difference = guest_difference(desired, config)
    never_ran = guest.status == "stopped" and is_new(config)
    if never_ran and not desired.is_node:
        difference = ignore_key(difference, "description")
    if guest.status == "stopped":
        # Everything becomes effective at the next start, and somebody may want it powered off.
        difference = replace(difference, restart=())
    steps = tuple(_update_steps(observed, desired, host, difference, last))
    if steps:
        disks = (*difference.grow, *difference.attach, *difference.detach, *difference.mount)
        keys = ", ".join((*difference.values, *difference.delete, *disks))
        tail = (
            f"; needs a restart for {', '.join(difference.restart)}" if difference.restart else ""
        )
        if desired.is_node and guest.status == RUNNING and _NODE_CARD in difference.values:
            tail += "; interrupts the network of the node"
        why = "; ".join(difference.reasons)
        summary = (
            f"{desired.identity.label}: {keys}{tail}"
            if keys
            else f"{desired.identity.label}{tail[1:]}"
        )
        yield _change(desired, summary, why, steps)
    wants_running = not is_ha_managed or (desired.ha is not None and desired.ha.state == "started")
    is_whole = desired.imported_disk is None or not has_no_disk(config)
    starts = (desired.is_node or never_ran) and wants_running and is_whole
    if guest.status == "stopped" and starts:
        after = (*last, *(step.id for step in steps if not isinstance(step.action, RestartVm)))
        why = f"{name} was never started" if never_ran else f"{name} is not running"
        start = start_step(desired, host, after, why, first=never_ran and not desired.is_node)
        yield _change(desired, f"{desired.identity.label} starts", start.reason, (start,))


def plan_halted_restart(
    desired: DesiredGuest, guest: GuestSummary, needs: tuple[str, ...]
) -> ProxmoxChange:
    """Plan that a VM that QEMU halted is powered off and on."""
    name = desired.identity.name
    step = Step(
        id=f"vms/restart-halted/{name}",
        action=RestartHaltedVm(vm=desired.identity, host=guest.host),
        stage=Stage.VMS,
        reason=f"QEMU halted it: {guest.qmp_status}",
        gates=(HostOnline(cluster=desired.identity.cluster, host=guest.host),),
        needs=needs,
        node=name,
        seconds=90.0,
    )
    return _change(desired, f"{desired.identity.label} is powered off and on", step.reason, (step,))


def _update_steps(
    observed: ObservedProxmox,
    desired: DesiredGuest,
    host: HostName,
    difference: GuestDifference,
    needs: tuple[str, ...],
) -> Iterator[Step]:
    name, last = desired.identity.name, needs
    for slot, gib in difference.grow.items():
        step = grow_disk_step(desired, slot, gib, last, host)
        last = (step.id,)
        yield step
    for disk in difference.detach:
        step = Step(
            id=f"vms/detach/{name}/{disk}",
            action=DetachDisk(vm=desired.identity, host=host, name=disk),
            stage=Stage.VMS,
            reason=f"disk {disk} is not configured",
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    for disk, slot in difference.attach.items():
        number = [disk.name for disk in desired.disks].index(disk) + 1
        step = attach_disk_step(observed, desired, number, slot, last)
        last = (step.id,)
        yield step
    for path, slot in difference.mount.items():
        step = Step(
            id=f"vms/mount/{name}/{slot}",
            action=attach_mount_action(desired, host, path, slot),
            stage=Stage.VMS,
            reason=f"mount point {path} is missing",
            gates=(HostOnline(cluster=desired.identity.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if difference.values or difference.delete:
        step = Step(
            id=f"vms/configure/{name}",
            action=ConfigureVm(
                vm=desired.identity,
                host=host,
                values=difference.values,
                delete=tuple(difference.delete),
            ),
            stage=Stage.VMS,
            reason="; ".join(difference.reasons),
            gates=(HostOnline(cluster=desired.identity.cluster, host=host),),
            needs=last,
            node=name,
        )
        last = (step.id,)
        yield step
    if difference.restart:
        yield Step(
            id=f"vms/restart/{name}",
            action=RestartVm(vm=desired.identity, host=host, keys=difference.restart),
            stage=Stage.VMS,
            reason=f"{', '.join(difference.restart)} cannot change while it runs",
            needs=last,
            node=name,
            seconds=90.0,
        )


def _change(
    desired: DesiredGuest, summary: str, why: str, steps: tuple[Step, ...]
) -> ProxmoxChange:
    return ProxmoxChange(
        region=desired.identity.cluster,
        what=summary,
        why=why,
        mark=ChangeKind.CHANGE,
        stage=Stage.VMS,
        node=desired.identity.name,
        steps=steps,
    )
