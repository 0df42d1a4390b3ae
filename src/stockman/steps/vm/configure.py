"""Changes values of existing guests, and moves guests to other hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.names import HostName
from stockman.model.proxmox_values import VolumeId
from stockman.model.record import record
from stockman.proxmox.vms import GuestRef, MigrationCheck, MigrationRequest, VmUpdate
from stockman.steps.ports import Ports
from stockman.steps.vm import problems
from stockman.steps.vm.identity import GuestAction, require_guest
from stockman.steps.vm.power import RUNNING, StartVm, StopVm
from stockman.steps.vm.values import same_value


@record
class ConfigureVm(GuestAction):
    """Change values of a guest; values that cannot change while it runs stay pending."""

    kind: ClassVar[str] = "vm.configure"
    values: Mapping[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return f"change {', '.join((*self.values, *self.delete))} of {self.vm.label}"

    async def done(self, ports: Ports) -> bool:
        config = (await require_guest(ports, self.vm, self.host)).config
        return not any(key in config for key in self.delete) and all(
            same_value(key, value, config.values.get(key)) for key, value in self.values.items()
        )

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await require_guest(ports, self.vm, self.host)
        values = {
            key: value
            for key, value in self.values.items()
            if not same_value(key, value, seen.config.values.get(key))
        }
        delete = tuple(key for key in self.delete if key in seen.config)
        if not values and not delete:
            return
        await pve.wait_task(
            await pve.update_vm(
                seen.at, VmUpdate(values=values, delete=delete, digest=seen.config.digest)
            )
        )


@record
class MoveVm(GuestAction):
    """Migrate a guest to another host, with its local disks.

    A VM goes while it runs, unless it has to be `down` for that. A container is restarted.
    """

    kind: ClassVar[str] = "vm.move"
    """Current host."""
    target: HostName
    down: bool = False
    """Whether it is stopped for the migration, because passed-through devices cannot migrate."""
    seconds: int = 180
    """Timeout of the shutdown before it is powered off."""

    @property
    def summary(self) -> str:
        off = ", switched off on the way" if self.down else ""
        return f"move {self.vm.label} from {self.host} to {self.target}{off}"

    async def done(self, ports: Ports) -> bool:
        seen = await require_guest(ports, self.vm, self.target)
        is_there = seen.at.host == self.target and not seen.lock
        if not is_there or not self.down:
            return is_there
        return (await ports.on(self.vm.cluster).vm_status(seen.at)).status == RUNNING

    async def attempt(self, ports: Ports) -> None:
        seen = await require_guest(ports, self.vm, self.target)
        if seen.at.host != self.target:
            await self._move(ports, seen.at)
        if self.down:
            await StartVm(vm=self.vm, host=self.target).attempt(ports)

    async def _move(self, ports: Ports, at: GuestRef) -> None:
        pve = ports.on(self.vm.cluster)
        running = (await pve.vm_status(at)).status == RUNNING
        request = MigrationRequest(target=self.target, restart=running)
        if self.vm.kind == "qemu":
            check = await self._check_migration(ports, at, running=running and not self.down)
            self._check_owned_disks(check)
            if running and self.down:
                await StopVm(vm=self.vm, host=at.host, seconds=self.seconds).attempt(ports)
                await ports.permit()
            request = MigrationRequest(
                target=self.target,
                online=running and not self.down,
                with_local_disks=bool(check.local_disks),
            )
        await pve.wait_task(await pve.migrate_vm(at, request), 3600.0)

    def _check_owned_disks(self, check: MigrationCheck) -> None:
        """Refuse local disks with another owner, before the VM is stopped."""
        # PVE::QemuMigrate::scan_local_volumes: "owned by other VM".
        foreign = [text for text in check.local_disks if VolumeId.parse(text).owner != self.vm.vmid]
        if foreign:
            why = problems.kept_local_disks(foreign)
            raise Refused(problems.cannot_move(self.vm.vmid, self.vm.name, str(self.target), why))

    async def _check_migration(
        self, ports: Ports, at: GuestRef, *, running: bool
    ) -> MigrationCheck:
        check = await ports.on(self.vm.cluster).check_migration(at, self.target)
        held = set(check.local_resources) - (set() if running else set(check.mapped))
        refused = check.refused.get(self.target, "")
        if refused or held:
            why = refused or f"it uses {', '.join(sorted(held))} of its host"
            raise Refused(problems.cannot_move(self.vm.vmid, self.vm.name, str(self.target), why))
        return check
