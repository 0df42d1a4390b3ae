"""Containers that a host did not live to finish, and how they are told from whole ones.

Proxmox VE writes everything into a new container, and takes its lock away, before it has set up
the system inside. A host that dies in between leaves a container that looks whole. So a new one
says in its description that it is unfinished, until the task that makes it has ended well.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from stockman.model.errors import Conflict, NotFound, Refused, Rejected
from stockman.model.names import HostName
from stockman.ports.proxmox import Proxmox
from stockman.ports.proxmox.tasks import PastTask, TaskRef
from stockman.ports.proxmox.vms import VmChange, VmConfig
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Found, Identity, found, present
from stockman.steps.vm_power import STOPPED
from stockman.steps.vm_values import same

SAID = "description"
_MAKING = "vzcreate"
"""How Proxmox VE calls the task."""
_TASKS = 500


def says(config: VmConfig, text: str) -> bool:
    """Whether this is what a guest says of itself."""
    return same(SAID, text, config.values.get(SAID))


async def cut_off(
    ports: Ports, vm: Identity, host: HostName, mark: str, patience: float
) -> Found | None:
    """A container that nobody makes any more and that is not whole. None: it is whole, or gone.

    `Refused` where it runs, or somebody worked on it afterwards: then it may hold what is needed.
    """
    pve = ports.on(vm.cluster)
    seen = await found(ports, vm, host)
    if seen is None or not says(seen.config, mark):
        return None
    last = await _last_task(pve, vm, seen.at.host)
    if last is not None and last.ended is None:
        with suppress(NotFound, Conflict, Rejected):  # how it ended is seen by what is there
            await pve.wait_task(TaskRef.parse(last.upid), patience)
        return await cut_off(ports, vm, host, mark, patience)
    if last is not None and last.kind == _MAKING and _ended_well(last):
        return None
    is_off = (await pve.vm_status(seen.at)).status == STOPPED
    if last is None or last.kind != _MAKING or not is_off:
        raise Refused(problems.half_made(vm.vmid, vm.name, seen.at.host))
    return seen


async def remove(ports: Ports, vm: Identity, seen: Found) -> None:
    """Delete a container that is not whole, with its volumes; it never ran."""
    pve = ports.on(vm.cluster)
    await ports.permit()
    await pve.wait_task(await pve.delete_vm(seen.at, purge=False))


async def complete(ports: Ports, vm: Identity, host: HostName, values: Mapping[str, str]) -> None:
    """Let a container that is whole say so."""
    seen = await present(ports, vm, host)
    there = seen.config.values
    lacking = {key: value for key, value in values.items() if not same(key, value, there.get(key))}
    if not lacking:
        return
    pve = ports.on(vm.cluster)
    await ports.permit()
    task = await pve.update_vm(seen.at, VmChange(values=lacking, digest=seen.config.digest))
    if task is not None:
        await pve.wait_task(task)


async def _last_task(pve: Proxmox, vm: Identity, host: HostName) -> PastTask | None:
    """What a host did last about a guest. None: it does not know any more."""
    tasks = await pve.past_tasks(host, _TASKS)
    return next((one for one in tasks if one.subject == str(vm.vmid)), None)


def _ended_well(task: PastTask) -> bool:
    return task.status == "OK" or task.status.startswith("WARNINGS: ")
