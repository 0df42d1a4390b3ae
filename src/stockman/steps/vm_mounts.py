"""Volumes and directories that containers have beside their root file system."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.names import HostName
from stockman.model.proxmox_strings import properties
from stockman.model.record import record
from stockman.ports.proxmox.vms import VmChange, VmConfig
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Identity, present
from stockman.steps.vm_patience import PatientAction
from stockman.steps.vm_values import family

_FAMILY = "mp"


@record
class AttachMount(PatientAction):
    """Give a container a volume at a path where it has none."""

    kind: ClassVar[str] = "vm.attach-mount"
    vm: Identity
    host: HostName
    path: str
    """Where it is seen inside of the container."""
    slot: str
    """The key that it gets, `mp0`."""
    value: str
    """`local-zfs:100,mp=/media`: a new volume of so many GiB, or one that is there."""

    @property
    def summary(self) -> str:
        source = properties(self.value, default="volume").get("volume", "")
        return f"mount {source} at {self.path} of {self.vm.called}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        seen = await present(ports, self.vm, self.host)
        return self.path in mounted(seen.config)

    async def attempt(self, ports: Ports) -> None:
        seen = await present(ports, self.vm, self.host)
        if self.path in mounted(seen.config):
            return
        pve = ports.on(self.vm.cluster)
        change = VmChange(values={self.slot: self.value}, digest=seen.config.digest)
        task = await pve.update_vm(seen.at, change)
        if task is not None:
            await pve.wait_task(task)


def mounted(config: VmConfig) -> dict[str, str]:
    """Slots of mounts by their path; those that cannot be read are left out."""
    found: dict[str, str] = {}
    for key, value in config.values.items():
        if family(key) != _FAMILY or key == _FAMILY:
            continue
        try:
            path = properties(value, default="volume").get("mp", "")
        except ValueError:
            continue
        if path:
            found[path] = key
    return found
