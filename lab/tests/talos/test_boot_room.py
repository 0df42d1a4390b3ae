"""What boots needs room twice."""

from __future__ import annotations

import pytest
from stockman_lab.factory.schematics import post_schematic
from stockman_lab.talos.disk import GRUB
from stockman_lab.talos.sequences.installing import boot_size, lacking_room
from stockman_lab.talos.state import StoredImage

from lab.tests.talos.staged import machine, staged
from stockman.talos.schematic import ImageSchematic

LARGE = tuple(
    f"siderolabs/{name}"
    for name in (
        "kata-containers",
        "nvidia-open-gpu-kernel-modules-lts",
        "nvidia-container-toolkit-lts",
        "amdgpu",
        "gvisor",
        "i915",
    )
)


def test_extensions_make_an_image_larger() -> None:
    sizes = [
        boot_size(one)
        for one in (
            None,
            ImageSchematic(extensions=("siderolabs/iscsi-tools",)),
            ImageSchematic(extensions=("siderolabs/iscsi-tools", "siderolabs/amdgpu")),
            ImageSchematic(extensions=LARGE),
        )
    ]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize(
    ("bootloader", "version", "text"),
    [
        ("sd-boot", "v1.13.9", ""),
        ("sd-boot", "v1.10.6", "/boot/EFI/Linux/Talos-v1.14.1.efi: no space left on device"),
        (GRUB, "v1.10.6", "/boot/B/initramfs.xz: no space left on device"),
        (GRUB, "v1.11.0", ""),
    ],
)
def test_partitions_stay_as_large_as_they_were_made(
    bootloader: str, version: str, text: str
) -> None:
    world = staged()
    result = machine(world)
    disk = result.disk
    assert disk is not None
    facts = disk.facts(disk.default)
    assert facts is not None
    disk.wipe("BOOT")
    disk.install(facts, bootloader, trial=False)
    disk.partitioned_by(version)
    schematic = str(post_schematic(world.factory, ImageSchematic(extensions=LARGE)))
    image = StoredImage("a", "b", 1, 0.0, "nocloud", schematic, "v1.14.1")
    assert lacking_room(result, image).endswith(text)
    assert bool(lacking_room(result, image)) is bool(text)
