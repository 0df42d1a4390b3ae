"""Talos put on a disk: the first time from a medium, later into the slot that is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.guest.view import DiskView
from stockman_lab.images.facts import ImageFacts
from stockman_lab.talos.disk import GRUB, META, SD_BOOT, STATE, TalosDisk
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.sequences import running as sequences
from stockman_lab.talos.state import Running, StoredImage

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
    number = boot_size(machine.land.schematic(image.schematic))
    kept = boot_size(machine.land.schematic(running.schematic))
    if kept + number <= disk.boot_room:
        return ""
    folder = "/boot/EFI/Linux" if disk.bootloader == "sd-boot" else f"/boot/{disk.free_slot}"
    name = f"Talos-{image.version}.efi" if disk.bootloader == "sd-boot" else "initramfs.xz"
    return f"failed to install bootloader: write {folder}/{name}: no space left on device"


_PREFLIGHT = {
    "1.11": ("1.9", "1.13"),
    "1.12": ("1.10", "1.14"),
    "1.13": ("1.11", "1.15"),
    "1.14": ("1.12", "1.16"),
}
"""Over which minors one can be installed: from the first on, and before the second."""


def begin_install(machine: Machine, running: Running) -> bool:
    """Look for the disk and for the installer; a machine that lacks one of them fails."""
    from stockman_lab.talos.pulling import PullFailed, pull

    config = machine.config
    install = config.install if config is not None else None
    image = str(running.arguments["staged"])
    disk = machine.view.disk(machine.state.system_disk) if image else install_disk(machine)
    if disk is None or (install is None and not image):
        sequences.fail(machine, "failed to find disk matching provided parameters")
        return False
    if install is not None and not image:
        image = install.image or default_installer(machine)
    try:
        pulled = pull(machine, image, "system")
    except PullFailed as failed:
        sequences.fail(machine, f"error pulling installer image: {failed}")
        return False
    running.arguments |= {
        "disk": disk.slot,
        "image": pulled.image.name,
        "late": pulled.seconds,
    }
    machine.note(f"installing Talos to disk {device(machine, disk.slot)}")
    return True


def finish_install(machine: Machine, running: Running) -> bool:
    """Write to the disk; the configuration goes along."""
    if running.arguments["staged"]:
        return finish_upgrade(machine, running)
    view = machine.view
    slot = str(running.arguments["disk"])
    disk = view.disk(slot)
    if disk is None:
        sequences.fail(machine, f"disk {slot} is gone")
        return False
    target = TalosDisk(disk)
    image = machine.state.images["system"][str(running.arguments["image"])]
    target.install(facts_of(machine, image), SD_BOOT if view.is_uefi else GRUB, trial=False)
    for partition in (META, STATE):
        target.make(partition)
    target.config = machine.state.config
    machine.state.system_disk = slot
    machine.note("install successful")
    return True


def finish_upgrade(machine: Machine, running: Running) -> bool:
    """Write the image that was asked for into the free slot."""
    disk = machine.disk
    image = machine.state.images.get("system", {}).get(str(running.arguments["image"]))
    if disk is None or image is None:
        sequences.fail(machine, "installer image is gone")
        return False
    refusal = preflight(machine, image) or lacking_room(machine, image)
    if refusal:
        sequences.fail(machine, refusal)
        return False
    disk.install(facts_of(machine, image), disk.bootloader)
    return True


def preflight(machine: Machine, image: StoredImage) -> str:
    """Why the installer of an image refuses this machine. Empty: it does not."""
    minor = ".".join(image.version.removeprefix("v").split(".")[:2])
    if minor not in _PREFLIGHT:
        return ""
    oldest, newest = (_number(one) for one in _PREFLIGHT[minor])
    host, target = machine.version.removeprefix("v"), image.version.removeprefix("v")
    if _number(machine.minor) < oldest:
        return f"host version {host} is too old to upgrade to Talos {target}"
    if _number(machine.minor) >= newest:
        return f"host version {host} is too new to downgrade to Talos {target}"
    return ""


def facts_of(machine: Machine, image: StoredImage) -> ImageFacts:
    """What a slot holds after an installer ran."""
    return ImageFacts(
        platform=image.platform or machine.state.platform,
        architecture=machine.state.architecture,
        version=image.version,
        schematic=image.schematic,
        virtual_size=0,
        secure_boot=machine.state.secure_boot,
    )


def default_installer(machine: Machine) -> str:
    """What is installed where the configuration names nothing."""
    if machine.at_least("1.14"):
        from stockman_lab.factory.state import EMPTY_ID

        return f"factory.talos.dev/metal-installer/{EMPTY_ID}:{machine.version}"
    return f"ghcr.io/siderolabs/installer:{machine.version}"


def install_disk(machine: Machine) -> DiskView | None:
    """The disk that the configuration means. None: there is none."""
    from stockman_lab.talos.disks import chosen_disk

    config = machine.config
    if config is None or config.install is None:
        return None
    return chosen_disk(machine.view, config.install)


def device(machine: Machine, slot: str) -> str:
    """How the machine calls the disk in a slot: `/dev/sda`."""
    from stockman_lab.talos.disks import device_of

    return device_of(machine.view, slot)


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(text) for text in minor.split("."))
