"""What a host that died left of a guest while it made it: who can unlock it, and how it goes away.

Proxmox VE keeps a new guest under a lock until everything is written into it in one go. No token
can take that lock away, nor does a host that starts again: root has to. What is left then says
nothing at all, and may have volumes that nothing refers to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from stockman.model.errors import Conflict, NotFound, Refused, Rejected
from stockman.model.names import Datastore, HostName
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.storages import Volume
from stockman.proxmox.tasks import TaskRef, TaskSummary
from stockman.proxmox.vms import VmConfig, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.vm import problems
from stockman.steps.vm.identity import GuestIdentity, LocatedGuest, find_guest, require_guest
from stockman.steps.vm.power import STOPPED
from stockman.steps.vm.values import same_value

_EMPTY_VOLUME_SIZE = 4 << 20
"""Bytes of the largest volume of firmware, TPM or cloud-init; nobody keeps data in one."""
_GUEST_CONTENTS = ("images", "rootdir")


async def is_being_created(pve: ProxmoxClient, vm: GuestIdentity, host: HostName) -> bool:
    """Whether a task of a host works on a guest, or the last one that did may still."""
    tasks = await pve.past_tasks(host)
    return any(task.subject == str(vm.vmid) and task.ended is None for task in tasks)


async def guest_volumes(
    pve: ProxmoxClient, vm: GuestIdentity, host: HostName, storages: Iterable[Datastore]
) -> tuple[Volume, ...]:
    """Volumes that carry the number of a guest; a storage that a host does not have has none."""
    volumes: list[Volume] = []
    for storage in dict.fromkeys(storages):
        try:
            stored = await pve.volumes(host, storage)
        except NotFound:
            continue
        volumes += (
            volume
            for volume in stored
            if volume.content in _GUEST_CONTENTS and volume.vmid == vm.vmid
        )
    return tuple(volumes)


def volumes_worth_keeping(volumes: Iterable[Volume]) -> tuple[str, ...]:
    """Volumes that may hold what somebody needs."""
    return tuple(
        volume.id for volume in volumes if volume.size is None or volume.size > _EMPTY_VOLUME_SIZE
    )


async def delete_blank_guest(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, storages: Iterable[Datastore]
) -> None:
    """Remove a guest in which nothing is, with what was made for it.

    Its volumes go first: as long as it is there, whoever goes on knows whose they are.
    """
    pve = ports.on(vm.cluster)
    volumes = await guest_volumes(pve, vm, seen.at.host, storages)
    if kept := volumes_worth_keeping(volumes):
        raise Refused(problems.leftover_volumes(vm.vmid, vm.name, kept))
    for volume in volumes:
        await ports.permit()
        await pve.wait_task(await pve.delete_volume(seen.at.host, volume.id))
    await ports.permit()
    await pve.wait_task(await pve.delete_vm(seen.at, purge=False))


MARKER = "description"
_MAKING = "vzcreate"
"""How Proxmox VE calls the task."""
_TASKS = 500


def has_marker(config: VmConfig, text: str) -> bool:
    """Whether this is what a guest says of itself."""
    return same_value(MARKER, text, config.values.get(MARKER))


async def find_incomplete_container(
    ports: Ports, vm: GuestIdentity, host: HostName, mark: str, patience: float
) -> LocatedGuest | None:
    """A container that nobody makes any more and that is not whole. None: it is whole, or gone.

    `Refused` where it runs, or somebody worked on it afterwards: then it may hold what is needed.
    """
    pve = ports.on(vm.cluster)
    seen = await find_guest(ports, vm, host)
    if seen is None or not has_marker(seen.config, mark):
        return None
    last = await _last_task(pve, vm, seen.at.host)
    if last is not None and last.ended is None:
        with suppress(NotFound, Conflict, Rejected):  # how it ended is seen by what is there
            await pve.wait_task(TaskRef.parse(last.upid), patience)
        return await find_incomplete_container(ports, vm, host, mark, patience)
    if last is not None and last.kind == _MAKING and _is_success(last):
        return None
    is_off = (await pve.vm_status(seen.at)).status == STOPPED
    if last is None or last.kind != _MAKING or not is_off:
        raise Refused(problems.incomplete_guest(vm.vmid, vm.name, seen.at.host))
    return seen


async def delete_incomplete_container(ports: Ports, vm: GuestIdentity, seen: LocatedGuest) -> None:
    """Delete a container that is not whole, with its volumes; it never ran."""
    pve = ports.on(vm.cluster)
    await ports.permit()
    await pve.wait_task(await pve.delete_vm(seen.at, purge=False))


async def mark_complete(
    ports: Ports, vm: GuestIdentity, host: HostName, values: Mapping[str, str]
) -> None:
    """Let a container that is whole say so."""
    seen = await require_guest(ports, vm, host)
    current = seen.config.values
    lacking = {
        key: value for key, value in values.items() if not same_value(key, value, current.get(key))
    }
    if not lacking:
        return
    pve = ports.on(vm.cluster)
    await ports.permit()
    await pve.wait_task(
        await pve.update_vm(seen.at, VmUpdate(values=lacking, digest=seen.config.digest))
    )


async def _last_task(pve: ProxmoxClient, vm: GuestIdentity, host: HostName) -> TaskSummary | None:
    """What a host did last about a guest. None: it does not know any more."""
    tasks = await pve.past_tasks(host, _TASKS)
    return next((task for task in tasks if task.subject == str(vm.vmid)), None)


def _is_success(task: TaskSummary) -> bool:
    return task.status == "OK" or task.status.startswith("WARNINGS: ")
