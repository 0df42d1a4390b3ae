"""The log of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.builds import build_of
from stockman_lab.talos.figures.memory import memory_figures
from stockman_lab.talos.logs.moments import go_moment
from stockman_lab.talos.state import LogLine

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_BEFORE = 0.01
"""Seconds before machined says its first word."""


def kernel_log(machine: Machine) -> list[LogLine]:
    """All lines, oldest first: a beginning that every kernel has, then what was noted."""
    return [*_beginning(machine), *machine.state.kernel_log]


def _beginning(machine: Machine) -> Iterator[LogLine]:
    state, at = machine.state, machine.state.kernel_at - _BEFORE
    total = memory_figures(machine)["memtotal"]
    size = state.memory // 1024
    kernel = build_of(machine).kernel
    texts = (
        f"Linux version {kernel} (@buildkitsandbox) #1 SMP",
        "KERNEL supported cpus:",
        "  Intel GenuineIntel",
        "  AMD AuthenticAMD",
        "DMI: QEMU Standard PC (Q35 + ICH9, 2009)",
        "Hypervisor detected: KVM",
        f"smpboot: Allowing {state.cores} CPUs, 0 hotplug CPUs",
        f"Memory: {total}K/{size}K available",
    )
    for place, text in enumerate(texts):
        yield LogLine(at + place * 0.001, text, "kern", "info")


def kernel_line(line: LogLine) -> bytes:
    """A line as it is sent."""
    return f"{line.facility}: {line.priority:>7}: [{go_moment(line.at)}]: {line.text}\n".encode()
