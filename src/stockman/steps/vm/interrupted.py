"""Guests whose host failed during their creation: detection and deletion.

Proxmox VE keeps a new guest locked until all of its values are written at once. Neither a token nor
a restart of the host removes that lock, only root can. The unlocked guest has no values, and may
have volumes that it does not refer to.
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
"""Maximum bytes of a firmware, TPM or cloud-init volume, which contains no user data."""
_GUEST_CONTENTS = ("images", "rootdir")


async def is_being_created(pve: ProxmoxClient, vm: GuestIdentity, host: HostName) -> bool:
    """Return whether a task of a host is working on a guest."""
    tasks = await pve.past_tasks(host)
    return any(task.subject == str(vm.vmid) and task.ended is None for task in tasks)


async def guest_volumes(
    pve: ProxmoxClient, vm: GuestIdentity, host: HostName, storages: Iterable[Datastore]
) -> tuple[Volume, ...]:
    """Return volumes with the VMID of a guest; storages that the host does not have are skipped."""
    volumes: list[Volume] = []
    for storage in dict.fromkeys(storages):
        for content in _GUEST_CONTENTS:
            # Without both filters Proxmox VE checks access to every volume of the storage.
            try:
                stored = await pve.volumes(host, storage, content=content, vmid=vm.vmid)
            except NotFound:
                break
            volumes += (volume for volume in stored if volume.vmid == vm.vmid)
    return tuple(volumes)


def volumes_worth_keeping(volumes: Iterable[Volume]) -> tuple[str, ...]:
    """Return the ids of volumes that may contain data."""
    return tuple(
        volume.id for volume in volumes if volume.size is None or volume.size > _EMPTY_VOLUME_SIZE
    )


async def delete_blank_guest(
    ports: Ports, vm: GuestIdentity, seen: LocatedGuest, storages: Iterable[Datastore]
) -> None:
    """Delete a blank guest with the volumes that were created for it.

    Volumes are deleted first: while the guest exists, a resumed run knows that they belong to it.
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
"""Kind of the task in Proxmox VE."""
_TASKS = 500


def has_marker(config: VmConfig, text: str) -> bool:
    """Return whether the description of a guest is the given text."""
    return same_value(MARKER, text, config.values.get(MARKER))


async def find_incomplete_container(
    ports: Ports, vm: GuestIdentity, host: HostName, mark: str, patience: float
) -> LocatedGuest | None:
    """Return a container whose creation was interrupted. None: it is complete or does not exist.

    Raises `Refused` if it runs or was changed afterwards, because it may contain data then.
    """
    pve = ports.on(vm.cluster)
    seen = await find_guest(ports, vm, host)
    if seen is None or not has_marker(seen.config, mark):
        return None
    last = await _last_task(pve, vm, seen.at.host)
    if last is not None and last.ended is None:
        with suppress(NotFound, Conflict, Rejected):  # the volumes show the result
            await pve.wait_task(TaskRef.parse(last.upid), patience)
        return await find_incomplete_container(ports, vm, host, mark, patience)
    if last is not None and last.kind == _MAKING and _is_success(last):
        return None
    is_off = (await pve.vm_status(seen.at)).status == STOPPED
    if last is None or last.kind != _MAKING or not is_off:
        raise Refused(problems.incomplete_guest(vm.vmid, vm.name, seen.at.host))
    return seen


async def delete_incomplete_container(ports: Ports, vm: GuestIdentity, seen: LocatedGuest) -> None:
    """Delete an incomplete container, which never ran, with its volumes."""
    pve = ports.on(vm.cluster)
    await ports.permit()
    await pve.wait_task(await pve.delete_vm(seen.at, purge=False))


async def mark_complete(
    ports: Ports, vm: GuestIdentity, host: HostName, values: Mapping[str, str]
) -> None:
    """Mark a container as complete."""
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
    """Return the last task of a host for a guest. None: unknown."""
    tasks = await pve.past_tasks(host, _TASKS)
    return next((task for task in tasks if task.subject == str(vm.vmid)), None)


def _is_success(task: TaskSummary) -> bool:
    return task.status == "OK" or task.status.startswith("WARNINGS: ")
