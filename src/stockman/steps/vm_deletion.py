"""What deleting any guest has in common: it is the one that is meant, and nobody protects it."""

from __future__ import annotations

from abc import abstractmethod

from stockman.model.errors import NotFound, Refused
from stockman.model.names import HostName
from stockman.model.proxmox_strings import truth
from stockman.model.record import record
from stockman.steps import vm_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.vm_identity import Found, Identity, found
from stockman.steps.vm_patience import PatientAction


@record
class GuestDeletion(PatientAction):
    """Delete a guest; done when no guest has its number."""

    vm: Identity
    host: HostName

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched,)

    async def done(self, ports: Ports) -> bool:
        return await found(ports, self.vm, self.host) is None

    async def attempt(self, ports: Ports) -> None:
        seen = await found(ports, self.vm, self.host)
        if seen is None:
            return
        if truth(seen.config.get("protection", "0")):
            raise Refused(problems.protected(self.vm.vmid, self.vm.name))
        await self.prepare(ports, seen)
        pve = ports.on(self.vm.cluster)
        try:
            await pve.wait_task(await pve.delete_vm(seen.at))
        except NotFound:
            return

    @abstractmethod
    async def prepare(self, ports: Ports, seen: Found) -> None:
        """Make it one that can be deleted; `Refused` where too much would be lost."""
