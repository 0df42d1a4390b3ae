"""What a machine's image brings besides Talos itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
