"""Starts, stops and restarts guests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from stockman.model.errors import Conflict, NotFound, Rejected, Uncertain
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.vms import GuestRef, VmConfig, VmStatus, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.vm.identity import GuestAction, GuestIdentity, LocatedGuest, require_guest
from stockman.steps.vm.values import same_value

RUNNING, STOPPED = "running", "stopped"
_INTERVAL = 2.0
_SECONDS = 120.0


@record
class GuestPower:
    """A guest and its power state."""

    guest: LocatedGuest
    now: VmStatus

    @property
    def is_on(self) -> bool:
        return self.now.status == RUNNING


@record
class StartVm(GuestAction):
    """Start a guest."""

    kind: ClassVar[str] = "vm.start"
    afterwards: Mapping[str, str] = field(default_factory=dict)
    """Values that are set after the start."""

    @property
    def summary(self) -> str:
        return f"start {self.vm.label}"

    async def done(self, ports: Ports) -> bool:
        seen = await guest_power(ports, self.vm, self.host)
        ports.read_cache.store(self.vm.touched, seen)
        return seen.is_on and not self._missing(seen.guest.config)

    async def attempt(self, ports: Ports) -> None:
        seen = ports.read_cache.take(self.vm.touched)
        if not isinstance(seen, GuestPower):
            seen = await guest_power(ports, self.vm, self.host)
        if not seen.is_on:
            await _power_on(ports.on(self.vm.cluster), seen.guest.at)
            if seen.now.ha_managed:
                await wait_for_status(ports, self.vm, self.host, RUNNING)
            if self.afterwards:
                seen = await guest_power(ports, self.vm, self.host)
        if seen.is_on:
            await self._change(ports, seen.guest)

    async def _change(self, ports: Ports, guest: LocatedGuest) -> None:
        pve = ports.on(self.vm.cluster)
        if values := self._missing(guest.config):
            await ports.permit()
            change = VmUpdate(values=values, digest=guest.config.digest)
            await pve.wait_task(await pve.update_vm(guest.at, change))

    def _missing(self, config: VmConfig) -> dict[str, str]:
        desired = self.afterwards.items()
        return {k: value for k, value in desired if not same_value(k, value, config.values.get(k))}


@record
class StopVm(GuestAction):
    """Shut down a guest, and power it off after a timeout."""

    kind: ClassVar[str] = "vm.stop"
    seconds: int = 180
    """Timeout of the shutdown."""

    @property
    def summary(self) -> str:
        return f"stop {self.vm.label}"

    async def done(self, ports: Ports) -> bool:
        return await guest_status(ports, self.vm, self.host) == STOPPED

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        at = (await require_guest(ports, self.vm, self.host)).at
        if (await pve.vm_status(at)).status == STOPPED:
            return
        task = await pve.shutdown_vm(at, seconds=self.seconds, force=True)
        await pve.wait_task(task, self.seconds + _SECONDS)
        await wait_for_status(ports, self.vm, self.host, STOPPED)


@record
class RestartVm(GuestAction):
    """Restart a guest, so that pending values become effective."""

    kind: ClassVar[str] = "vm.restart"
    keys: tuple[str, ...]
    """Keys with pending values."""
    seconds: int = 180

    @property
    def summary(self) -> str:
        return f"restart {self.vm.label} for {', '.join(self.keys)}"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.host)
        pve = ports.on(self.vm.cluster)
        waiting = [
            entry.key
            for entry in await pve.vm_pending(seen.at)
            if entry.key in self.keys and (entry.pending is not None or entry.is_deleted)
        ]
        return not waiting and (await pve.vm_status(seen.at)).status == RUNNING

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        at = (await require_guest(ports, self.vm, self.host)).at
        now = await pve.vm_status(at)
        if now.status == RUNNING and now.ha_managed:
            await self._reboot(ports, at)
        elif now.status == RUNNING:
            task = await pve.shutdown_vm(at, seconds=self.seconds, force=True)
            await pve.wait_task(task, self.seconds + _SECONDS)
            await wait_for_status(ports, self.vm, self.host, STOPPED)
        if (await pve.vm_status(at)).status != RUNNING:
            await ports.permit()
            await _power_on(pve, at)
        await wait_for_status(ports, self.vm, self.host, RUNNING)

    async def _reboot(self, ports: Ports, at: GuestRef) -> None:
        """Reboot a guest, because HA would keep it off after a shutdown; power it off if it does
        not react."""
        pve = ports.on(self.vm.cluster)
        try:
            task = await pve.reboot_vm(at, seconds=self.seconds)
            await pve.wait_task(task, self.seconds + _SECONDS)
        except Rejected:
            if await self.done(ports):
                return
            await ports.permit()
            await pve.wait_task(await pve.stop_vm(at), _SECONDS)
            await wait_for_status(ports, self.vm, self.host, STOPPED)


@record
class RestartHaltedVm(GuestAction):
    """Power a VM off and on that QEMU halted after an error, so that nothing runs in it."""

    kind: ClassVar[str] = "vm.restart-halted"

    @property
    def summary(self) -> str:
        return f"power {self.vm.label} off and on"

    async def done(self, ports: Ports) -> bool:
        now = (await guest_power(ports, self.vm, self.host)).now
        return now.status == RUNNING and not now.is_halted

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await guest_power(ports, self.vm, self.host)
        if seen.now.is_halted:
            await pve.wait_task(await pve.stop_vm(seen.guest.at), _SECONDS)
            await wait_for_status(ports, self.vm, self.host, STOPPED)
        await ports.permit()
        await _power_on(pve, seen.guest.at)
        await wait_for_status(ports, self.vm, self.host, RUNNING)


async def guest_status(ports: Ports, vm: GuestIdentity, host: HostName) -> str:
    """Return the status of a guest from its host, because the list of guests is outdated."""
    return (await guest_power(ports, vm, host)).now.status


async def guest_power(ports: Ports, vm: GuestIdentity, host: HostName) -> GuestPower:
    """Return a guest and its power state, with parallel calls to its expected host."""
    pve = ports.on(vm.cluster)
    expected = GuestRef(host=host, vmid=vm.vmid, kind=vm.kind)
    guest, now = await asyncio.gather(require_guest(ports, vm, host), _status_at(pve, expected))
    if guest.at != expected or now is None:
        now = await pve.vm_status(guest.at)
    return GuestPower(guest=guest, now=now)


async def _status_at(pve: ProxmoxClient, at: GuestRef) -> VmStatus | None:
    """Return the status of a guest. None: it is not on this host."""
    try:
        return await pve.vm_status(at)
    except NotFound:
        return None


async def wait_for_status(ports: Ports, vm: GuestIdentity, host: HostName, *expected: str) -> None:
    """Wait until a guest is in one of these states, or until a timeout."""
    begun = ports.clock.now()
    while await guest_status(ports, vm, host) not in expected:
        # High availability does what it was asked for some time later.
        if (ports.clock.now() - begun).total_seconds() > _SECONDS:
            return
        await ports.clock.sleep(_INTERVAL)


async def _power_on(pve: ProxmoxClient, at: GuestRef) -> None:
    try:
        await pve.wait_task(await pve.start_vm(at), _SECONDS)
    except (Conflict, Rejected, Uncertain):
        # The guest knows better than the task whether it runs.
        if (await pve.vm_status(at)).status != RUNNING:
            raise
