"""What a host that died left of a guest while it made it: who can unlock it, and how it goes away.

Proxmox VE keeps a new guest under a lock until everything is written into it in one go. No token
can take that lock away, nor does a host that starts again: root has to. What is left then says
nothing at all, and may have volumes that nothing refers to.
"""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.errors import NotFound, Refused
from stockman.model.names import Datastore, HostName
from stockman.ports.proxmox import Proxmox
from stockman.ports.proxmox.storages import Volume
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Found, Identity

_SMALL = 4 << 20
"""Bytes of the largest volume of firmware, TPM or cloud-init; nobody keeps data in one."""
_OF_GUESTS = ("images", "rootdir")


async def is_being_made(pve: Proxmox, vm: Identity, host: HostName) -> bool:
    """Whether a task of a host works on a guest, or the last one that did may still."""
    tasks = await pve.past_tasks(host)
    return any(one.subject == str(vm.vmid) and one.ended is None for one in tasks)


async def volumes_of(
    pve: Proxmox, vm: Identity, host: HostName, storages: Iterable[Datastore]
) -> tuple[Volume, ...]:
    """Volumes that carry the number of a guest; a storage that a host does not have has none."""
    found: list[Volume] = []
    for storage in dict.fromkeys(storages):
        try:
            there = await pve.volumes(host, storage)
        except NotFound:
            continue
        found += (one for one in there if one.content in _OF_GUESTS and one.vmid == vm.vmid)
    return tuple(found)


def worth_keeping(volumes: Iterable[Volume]) -> tuple[str, ...]:
    """Volumes that may hold what somebody needs."""
    return tuple(one.id for one in volumes if one.size is None or one.size > _SMALL)


async def clear(ports: Ports, vm: Identity, seen: Found, storages: Iterable[Datastore]) -> None:
    """Remove a guest in which nothing is, with what was made for it.

    Its volumes go first: as long as it is there, whoever goes on knows whose they are.
    """
    pve = ports.on(vm.cluster)
    volumes = await volumes_of(pve, vm, seen.at.host, storages)
    if kept := worth_keeping(volumes):
        raise Refused(problems.leftovers(vm.vmid, vm.name, kept))
    for one in volumes:
        await ports.permit()
        task = await pve.delete_volume(seen.at.host, one.id)
        if task is not None:
            await pve.wait_task(task)
    await ports.permit()
    await pve.wait_task(await pve.delete_vm(seen.at, purge=False))
