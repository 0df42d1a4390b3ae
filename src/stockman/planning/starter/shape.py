"""How many machines there are to be, of which size at best and at least, by preset."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.record import record
from stockman.planning.starter.found import FoundHost

HOST_RESERVE = 4096
"""MiB that stay with a host."""


@record
class Size:
    """One kind of machine: what it gets, and the least that it can do with."""

    cores: int
    memory: int
    """MiB."""
    least_memory: int
    disk: int
    """GiB."""
    least_disk: int


@record
class Shape:
    """Machines of a preset."""

    preset: str
    controllers: int
    workers: int
    controller: Size
    worker: Size | None = None
    """None: controllers take the work."""

    @property
    def count(self) -> int:
        return self.controllers + self.workers


_COMBINED = Size(cores=4, memory=8192, least_memory=4096, disk=64, least_disk=20)
_LARGE = Size(cores=8, memory=16384, least_memory=4096, disk=100, least_disk=20)
_CONTROLLER = Size(cores=4, memory=8192, least_memory=4096, disk=64, least_disk=20)
_WORKER = Size(cores=8, memory=16384, least_memory=8192, disk=100, least_disk=20)

SHAPES = {
    "single": Shape(preset="single", controllers=1, workers=0, controller=_COMBINED),
    "three-node": Shape(preset="three-node", controllers=3, workers=0, controller=_LARGE),
    "fifteen-node": Shape(
        preset="fifteen-node", controllers=3, workers=12, controller=_CONTROLLER, worker=_WORKER
    ),
}
"""Shapes by preset, smallest first."""

_QUORUM = 3
"""Hosts from which on the loss of one leaves a majority of controllers."""


def room(host: FoundHost) -> int:
    """MiB of a host that nobody was promised."""
    return max(host.memory - HOST_RESERVE - host.promised, 0)


def shape_for(hosts: Sequence[FoundHost]) -> tuple[Shape, str]:
    """The shape that fits hosts, and why."""
    count = len(hosts)
    if count < _QUORUM:
        return SHAPES["single"], (
            "one host holds one machine, controller and worker at once"
            if count == 1
            else "one of two hosts would hold most of three controllers, so one machine is as safe"
        )
    if count == _QUORUM:
        return SHAPES["three-node"], "three hosts hold one controller each, and may lose one"
    large = SHAPES["fifteen-node"]
    needed = large.controllers * large.controller.memory
    needed += large.workers * (large.worker or large.controller).least_memory
    free = sum(room(host) for host in hosts)
    if free < needed:
        return SHAPES["three-node"], (
            f"{count} hosts have {free // 1024} GiB of memory that nobody was promised, and fifteen"
            f" machines need {needed // 1024}"
        )
    return large, f"{count} hosts have {free // 1024} GiB of memory that nobody was promised"
