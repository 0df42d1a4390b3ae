"""Room for what boots: how large an image is, and whether a disk has place for two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman.talos.schematic import ImageSchematic
    from stockman_lab.talos.machine import Machine
    from stockman_lab.talos.state import StoredImage

_KERNEL_AND_INITRAMFS = 110
_EXTENSION = 4
_LARGE = {
    "amdgpu": 70,
    "i915": 20,
    "nvidia-open-gpu-kernel-modules": 190,
    "nonfree-kmod-nvidia": 190,
    "nvidia-container-toolkit": 230,
    "nvidia-fabricmanager": 30,
    "gvisor": 60,
    "kata-containers": 320,
    "zfs": 15,
}
"""MiB of extensions by the beginning of their names; about what those of the factory have."""


def boot_size(schematic: ImageSchematic | None) -> int:
    """MiB that an image takes where it boots from."""
    names = () if schematic is None else schematic.extensions
    return _KERNEL_AND_INITRAMFS + sum(map(_size, names))


def _size(extension: str) -> int:
    name = extension.rpartition("/")[2]
    return next((size for begin, size in _LARGE.items() if name.startswith(begin)), _EXTENSION)


def lacking_room(machine: Machine, image: StoredImage) -> str:
    """Why an image does not fit beside the one that runs. Empty: it does."""
    disk = machine.disk
    running = disk.facts(disk.default) if disk is not None else None
    if disk is None or running is None:
        return ""
    wanted = boot_size(machine.land.schematic(image.schematic))
    kept = boot_size(machine.land.schematic(running.schematic))
    if kept + wanted <= disk.boot_room:
        return ""
    folder = "/boot/EFI/Linux" if disk.bootloader == "sd-boot" else f"/boot/{disk.free_slot}"
    name = f"Talos-{image.version}.efi" if disk.bootloader == "sd-boot" else "initramfs.xz"
    return f"failed to install bootloader: write {folder}/{name}: no space left on device"
