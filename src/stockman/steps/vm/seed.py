"""ISO images with the first configuration of Talos machines, delivered through Proxmox VE.

An image holds every secret of its machine. It exists from shortly before the first start of the VM
until the machine has its configuration.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from stockman.model.errors import Refused
from stockman.model.names import Datastore, HostName
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.guest_values import CLOUD_INIT_DRIVE, cdrom_drive
from stockman.proxmox.storages import Upload
from stockman.proxmox.vms import VmConfig, VmUpdate
from stockman.steps.digest import digest
from stockman.steps.ports import Ports
from stockman.steps.retry import RetryingAction
from stockman.steps.talos.configuration import read_planned_config
from stockman.steps.talos.machine import MachineState, TalosMachine, probe_machine
from stockman.steps.talos.problems import configured_before
from stockman.steps.vm.disks import drives
from stockman.steps.vm.identity import GuestAction, GuestIdentity, find_guest
from stockman.steps.vm.ownership import GuestOwner, guest_key, parse_mark
from stockman.steps.vm.power import STOPPED, guest_power, wait_for_status
from stockman.steps.vm.values import same_value
from stockman.talos.nocloud.iso_format import nocloud_image
from stockman.talos.nocloud.seed import USER_DATA

_MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
"""Time stamp in every image, so that equal files give equal images."""
_STOP_SECONDS = 120.0
EMPTY_DRIVE = "none,media=cdrom"


def seed_prefix(owner: str, node: str = "") -> str:
    """Return the prefix of the image names of a cluster, or of one of its nodes.

    Names of clusters and nodes contain no underscore.
    """
    return f"stockman_{owner}_" + (f"{node}_" if node else "")


def seed_owner(owner: GuestOwner) -> str:
    """Return the key of a cluster in names of images."""
    return f"{owner.name}-{owner.fingerprint[:8]}" if owner.fingerprint else owner.name


def is_marked_new(config: VmConfig, vm: GuestIdentity, owner: str) -> bool:
    """Whether the mark of a VM says that its machine was never configured.

    Not for a copy, nor for a VM of a cluster with another key than `owner`.
    """
    mark = parse_mark(config.get("description"))
    if mark is None or not mark.is_new or mark.guest not in ("", guest_key(vm)):
        return False
    marked_owner = GuestOwner(name=mark.owner, fingerprint=mark.fingerprint)
    return not mark.fingerprint or seed_owner(marked_owner) == owner


def attached_seeds(config: VmConfig, owner: str, node: str) -> dict[str, str]:
    """Return the volumes of images of a node in the drives of its VM, by slot."""
    # Earlier versions used names without the cluster, for images without a secret.
    prefixes = tuple(f":iso/{start}" for start in (seed_prefix(owner, node), f"stockman-{node}-"))
    return {
        slot: drive.source
        for slot, drive in drives(config).items()
        if drive.is_cdrom and any(prefix in drive.source for prefix in prefixes)
    }


@record
class SeedMachine(GuestAction):
    """Put the image with the first configuration of a machine into the drive of its VM.

    A VM that runs is powered off: Talos reads the image when it boots. Only a VM whose mark says
    that its machine was never configured gets an image.
    """

    kind: ClassVar[str] = "vm.seed"
    storage: Datastore
    owner: str
    """Key of the cluster in names of images."""
    machine: TalosMachine
    minor: str
    """Minor version of Talos on the machine, `1.13`."""
    digest: str
    """Digest of the configuration without its secrets."""
    files: Mapping[str, str]
    """`meta-data` and `network-config`."""

    @property
    def summary(self) -> str:
        return f"give {self.vm.label} its first configuration as an image in {self.storage}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (self.vm.touched, f"volume/{self.vm.cluster}/{self.volume}")

    @property
    def volume(self) -> str:
        return f"{self.storage}:iso/{self._name}"

    @property
    def _name(self) -> str:
        content = digest([dict(self.files), self.digest, str(self.vm.uuid)])[:12]
        return f"{seed_prefix(self.owner, self.machine.node)}{content}.iso"

    async def done(self, ports: Ports) -> bool:
        seen = await guest_power(ports, self.vm, self.host)
        if not self._is_attached(seen.guest.config):
            return False
        if seen.is_on:
            return await self._state(ports) is not MachineState.MAINTENANCE
        return await _has_volume(ports.on(self.vm.cluster), seen.guest.at.host, self.volume)

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        image = await self._image(ports)
        seen = await guest_power(ports, self.vm, self.host)
        if not is_marked_new(seen.guest.config, self.vm, self.owner) or (
            seen.is_on and await self._state(ports) is MachineState.CONFIGURED
        ):
            raise Refused(configured_before(self.machine.node, self.vm.label))
        if seen.is_on:
            await pve.wait_task(await pve.stop_vm(seen.guest.at), _STOP_SECONDS)
            await wait_for_status(ports, self.vm, self.host, STOPPED)
            await ports.permit()
        # An image of an interrupted run may have other secrets under the same name.
        earlier = attached_seeds(seen.guest.config, self.owner, self.machine.node)
        for volume in dict.fromkeys((self.volume, *earlier.values())):
            await _delete_volume(ports, pve, seen.guest.at.host, volume)
        file = Upload(content="iso", name=self._name, size=len(image), read=lambda: _chunk(image))
        await pve.wait_task(await pve.upload(seen.guest.at.host, self.storage, file))
        if not self._is_attached(seen.guest.config):
            await ports.permit()
            change = VmUpdate(
                values={CLOUD_INIT_DRIVE: cdrom_drive(self.volume)},
                digest=seen.guest.config.digest,
            )
            await pve.wait_task(await pve.update_vm(seen.guest.at, change))

    async def _image(self, ports: Ports) -> bytes:
        text, _ = await read_planned_config(ports, self.machine.node, self.minor, self.digest)
        files = {**self.files, USER_DATA: Secret.reveal(text)}
        return nocloud_image({name: part.encode() for name, part in files.items()}, _MOMENT)

    def _is_attached(self, config: VmConfig) -> bool:
        drive = drives(config).get(CLOUD_INIT_DRIVE)
        return drive is not None and drive.source == self.volume

    async def _state(self, ports: Ports) -> MachineState:
        return (await probe_machine(ports.to_talos(), self.machine.address)).standing


async def _chunk(content: bytes) -> AsyncIterator[bytes]:
    yield content


@record
class RemoveSeed(RetryingAction):
    """Eject and delete images of a node, or remove its mark as never configured."""

    kind: ClassVar[str] = "vm.remove-seed"
    vm: GuestIdentity
    host: HostName
    volumes: tuple[str, ...]
    """`local:iso/stockman_k8s-89abcdef_cp-1_0123456789ab.iso`."""
    description: str = ""
    """Description of the VM without the mark. Empty: it stays as it is."""

    @property
    def summary(self) -> str:
        if not self.volumes:
            return f"remove the mark of {self.vm.label} as never configured"
        return f"delete the image with the first configuration of {self.vm.label}"

    @property
    def touches(self) -> tuple[str, ...]:
        volumes = (f"volume/{self.vm.cluster}/{volume}" for volume in self.volumes)
        return (*volumes, self.vm.touched)

    async def done(self, ports: Ports) -> bool:
        seen = await find_guest(ports, self.vm, self.host)
        if seen is not None and self._changes(seen.config):
            return False
        host = seen.at.host if seen is not None else self.host
        pve = ports.on(self.vm.cluster)
        return not any([await _has_volume(pve, host, volume) for volume in self.volumes])

    async def attempt(self, ports: Ports) -> None:
        pve = ports.on(self.vm.cluster)
        seen = await find_guest(ports, self.vm, self.host)
        if seen is not None and (values := self._changes(seen.config)):
            change = VmUpdate(values=values, digest=seen.config.digest)
            await pve.wait_task(await pve.update_vm(seen.at, change))
            await ports.permit()
        for volume in self.volumes:
            host = seen.at.host if seen is not None else self.host
            await _delete_volume(ports, pve, host, volume)

    def _changes(self, config: VmConfig) -> dict[str, str]:
        """Return the values of the VM that have to change."""
        slots = (slot for slot, drive in drives(config).items() if drive.source in self.volumes)
        values = dict.fromkeys(slots, EMPTY_DRIVE)
        now = config.get("description")
        if self.description and not same_value("description", self.description, now):
            values["description"] = self.description
        return values


@record
class DeleteSeed(RetryingAction):
    """Delete the image of an interrupted run, which no VM uses."""

    kind: ClassVar[str] = "vm.delete-seed"
    cluster: str
    host: HostName
    volume: str

    @property
    def summary(self) -> str:
        return f"delete the unused image {self.volume}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"volume/{self.cluster}/{self.volume}",)

    async def done(self, ports: Ports) -> bool:
        return not await _has_volume(ports.on(self.cluster), self.host, self.volume)

    async def attempt(self, ports: Ports) -> None:
        await _delete_volume(ports, ports.on(self.cluster), self.host, self.volume)


async def _has_volume(pve: ProxmoxClient, host: HostName, volume: str) -> bool:
    storage = Datastore(volume.partition(":")[0])
    volumes = await pve.volumes(host, storage, content="iso")
    return any(known.id == volume for known in volumes)


async def _delete_volume(ports: Ports, pve: ProxmoxClient, host: HostName, volume: str) -> None:
    if await _has_volume(pve, host, volume):
        await ports.permit()
        await pve.wait_task(await pve.delete_volume(host, volume))
