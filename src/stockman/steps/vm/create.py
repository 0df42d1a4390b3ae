"""Creates guests; the creation can be interrupted and resumed at any point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import ClassVar

from stockman.model.errors import Conflict, Locked, Refused
from stockman.model.names import Datastore
from stockman.model.record import record
from stockman.proxmox.vms import GuestRef, Setting, VmConfig, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.vm import interrupted, problems
from stockman.steps.vm.disks import BUSES
from stockman.steps.vm.identity import BlankGuest, GuestAction, find_guest, require_guest
from stockman.steps.vm.interrupted import delete_blank_guest, guest_volumes
from stockman.steps.vm.system_disk import CreationState, ImportedDisk, import_system_disk
from stockman.steps.vm.values import key_family

_INTERVAL = 2.0
_SLOW_TASK = ("onboot",)
"""Keys that are set when a guest is complete: a restarted host does not start it earlier."""
_VOLUMES = frozenset({*BUSES, "efidisk", "tpmstate", "rootfs"})


class _VmidState(Enum):
    """What is known about a VMID."""

    FREE = "free"
    OURS = "ours"
    """It belongs to the planned guest."""


@record
class CreateVm(GuestAction):
    """Create a stopped guest with its first disks."""

    kind: ClassVar[str] = "vm.create"
    values: Mapping[str, str]
    """Its values in the syntax of Proxmox VE."""
    secrets: Mapping[str, SecretRef] = field(default_factory=dict)
    """Secret values by key; they are set after the creation, because Proxmox VE hashes passwords
    only in updates."""
    disk: ImportedDisk | None = None
    """Disk that is imported after the creation. None: all disks are among the values."""
    unfinished: str = ""
    """Description of a container until it is complete. Empty: it is complete once it exists."""
    patience: float = 900.0
    """Seconds to wait for another task that creates it."""

    @property
    def summary(self) -> str:
        return f"create {self.vm.label} on {self.host}"

    async def done(self, ports: Ports) -> bool:
        is_made = ports.read_cache.take(self.vm.touched) is _VmidState.OURS
        if not is_made and await ports.on(self.vm.cluster).is_vmid_free(self.vm.vmid):
            ports.read_cache.store(self.vm.touched, _VmidState.FREE)
            return False
        try:
            seen = await find_guest(ports, self.vm, self.host)
        except (Locked, BlankGuest):
            return False
        if seen is None or seen.lock:
            return False
        if self.unfinished:
            return not interrupted.has_marker(seen.config, self.unfinished)
        if self._missing_secrets(seen.config):
            return False
        if self.disk is None:
            return True
        making = self._making(self.disk, is_new=False)
        return self.disk.is_in(seen.config) and not making.missing(seen.config)

    async def attempt(self, ports: Ports) -> None:
        is_new = await self._create_without_disk(ports)
        await self._set_secrets(ports)
        if self.disk is not None:
            await import_system_disk(
                ports, self.vm, self.host, self._making(self.disk, is_new=is_new)
            )
        if self.unfinished:
            complete = {**self._late, interrupted.MARKER: self.values[interrupted.MARKER]}
            await interrupted.mark_complete(ports, self.vm, self.host, complete)
        ports.read_cache.store(self.vm.touched, _VmidState.OURS)

    def _making(self, disk: ImportedDisk, *, is_new: bool) -> CreationState:
        return CreationState(disk=disk, late=self._late, is_new=is_new)

    @property
    def _late(self) -> dict[str, str]:
        if self.disk is None and not self.unfinished:
            return {}
        return {key: value for key, value in self.values.items() if key in _SLOW_TASK}

    async def _create_without_disk(self, ports: Ports) -> bool:
        """Create the guest without slow tasks. Return False if it existed."""
        try:
            is_new = await self._order(ports)
        except BlankGuest as left:
            await delete_blank_guest(ports, self.vm, left.seen, self._storages)
        else:
            if is_new or not await self._delete_incomplete(ports):
                return is_new
        await ports.permit()
        return await self._order(ports)

    async def _delete_incomplete(self, ports: Ports) -> bool:
        """Delete a container whose creation was interrupted; return whether there was one."""
        if not self.unfinished:
            return False
        left = await interrupted.find_incomplete_container(
            ports, self.vm, self.host, self.unfinished, self.patience
        )
        if left is not None:
            await interrupted.delete_incomplete_container(ports, self.vm, left)
        return left is not None

    async def _order(self, ports: Ports) -> bool:
        pve = ports.on(self.vm.cluster)
        at = GuestRef(host=self.host, vmid=self.vm.vmid, kind=self.vm.kind)
        is_free = ports.read_cache.take(self.vm.touched) is _VmidState.FREE
        is_free = is_free or await pve.is_vmid_free(at.vmid)
        if not is_free and await self._exists_after_lock(ports):
            return False
        try:
            task = await pve.create_vm(at, self._settings())
        except Locked:
            raise
        except Conflict:
            # A number is given away once: an earlier order of ours may have come through after all.
            if not await self._exists_after_lock(ports):
                raise
            return False
        try:
            await pve.wait_task(task, self.patience)
        except Conflict:
            if left := await self._leftovers(ports):
                raise Refused(problems.leftover_volumes(self.vm.vmid, self.vm.name, left)) from None
            raise
        return True

    async def _leftovers(self, ports: Ports) -> tuple[str, ...]:
        """Return volumes of a deleted guest with this VMID."""
        pve = ports.on(self.vm.cluster)
        if await find_guest(ports, self.vm, self.host) is not None:
            return ()
        left = await guest_volumes(pve, self.vm, self.host, self._storages)
        return tuple(volume.id for volume in left)

    @property
    def _storages(self) -> tuple[Datastore, ...]:
        """Storages of the volumes that are created with it."""
        volumes = (value.partition(":") for key, value in self.values.items() if _has_volume(key))
        return tuple(Datastore(name) for name, colon, _ in volumes if colon)

    def _settings(self) -> dict[str, Setting]:
        settings: dict[str, Setting] = {
            key: value for key, value in self.values.items() if key not in self._late
        }
        if self.unfinished:
            settings[interrupted.MARKER] = self.unfinished
        return settings

    def _missing_secrets(self, config: VmConfig) -> tuple[str, ...]:
        """Return the keys of secrets that are not set; their values cannot be read."""
        return tuple(key for key in self.secrets if key not in config)

    async def _set_secrets(self, ports: Ports) -> None:
        if not self.secrets:
            return
        seen = await require_guest(ports, self.vm, self.host)
        if missing := self._missing_secrets(seen.config):
            values = {key: await ports.to_secrets().read(self.secrets[key]) for key in missing}
            await ports.permit()
            pve = ports.on(self.vm.cluster)
            change = VmUpdate(values=values, digest=seen.config.digest)
            await pve.wait_task(await pve.update_vm(seen.at, change), self.patience)

    async def _exists_after_lock(self, ports: Ports) -> bool:
        """Return whether the guest exists, after waiting until it is unlocked."""
        begun = ports.clock.now()
        while True:
            try:
                return await find_guest(ports, self.vm, self.host) is not None
            except Locked:
                if (ports.clock.now() - begun).total_seconds() > self.patience:
                    raise
            await ports.clock.sleep(_INTERVAL)


def _has_volume(key: str) -> bool:
    return key_family(key) in _VOLUMES
