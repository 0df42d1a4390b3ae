"""The machines of a world in a line each, as `stockman lab machine` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import is_ready

if TYPE_CHECKING:
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine

Shown: TypeAlias = dict[str, object]


def machine_rows(fleet: Fleet) -> list[Shown]:
    """All machines of a world, by name, in a line each."""
    return sorted((_row(machine) for machine in fleet.machines), key=lambda row: str(row["name"]))


def _row(machine: Machine) -> Shown:
    return {
        "name": machine.hostname or machine.state.name,
        "cluster": machine.state.cluster,
        "vmid": machine.state.vmid,
        "address": machine.address,
        "stage": machine.state.stage.value,
        "version": machine.version,
        "ready": _ready(machine),
    }


def _ready(machine: Machine) -> bool:
    return machine.state.stage is Stage.RUNNING and is_ready(machine)
