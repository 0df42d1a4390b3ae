"""What a guest sees of its machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from stockman_lab.guest.network import Network, NicView
from stockman_lab.images.facts import ImageFacts

if TYPE_CHECKING:
    from stockman_lab.images.image import Image

INSTALLED = "image"
"""Under which name guests write down on a disk what they installed there."""
WIPED = "wiped"
"""Under which name they write down that nothing is left of what it began with."""


@dataclass(slots=True, kw_only=True)
class DiskView:
    """One disk or drive."""

    slot: str
    """`scsi0`."""
    size: int
    image: Image | None = None
    """What it began with. None: zeros."""
    contents: dict[str, object] = field(default_factory=dict)
    """What guests wrote on it since; it is the disk's own, so that writing here is writing."""
    is_cdrom: bool = False
    serial: str = ""

    @property
    def facts(self) -> ImageFacts | None:
        """What boots from it, as it says itself. None: nothing, or it does not say."""
        content = self.contents.get(INSTALLED)
        if isinstance(content, dict):
            return ImageFacts(**content)
        if self.image is None or self.contents.get(WIPED):
            return None
        return self.image.facts

    @property
    def is_bootable(self) -> bool:
        if INSTALLED in self.contents:
            return True
        if self.image is None or self.contents.get(WIPED):
            return False
        return self.image.is_bootable

    def install(self, facts: ImageFacts) -> None:
        """Write an operating system on it."""
        self.contents[INSTALLED] = asdict(facts)


@dataclass(slots=True, kw_only=True)
class SmbiosView:
    """What firmware says of the machine, decoded."""

    uuid: str = ""
    serial: str = ""
    manufacturer: str = "QEMU"
    product: str = ""
    version: str = ""
    sku: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PciView:
    """A device of the host that was given to the machine."""

    slot: int
    """1 of `hostpci1`."""
    vendor: str
    """`0x10de`."""
    device: str
    device_class: str
    """`0x030000`."""
    vendor_name: str = ""
    device_name: str = ""


@dataclass(slots=True, kw_only=True)
class GuestView:
    """One virtual machine from the inside."""

    vmid: int
    cores: int
    memory: int
    """Bytes."""
    network: Network
    cluster: str = ""
    """The Proxmox cluster that it is in."""
    node: str = ""
    """The host that it runs on."""
    name: str = ""
    is_uefi: bool = False
    disks: list[DiskView] = field(default_factory=list)
    nics: list[NicView] = field(default_factory=list)
    pci: list[PciView] = field(default_factory=list)
    smbios: SmbiosView = field(default_factory=SmbiosView)
    boot_order: list[str] = field(default_factory=list)
    """Slots of disks and names of cards, first one first."""
    cloud_init: dict[str, bytes] | None = None
    """Files of the drive that is labelled for it, by path. None: there is none."""
    architecture: str = "amd64"

    def disk(self, slot: str) -> DiskView | None:
        return next((disk for disk in self.disks if disk.slot == slot), None)

    @property
    def boot_disk(self) -> DiskView | None:
        """The first disk in order that firmware finds something on; nothing boots from cards."""
        for slot in self.boot_order:
            disk = self.disk(slot)
            if disk is not None and disk.is_bootable:
                return disk
        return None
