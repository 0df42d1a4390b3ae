"""Changing guests that are there: keys, disks, and the host that they are on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.names import HostName
from stockman.model.record import record
from stockman.ports.proxmox.vms import Migration, VmChange
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Identity, present
from stockman.steps.vm_patience import PatientAction
from stockman.steps.vm_values import same


@record
class ConfigureVm(PatientAction):
    """Give keys of a guest other values; what cannot change while it runs waits."""

    kind: ClassVar[str] = "vm.configure"
    vm: Identity
    host: HostName
    values: Mapping[str, str] = field(default_factory=dict)
    delete: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return f"change {', '.join((*self.values, *self.delete))} of {self.vm.called}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        config = (await present(ports, self.vm, self.host)).config
        return not any(key in config for key in self.delete) and all(
            same(key, value, config.values.get(key)) for key, value in self.values.items()
        )

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await present(ports, self.vm, self.host)
        values = {
            key: value
            for key, value in self.values.items()
            if not same(key, value, seen.config.values.get(key))
        }
        delete = tuple(key for key in self.delete if key in seen.config)
        if not values and not delete:
            return
        task = await pve.update_vm(
            seen.at, VmChange(values=values, delete=delete, digest=seen.config.digest)
        )
        if task is not None:
            await pve.wait_task(task)


@record
class MoveVm(PatientAction):
    """Let a guest run on another host, with its disks where they are not shared."""

    kind: ClassVar[str] = "vm.move"
    vm: Identity
    host: HostName
    """Where it is."""
    target: HostName

    @property
    def summary(self) -> str:
        return f"move {self.vm.called} from {self.host} to {self.target}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        seen = await present(ports, self.vm, self.target)
        return seen.at.host == self.target and not seen.lock

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await present(ports, self.vm, self.target)
        if seen.at.host == self.target:
            return
        running = (await pve.vm_status(seen.at)).status == "running"
        local = False
        if self.vm.kind == "qemu":
            outlook = await pve.migration_outlook(seen.at, self.target)
            refused = outlook.refused.get(self.target, "")
            if refused or outlook.local_resources:
                why = refused or f"it uses {', '.join(outlook.local_resources)} of its host"
                raise Refused(
                    problems.cannot_move(self.vm.vmid, self.vm.name, str(self.target), why)
                )
            local = bool(outlook.local_disks)
        task = await pve.migrate_vm(
            seen.at, Migration(target=self.target, online=running, with_local_disks=local)
        )
        await pve.wait_task(task, 3600.0)
