"""Guests, switched on, off and on again."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Rejected, Uncertain
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.ports.proxmox import Proxmox
from stockman.ports.proxmox.vms import GuestRef, VmStatus
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Identity, present
from stockman.steps.vm_patience import PatientAction

RUNNING, STOPPED = "running", "stopped"
_INTERVAL = 2.0
_SECONDS = 120.0


@record
class StartVm(PatientAction):
    """Switch a guest on."""

    kind: ClassVar[str] = "vm.start"
    vm: Identity
    host: HostName

    @property
    def summary(self) -> str:
        return f"start {self.vm.called}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        return await status(ports, self.vm, self.host) == RUNNING

    async def attempt(self, ports: Ports) -> None:
        at, now = await _running(ports, self.vm, self.host)
        if now.status == RUNNING:
            return
        await _switched_on(ports.on(self.vm.cluster), at)
        if now.ha_managed:
            await until(ports, self.vm, self.host, RUNNING)


@record
class StopVm(PatientAction):
    """Ask a guest to end, and switch it off where it does not."""

    kind: ClassVar[str] = "vm.stop"
    vm: Identity
    host: HostName
    seconds: int = 180
    """How long it is asked before it is switched off."""

    @property
    def summary(self) -> str:
        return f"stop {self.vm.called}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        return await status(ports, self.vm, self.host) == STOPPED

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        at = (await present(ports, self.vm, self.host)).at
        if (await pve.vm_status(at)).status == STOPPED:
            return
        task = await pve.shutdown_vm(at, seconds=self.seconds, force=True)
        await pve.wait_task(task, self.seconds + _SECONDS)
        await until(ports, self.vm, self.host, STOPPED)


@record
class RestartVm(PatientAction):
    """Switch a guest off and on, so that what waits for that becomes true."""

    kind: ClassVar[str] = "vm.restart"
    vm: Identity
    host: HostName
    keys: tuple[str, ...]
    """Keys whose values wait."""
    seconds: int = 180

    @property
    def summary(self) -> str:
        return f"restart {self.vm.called} for {', '.join(self.keys)}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        seen = await present(ports, self.vm, self.host)
        pve = ports.on(self.vm.cluster)
        waiting = [
            one.key
            for one in await pve.vm_pending(seen.at)
            if one.key in self.keys and (one.pending is not None or one.is_deleted)
        ]
        return not waiting and (await pve.vm_status(seen.at)).status == RUNNING

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        at = (await present(ports, self.vm, self.host)).at
        now = await pve.vm_status(at)
        if now.status == RUNNING and now.ha_managed:
            await self._rebooted(ports, at)
        elif now.status == RUNNING:
            task = await pve.shutdown_vm(at, seconds=self.seconds, force=True)
            await pve.wait_task(task, self.seconds + _SECONDS)
            await until(ports, self.vm, self.host, STOPPED)
        if (await pve.vm_status(at)).status != RUNNING:
            await ports.permit()
            await _switched_on(pve, at)
        await until(ports, self.vm, self.host, RUNNING)

    async def _rebooted(self, ports: Ports, at: GuestRef) -> None:
        """A reboot, as switching it off tells high availability to keep it off; a guest that does
        not care about that is switched off all the same."""
        pve = ports.on(self.vm.cluster)
        try:
            task = await pve.reboot_vm(at, seconds=self.seconds)
            await pve.wait_task(task, self.seconds + _SECONDS)
        except Rejected:
            if await self.done(ports):
                return
            await ports.permit()
            await pve.wait_task(await pve.stop_vm(at), _SECONDS)
            await until(ports, self.vm, self.host, STOPPED)


async def status(ports: Ports, vm: Identity, host: HostName) -> str:
    """How a guest runs, asked from its host and not from the list, which lags behind."""
    return (await _running(ports, vm, host))[1].status


async def _running(ports: Ports, vm: Identity, host: HostName) -> tuple[GuestRef, VmStatus]:
    """Where a guest is, and how it runs; both are asked at once where it is expected."""
    pve = ports.on(vm.cluster)
    expected = GuestRef(host=host, vmid=vm.vmid, kind=vm.kind)
    seen, now = await asyncio.gather(present(ports, vm, host), _status_at(pve, expected))
    if seen.at != expected or now is None:
        now = await pve.vm_status(seen.at)
    return seen.at, now


async def _status_at(pve: Proxmox, at: GuestRef) -> VmStatus | None:
    """None: it is not there."""
    try:
        return await pve.vm_status(at)
    except NotFound:
        return None


async def until(ports: Ports, vm: Identity, host: HostName, *wanted: str) -> None:
    """Return once a guest is in one of these states, or has had time to be."""
    begun = ports.clock.now()
    while await status(ports, vm, host) not in wanted:
        # High availability does what it was asked for some time later.
        if (ports.clock.now() - begun).total_seconds() > _SECONDS:
            return
        await ports.clock.sleep(_INTERVAL)


async def _switched_on(pve: Proxmox, at: GuestRef) -> None:
    try:
        await pve.wait_task(await pve.start_vm(at), _SECONDS)
    except (Conflict, Rejected, Uncertain):
        # The guest knows better than the task whether it runs.
        if (await pve.vm_status(at)).status != RUNNING:
            raise
