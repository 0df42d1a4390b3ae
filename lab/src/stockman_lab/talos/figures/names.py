"""Names and numbers of what runs: identities of processes and of containers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.steady import digest, whole

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_PID = re.compile(r"PID (\d+)")
_FIRST, _LAST = 2400, 31000


def service_pid(machine: Machine, service: str) -> int:
    """The process that a service runs as, as its own events tell. 0: it does not run."""
    found = machine.state.services.get(service)
    if found is None or not found.is_running:
        return 0
    if service == "machined":
        return 1
    for event in reversed(found.events):
        told = _PID.search(event.message)
        if told is not None:
            return int(told[1])
    return container_pid(machine, service)


def container_pid(machine: Machine, name: str) -> int:
    """The process of a container; another one after every boot."""
    return whole(machine, f"pid/{machine.state.boot}/{name}", _FIRST, _LAST)


def container_id(machine: Machine, name: str) -> str:
    """The identity of a container; another one after every boot."""
    return digest(machine, f"container/{machine.state.boot_id}/{name}")
