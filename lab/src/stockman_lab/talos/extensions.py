"""What a machine's image brings besides Talos itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.guest.view import PciView
    from stockman_lab.talos.machine import Machine

_SERVICES = {
    "siderolabs/qemu-guest-agent": "ext-qemu-guest-agent",
    "siderolabs/iscsi-tools": "ext-iscsid",
    "siderolabs/tailscale": "ext-tailscale",
    "siderolabs/newt": "ext-newt",
    "siderolabs/cloudflared": "ext-cloudflared",
    "siderolabs/nut-client": "ext-nut-client",
    "siderolabs/nvidia-container-toolkit-production": "ext-nvidia-persistenced",
    "siderolabs/nvidia-container-toolkit-lts": "ext-nvidia-persistenced",
    "siderolabs/zerotier": "ext-zerotier",
    "siderolabs/metal-agent": "ext-metal-agent",
    "siderolabs/vmtoolsd-guest-agent": "ext-talos-vmtoolsd",
}
"""Extensions that bring a service."""


def extensions(machine: Machine) -> list[str]:
    """Names of the official extensions in the image that runs, in its order."""
    schematic = machine.land.schematic(machine.state.schematic)
    return [] if schematic is None else list(schematic.extensions)


def extension_services(machine: Machine) -> list[str]:
    """Services that extensions bring."""
    return [_SERVICES[extension] for extension in extensions(machine) if extension in _SERVICES]


_NVIDIA = "nvidia"
_BROUGHT_BY = {
    _NVIDIA: ("nvidia-open-gpu-kernel-modules", "nonfree-kmod-nvidia"),
    "amdgpu": ("amdgpu",),
    "i915": ("i915",),
    "zfs": ("zfs",),
    "drbd": ("drbd",),
    "gasket": ("gasket-driver",),
}
"""Extensions by the beginning of the names of modules; what is not here is in every kernel."""
_NEED_DEVICE = {_NVIDIA: "0x10de"}
"""Vendors of devices without which a module does not stay."""
_DRIVERS = {"0x10de": _NVIDIA, "0x1002": "amdgpu", "0x8086": "i915"}


def can_load(machine: Machine, module: str) -> bool:
    """Whether a kernel module is there, and finds what it drives."""
    family = next((one for one in _BROUGHT_BY if module.startswith(one)), None)
    if family is None:
        return True
    names = [extension.rpartition("/")[2] for extension in extensions(machine)]
    if not any(name.startswith(_BROUGHT_BY[family]) for name in names):
        return False
    vendor = _NEED_DEVICE.get(family)
    return vendor is None or any(one.vendor == vendor for one in machine.view.pci)


def driver_of(machine: Machine, device: PciView) -> str:
    """The driver of a device of the host. Empty: none is loaded."""
    driver = _DRIVERS.get(device.vendor, "")
    config = machine.config
    names = (
        {kernel_module.name for kernel_module in config.kernel_modules}
        if config is not None
        else set()
    )
    if driver == _NVIDIA and driver not in names:
        return ""
    return driver if driver and can_load(machine, driver) else ""
