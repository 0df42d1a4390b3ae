"""Deleting guests, with nothing lost that nobody agreed to lose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from stockman.model.errors import NotFound, Refused
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.vm_deletion import GuestDeletion
from stockman.steps.vm_disks import drives
from stockman.steps.vm_identity import Found, Identity
from stockman.steps.vm_power import STOPPED, until

_OWN = ("scsi0", "efidisk0", "tpmstate0", "rootfs")


@record
class DestroyVm(GuestDeletion):
    """Switch a guest off and delete it with its system disk."""

    kind: ClassVar[str] = "vm.destroy"
    scratch: tuple[str, ...] = ()
    """Data disks, by serial number, that die with it."""

    @property
    def summary(self) -> str:
        return f"destroy {self.vm.called} on {self.host}"

    @property
    def destroys(self) -> str:
        more = f" and its disks {', '.join(self.scratch)}" if self.scratch else ""
        return f"{self.vm.called} on {self.host} with its system disk{more}"

    async def prepare(self, ports: Ports, seen: Found) -> None:
        if lost := tuple(would_be_lost(seen.config, self.vm.vmid, self.scratch)):
            raise Refused(problems.data_disks(self.vm.vmid, self.vm.name, lost))
        pve = ports.on(self.vm.cluster)
        status = await pve.vm_status(seen.at)
        if status.ha_managed:
            await _left_alone(ports, self.vm)
        if status.status != STOPPED:
            await pve.wait_task(await pve.stop_vm(seen.at))
            await until(ports, self.vm, self.host, STOPPED)
        await ports.permit()


def would_be_lost(config: VmConfig, vmid: Vmid, scratch: tuple[str, ...]) -> Iterator[str]:
    """Data disks that Proxmox VE would delete together with a guest."""
    for slot, drive in drives(config).items():
        volume = drive.volume
        if slot in _OWN or drive.is_cdrom or volume is None or volume.owner != vmid:
            continue
        if drive.options.get("serial") not in scratch:
            yield f"{slot} ({volume})"


async def _left_alone(ports: Ports, vm: Identity) -> None:
    """High availability would switch it on again."""
    prefix = "vm" if vm.kind == "qemu" else "ct"
    try:
        await ports.on(vm.cluster).remove_ha_resource(f"{prefix}:{vm.vmid}")
    except NotFound:
        return
