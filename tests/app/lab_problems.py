"""Problems of the lab, made by bad wishes and broken files. What their pages are compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stockman_lab.commands.connect import not_connected, unwritten
from stockman_lab.commands.runtime import problems
from stockman_lab.commands.runtime.background import failed
from stockman_lab.commands.runtime.directories import LabFiles, running
from stockman_lab.commands.runtime.faults import Wanted, wanted_fault
from stockman_lab.commands.runtime.power import unknown_host
from stockman_lab.commands.runtime.remote import not_understood
from stockman_lab.commands.runtime.world_options import Manners, speed_of, wish
from stockman_lab.core.faults import Fault
from stockman_lab.core.saved import Unreadable, restored
from stockman_lab.world.file import read_world

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem

STATE = Path(".stockman/lab.state")


def refused(work: Callable[[], object]) -> Problem:
    with pytest.raises(StockmanError) as caught:
        work()
    return caught.value.problem


def _damaged() -> Problem:
    with pytest.raises(Unreadable) as caught:
        read_world(b"wool")
    return problems.damaged(STATE, str(caught.value)).problem


def _misunderstood() -> Problem:
    with pytest.raises(Unreadable) as caught:
        restored(Fault, {"point": "task", "effect": "melt"})
    return not_understood(str(caught.value))


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "lab.absent": lambda: refused(lambda: running(LabFiles(state=STATE))),
    "lab.asked": _misunderstood,
    "lab.connect": lambda: not_connected(
        {
            "proxmox_endpoint": "https://127.66.0.4:8006",
            "proxmox.tls.ca_file": "pve-root-ca.pem",
        },
        unwritten("proxmox.tls.ca_file"),
    ),
    "lab.fault": lambda: refused(lambda: wanted_fault(Wanted(point="task", effect=None), 0.0)),
    "lab.host": lambda: unknown_host("talos-neo", ["trinity", "neo", "niobe"]),
    "lab.network": lambda: refused(lambda: wish("single", "10.42.0.0/24", "9.1", "max")),
    "lab.port": lambda: problems.port_taken("127.66.0.4", 8006).problem,
    "lab.repository": lambda: refused(
        lambda: wish("single", "127.66.0.0/16", "9.1", "max", Manners(repositories=("flock",)))
    ),
    "lab.running": lambda: problems.served_already(STATE).problem,
    "lab.speed": lambda: refused(lambda: speed_of("fast")),
    "lab.stage": lambda: refused(
        lambda: wish("home", "127.66.0.0/16", "9.1", "max", Manners(stage="cluster"))
    ),
    "lab.staged": lambda: problems.not_staged(STATE).problem,
    "lab.start": lambda: failed(LabFiles(state=STATE), ""),
    "lab.state": _damaged,
    "lab.talos": lambda: refused(
        lambda: wish(
            "single", "127.66.0.0/16", "9.1", "max", Manners(stage="cluster", talos="1.9.0")
        )
    ),
    "lab.unwritable": lambda: problems.unwritable(STATE, "Permission denied").problem,
}
