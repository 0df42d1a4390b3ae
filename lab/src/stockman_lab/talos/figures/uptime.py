"""How long a machine has been up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine


def uptime(machine: Machine) -> float:
    """Seconds since its kernel began."""
    return max(machine.now - machine.state.kernel_at, 0.0)


def boot_moment(machine: Machine) -> float:
    """When its kernel began, by its own clock."""
    return machine.clock - uptime(machine)
