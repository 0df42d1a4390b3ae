"""Memory of a machine: what the virtual machine has, and what its programs hold of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures.processes import processes
from stockman_lab.talos.figures.steady import between, wave
from stockman_lab.talos.figures.uptime import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_KIB = 1024
_MIB = 1 << 20
_HOUR = 3600.0

NAMES = {
    "memtotal": "MemTotal",
    "memfree": "MemFree",
    "memavailable": "MemAvailable",
    "buffers": "Buffers",
    "cached": "Cached",
    "swapcached": "SwapCached",
    "active": "Active",
    "inactive": "Inactive",
    "activeanon": "Active(anon)",
    "inactiveanon": "Inactive(anon)",
    "activefile": "Active(file)",
    "inactivefile": "Inactive(file)",
    "unevictable": "Unevictable",
    "mlocked": "Mlocked",
    "swaptotal": "SwapTotal",
    "swapfree": "SwapFree",
    "dirty": "Dirty",
    "writeback": "Writeback",
    "anonpages": "AnonPages",
    "mapped": "Mapped",
    "shmem": "Shmem",
    "slab": "Slab",
    "sreclaimable": "SReclaimable",
    "sunreclaim": "SUnreclaim",
    "kernelstack": "KernelStack",
    "pagetables": "PageTables",
    "commitlimit": "CommitLimit",
    "committedas": "Committed_AS",
    "vmalloctotal": "VmallocTotal",
    "vmallocused": "VmallocUsed",
    "anonhugepages": "AnonHugePages",
    "hugepagesize": "Hugepagesize",
    "directmap4k": "DirectMap4k",
    "directmap2m": "DirectMap2M",
}
"""Fields of the API, and what `/proc/meminfo` calls them."""


def memory_figures(machine: Machine) -> dict[str, int]:
    """All figures in KiB, by the names of the API; those that are missing are zero."""
    size = machine.state.memory
    total = size - _kept_by_kernel(size)
    programs = sum(process.memory for process in processes(machine))
    kernel = 90 * _MIB + size // 64
    shared = 11 * _MIB
    free_of_programs = max(total - programs - kernel - shared, total // 20)
    warm = uptime(machine) / (uptime(machine) + _HOUR)
    cached = int(free_of_programs * warm * between(machine, "cached", 0.25, 0.55)) + shared
    buffers = int(free_of_programs * warm * 0.004)
    moving = int(6 * _MIB * (1 + wave(machine, "memory", 97.0)))
    free = max(free_of_programs - cached - buffers - moving, total // 100)
    slab = kernel * 2 // 3
    reclaimable = slab * 2 // 5
    file_pages = max(cached - shared, 0)
    figures = {
        "memtotal": total,
        "memfree": free,
        "memavailable": min(free + file_pages + reclaimable, total),
        "buffers": buffers,
        "cached": cached,
        "active": programs // 3 + file_pages // 2,
        "inactive": programs * 2 // 3 + file_pages // 2,
        "activeanon": programs // 3,
        "inactiveanon": programs * 2 // 3,
        "activefile": file_pages // 2,
        "inactivefile": file_pages // 2,
        "dirty": int(200 * _KIB * (1 + wave(machine, "dirty", 31.0))),
        "anonpages": programs,
        "mapped": programs // 2,
        "shmem": shared,
        "slab": slab,
        "sreclaimable": reclaimable,
        "sunreclaim": slab - reclaimable,
        "kernelstack": 5 * _MIB,
        "pagetables": programs // 70,
        "commitlimit": total // 2,
        "committedas": programs * 3,
        "vmalloctotal": (1 << 45) - _KIB,
        "vmallocused": 28 * _MIB,
        "directmap4k": 150 * _MIB,
        "directmap2m": max(size - 150 * _MIB, 0),
    }
    return {name: value // _KIB for name, value in figures.items()} | {"hugepagesize": 2048}


def _kept_by_kernel(size: int) -> int:
    """What never shows up: the kernel itself and its tables."""
    return 44 * _MIB + size // 60
