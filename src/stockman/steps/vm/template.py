"""Templates, from which VMs are created."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from stockman.model.errors import Refused, Rejected
from stockman.model.names import Datastore, Vmid
from stockman.model.proxmox_values import parse_flag
from stockman.model.record import record
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import VmConfig
from stockman.steps.ports import Ports
from stockman.steps.vm import problems
from stockman.steps.vm.destroy import GuestDeletion
from stockman.steps.vm.disks import drives
from stockman.steps.vm.identity import GuestAction, LocatedGuest, require_guest


@record
class ConvertToTemplate(GuestAction):
    """Convert a VM that never ran to a template."""

    kind: ClassVar[str] = "vm.make-template"

    @property
    def summary(self) -> str:
        return f"make {self.vm.label} a template"

    async def done(self, ports: Ports) -> bool:
        return is_template((await require_guest(ports, self.vm, self.host)).config)

    async def attempt(self, ports: Ports) -> None:
        seen = await require_guest(ports, self.vm, self.host)
        if is_template(seen.config):
            return
        pve = ports.on(self.vm.cluster)
        try:
            await pve.wait_task(await pve.make_template(seen.at))
        except Rejected:
            # An earlier order of ours may have come through after all.
            if not await self.done(ports):
                raise


@record
class DeleteTemplate(GuestDeletion):
    """Delete a template that no disk depends on."""

    kind: ClassVar[str] = "vm.remove-template"

    @property
    def summary(self) -> str:
        return f"delete template {self.vm.vmid} ({self.vm.name}) on {self.host}"

    @property
    def destroys(self) -> str:
        return f"template {self.vm.vmid} ({self.vm.name}) on {self.host}; VMs made from it stay"

    async def prepare(self, ports: Ports, seen: LocatedGuest) -> None:
        for storage in disk_storages(seen.config):
            volumes = await ports.on(self.vm.cluster).volumes(
                seen.at.host, storage, content="images"
            )
            if clones := tuple(find_linked_clones(volumes, self.vm.vmid)):
                raise Refused(problems.template_in_use(self.vm.vmid, self.vm.name, clones))


def is_template(config: VmConfig) -> bool:
    """Return whether a VM is a template."""
    return parse_flag(config.get("template", "0"))


def disk_storages(config: VmConfig) -> tuple[Datastore, ...]:
    """Return the storages of the disks of a VM, each once."""
    volumes = (drive.volume for drive in drives(config).values() if not drive.is_cdrom)
    return tuple(dict.fromkeys(volume.storage for volume in volumes if volume is not None))


def find_linked_clones(volumes: Iterable[Volume], template: Vmid) -> Iterator[str]:
    """Return linked clones of the disks of a template."""
    # Some storages say so in the name of the volume, others only in its parent.
    base = f"base-{template}-"
    for volume in volumes:
        if volume.vmid != template and (base in volume.id or base in volume.parent):
            yield volume.id
