"""ISO images with the network configuration of Talos machines, if values of the VM do not suffice.

They hold no secret: the machine configuration comes over the API of the machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.proxmox.storages import Upload
from stockman.proxmox.vms import VmUpdate
from stockman.steps.digest import digest
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.vm.disks import drives
from stockman.steps.vm.identity import GuestIdentity, find_guest
from stockman.talos.nocloud.iso_format import nocloud_image

_MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
"""Time stamp in every image, so that equal files give equal images."""
EMPTY_DRIVE = "none,media=cdrom"


def seed_prefix(node: str) -> str:
    """Return the prefix of the image names of a node."""
    return f"stockman-{node}-"


def seed_name(node: str, files: Mapping[str, str]) -> str:
    """Return the name of an image, derived from its files."""
    return f"{seed_prefix(node)}{digest(dict(files))[:12]}.iso"


@record
class UploadSeed(RetryingAction):
    """Upload the image of a node to a storage."""

    kind: ClassVar[str] = "vm.put-seed"
    cluster: str
    host: HostName
    storage: Datastore
    node: str
    files: Mapping[str, str]
    """`meta-data` and `network-config`."""
    because: str
    """Why values of the VM do not suffice."""

    @property
    def summary(self) -> str:
        return f"upload a NoCloud image for {self.node} to {self.storage}: {self.because}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"volume/{self.cluster}/{self.volume}",)

    @property
    def volume(self) -> str:
        return f"{self.storage}:iso/{seed_name(self.node, self.files)}"

    async def done(self, ports: Ports) -> bool:
        size = len(self._content())
        volumes = await ports.on(self.cluster).volumes(self.host, self.storage, content="iso")
        return any(volume.id == self.volume and volume.size in (None, size) for volume in volumes)

    async def attempt(self, ports: Ports) -> None:
        content, pve = self._content(), ports.on(self.cluster)

        async def read() -> AsyncIterator[bytes]:
            yield content

        file = Upload(
            content="iso", name=seed_name(self.node, self.files), size=len(content), read=read
        )
        await pve.wait_task(await pve.upload(self.host, self.storage, file))

    def _content(self) -> bytes:
        files = {name: text.encode() for name, text in self.files.items()}
        return nocloud_image(files, _MOMENT)


@record
class RemoveSeed(RetryingAction):
    """Eject and delete the image of a machine that has its configuration."""

    kind: ClassVar[str] = "vm.remove-seed"
    vm: GuestIdentity
    host: HostName
    volume: str
    """`local:iso/stockman-cp-1-0123456789ab.iso`."""

    @property
    def summary(self) -> str:
        return f"remove the NoCloud image of {self.vm.label}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"volume/{self.vm.cluster}/{self.volume}", self.vm.touched)

    async def done(self, ports: Ports) -> bool:
        return await self._slot(ports) is None and not await self._is_there(ports)

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        slot = await self._slot(ports)
        seen = await find_guest(ports, self.vm, self.host)
        if slot is not None and seen is not None:
            await pve.wait_task(await pve.update_vm(seen.at, VmUpdate(values={slot: EMPTY_DRIVE})))
        if await self._is_there(ports):
            await ports.permit()
            await pve.wait_task(
                await pve.delete_volume(seen.at.host if seen else self.host, self.volume)
            )

    async def _slot(self, ports: Ports) -> str | None:
        seen = await find_guest(ports, self.vm, self.host)
        if seen is None:
            return None
        slots = (slot for slot, drive in drives(seen.config).items() if drive.source == self.volume)
        return next(slots, None)

    async def _is_there(self, ports: Ports) -> bool:
        """Return whether the storage has the image with this name."""
        storage = Datastore(self.volume.partition(":")[0])
        volumes = await ports.on(self.vm.cluster).volumes(self.host, storage, content="iso")
        return any(volume.id == self.volume for volume in volumes)
