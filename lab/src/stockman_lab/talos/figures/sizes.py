"""How large block devices are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.disks import names
from stockman_lab.talos.figures.partitions import system_partitions

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_ROOT = 82 << 20


def device_sizes(machine: Machine) -> dict[str, int]:
    """Bytes by name of the device; what is not here has none."""
    view = machine.view
    sizes = {"loop0": _ROOT}
    for slot, name in names(view).items():
        disk = view.disk(slot)
        if disk is not None:
            sizes[name] = disk.size
    return sizes | {partition.name: partition.size for partition in system_partitions(machine)}
