"""The kernel command line that a machine boots with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.images.facts import ImageFacts
    from stockman_lab.talos.machine import Machine


def command_line(machine: Machine, facts: ImageFacts) -> list[str]:
    """Arguments of the image, and of the slot where it is installed."""
    from stockman_lab.factory.kernel_line import Booted, kernel_line

    schematic = machine.land.schematic(facts.schematic)
    booted = Booted(
        platform=facts.platform,
        version=facts.version,
        architecture=facts.architecture,
        secure_boot=facts.secure_boot,
        is_iso=not machine.state.slot,
        extra=schematic.kernel_args if schematic is not None else (),
    )
    return kernel_line(booted).split()


def has_old_names(machine: Machine) -> bool:
    """Whether links are called eth0 instead of after their place on the bus."""
    return "net.ifnames=0" in machine.state.cmdline
