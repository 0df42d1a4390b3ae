"""Preconditions of changes in Proxmox VE."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from stockman.model.errors import Locked, NotFound, Refused
from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.proxmox.storages import Volume
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.ports import Ports
from stockman.steps.vm import problems
from stockman.steps.vm.identity import BlankGuest, GuestIdentity, LocatedGuest, find_guest
from stockman.steps.vm.interrupted import guest_volumes, is_being_created, volumes_worth_keeping

_GIB = 1 << 30


@record
class ProxmoxQuorum(Gate):
    """The Proxmox cluster has quorum."""

    kind: ClassVar[str] = "proxmox.quorum"
    cluster: str

    @property
    def summary(self) -> str:
        return f"the Proxmox cluster {self.cluster} has quorum"

    async def check(self, ports: Ports) -> Verdict:
        state = await ports.on(self.cluster).cluster_state()
        online = sum(member.online for member in state.members)
        seen = f"{online} of {len(state.members)} hosts are online"
        return Verdict(answer=GateAnswer.GO if state.quorate else GateAnswer.WAIT, because=seen)


@record
class HostOnline(Gate):
    """A host is online."""

    kind: ClassVar[str] = "proxmox.host"
    cluster: str
    host: HostName

    @property
    def summary(self) -> str:
        return f"Proxmox host {self.host} is online"

    async def check(self, ports: Ports) -> Verdict:
        state = await ports.on(self.cluster).cluster_state()
        for member in state.members:
            if member.name == self.host:
                seen = f"{self.host} is {'online' if member.online else 'offline'}"
                return Verdict(
                    answer=GateAnswer.GO if member.online else GateAnswer.WAIT, because=seen
                )
        names = ", ".join(member.name for member in state.members)
        return Verdict(answer=GateAnswer.STOP, because=f"the hosts are {names}")


@record
class StorageSpace(Gate):
    """A storage has enough free space on a host."""

    kind: ClassVar[str] = "proxmox.space"
    cluster: str
    host: HostName
    storage: Datastore
    bytes: int

    @property
    def summary(self) -> str:
        return f"{self.storage} on {self.host} has {self.bytes / _GIB:.1f} GiB of room"

    async def check(self, ports: Ports) -> Verdict:
        try:
            state = await ports.on(self.cluster).storage_state(self.host, self.storage)
        except NotFound:
            why = f"{self.host} has no storage {self.storage}"
            return Verdict(answer=GateAnswer.STOP, because=why)
        if not state.active:
            return Verdict(answer=GateAnswer.WAIT, because=f"{self.storage} is not active")
        seen = f"{state.free / _GIB:.1f} GiB are free, {self.bytes / _GIB:.1f} are needed"
        return Verdict(
            answer=GateAnswer.GO if state.free >= self.bytes else GateAnswer.STOP, because=seen
        )


@record
class VmidFreeOrOwned(Gate):
    """A VMID is free, or belongs to the planned guest."""

    kind: ClassVar[str] = "proxmox.vmid"
    vm: GuestIdentity
    host: HostName
    storage: Datastore | None = None
    """Storage that must not contain volumes of a free VMID. None: not checked."""

    @property
    def summary(self) -> str:
        return f"the number {self.vm.vmid} is free, or that of {self.vm.name}"

    async def check(self, ports: Ports) -> Verdict:
        try:
            seen, left = await asyncio.gather(
                self._find_guest(ports), self._leftovers(ports, self.host)
            )
        except BlankGuest as blank:
            return await self._check_blank_guest(ports, blank.seen)
        except Refused as error:
            return Verdict(
                answer=GateAnswer.STOP, because=f"{error.problem.what}: {error.problem.why}"
            )
        except Locked as error:
            return await self._check_lock(ports, error.problem.what)
        if seen is not None:
            because = f"it is {self.vm.name} on {seen.at.host}"
            return Verdict(answer=GateAnswer.GO, because=because)
        if left:
            return self._stop_for_leftovers(tuple(volume.id for volume in left))
        return Verdict(answer=GateAnswer.GO, because="it is free")

    def _stop_for_leftovers(self, volumes: tuple[str, ...]) -> Verdict:
        problem = problems.leftover_volumes(self.vm.vmid, self.vm.name, volumes)
        return Verdict(answer=GateAnswer.STOP, because=problem.why, fix=problem.fix)

    async def _find_guest(self, ports: Ports) -> LocatedGuest | None:
        """Return the guest; one call is enough if the VMID is free."""
        if await ports.on(self.vm.cluster).is_vmid_free(self.vm.vmid):
            return None
        return await find_guest(ports, self.vm, self.host)

    async def _leftovers(self, ports: Ports, host: HostName) -> tuple[Volume, ...]:
        """Return volumes with the VMID; a new guest would take over those of a deleted one."""
        storages = (self.storage,) if self.storage is not None else ()
        return await guest_volumes(ports.on(self.vm.cluster), self.vm, host, storages)

    async def _check_blank_guest(self, ports: Ports, seen: LocatedGuest) -> Verdict:
        """Open for an unlocked blank guest, which is recreated, unless volumes may hold data."""
        if left := volumes_worth_keeping(await self._leftovers(ports, seen.at.host)):
            return self._stop_for_leftovers(left)
        because = f"nothing is in {self.vm.vmid} on {seen.at.host}: making it was cut off"
        return Verdict(answer=GateAnswer.GO, because=because)

    async def _check_lock(self, ports: Ports, why: str) -> Verdict:
        """Wait while a task creates the guest; the lock of a failed host does not go away."""
        if await is_being_created(ports.on(self.vm.cluster), self.vm, self.host):
            return Verdict(answer=GateAnswer.WAIT, because=why)
        return Verdict(
            answer=GateAnswer.STOP,
            because=f"{self.vm.label} is locked and has no name, and no task of {self.host} makes"
            " it any more: the host died while it did; only root can unlock it, never a token",
            fix=problems.unlock_commands(self.vm.kind, self.vm.vmid, self.host),
        )
