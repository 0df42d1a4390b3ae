"""Machines that tests boot."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.guest.network import NicView, Pool, Pools
from stockman_lab.guest.view import DiskView, GuestView
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form, Image, read_image
from stockman_lab.images.making import disk_image

GIB = 1 << 30
NOW = 1_780_000_000.0
MAC = "BC:24:11:AA:BB:0"


@dataclass
class Middle:
    """Dice that always show the middle."""

    def between(self, low: float, high: float) -> float:
        return (low + high) / 2


def image(platform: str = "linux", architecture: str = "amd64") -> Image:
    facts = ImageFacts(platform=platform, architecture=architecture, virtual_size=10 * GIB)
    return read_image(disk_image(facts, Form.QCOW2))


def pools() -> Pools:
    return Pools(
        [
            Pool(bridge="vmbr0", first="127.66.1.100/24", count=2),
            Pool(bridge="vmbr0", first="fd66::100/64", count=5, announced=True),
            Pool(bridge="vmbr0", vlan=62, first="127.62.0.10/16", count=5),
        ]
    )


def machine(
    *,
    disk: Image | None = None,
    cloud_init: dict[str, bytes] | None = None,
    nics: int = 1,
    network: Pools | None = None,
) -> GuestView:
    """A machine with a disk, cards and two drives that hold nothing."""
    return GuestView(
        vmid=100,
        cores=2,
        memory=2 * GIB,
        network=network if network is not None else pools(),
        disks=[
            DiskView(slot="scsi0", size=32 * GIB, image=disk),
            DiskView(slot="scsi1", size=GIB),
            DiskView(slot="ide2", size=4 << 20, is_cdrom=True),
        ],
        nics=[
            NicView(number=number, mac=f"{MAC}{number}", bridge="vmbr0") for number in range(nics)
        ],
        boot_order=["ide2", "scsi0", "net0"],
        cloud_init=cloud_init,
    )
