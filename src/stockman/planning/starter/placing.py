"""Which machine goes to which host, and how large each kind of machine is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.planning.starter.found import FoundHost
from stockman.planning.starter.shape import Shape, Size, room

_STEP = 1024


@record
class Placed:
    """A machine on its host."""

    is_controller: bool
    host: HostName


@record
class Placing:
    """All machines, controllers first, and what each kind gets."""

    machines: tuple[Placed, ...]
    controller: Size
    worker: Size | None

    def count_on(self, host: str) -> int:
        return sum(one.host == host for one in self.machines)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts that machines are on."""
        return tuple(sorted({str(one.host) for one in self.machines}))

    def size_of(self, machine: Placed) -> Size:
        return self.controller if machine.is_controller else self.worker or self.controller

    def disk_on(self, host: str) -> int:
        """GiB of disks that a host's machines need at least."""
        return sum(self.size_of(one).least_disk for one in self.machines if one.host == host)


def placed(shape: Shape, hosts: Sequence[FoundHost]) -> Placing:
    """Controllers on as many hosts as there are, workers where most room is left."""
    free = {host.name: room(host) for host in hosts}
    controllers: Counter[HostName] = Counter()
    machines = []
    for _ in range(shape.controllers):
        name = min(free, key=lambda one: (controllers[one], -free[one], one))
        controllers[name] += 1
        free[name] -= shape.controller.memory
        machines.append(Placed(is_controller=True, host=name))
    workers: Counter[HostName] = Counter()
    for _ in range(shape.workers):
        name = min(free, key=lambda one: (-free[one], workers[one], one))
        workers[name] += 1
        free[name] -= (shape.worker or shape.controller).memory
        machines.append(Placed(is_controller=False, host=name))
    return _sized(shape, hosts, tuple(machines))


def _sized(shape: Shape, hosts: Sequence[FoundHost], machines: tuple[Placed, ...]) -> Placing:
    """Sizes that fit on the fullest host, and never below the least."""
    wanted = {True: shape.controller, False: shape.worker or shape.controller}
    shares, cores = [1.0], max(one.cores for one in wanted.values())
    for host in hosts:
        here = [wanted[one.is_controller] for one in machines if one.host == host.name]
        if here:
            shares.append(room(host) / sum(one.memory for one in here))
            cores = min(cores, max(host.cores, 1))
    share = min(shares)
    return Placing(
        machines=machines,
        controller=_shrunk(shape.controller, share, cores),
        worker=None if shape.worker is None else _shrunk(shape.worker, share, cores),
    )


def _shrunk(size: Size, share: float, cores: int) -> Size:
    memory = max(int(size.memory * share) // _STEP * _STEP, size.least_memory)
    return Size(
        cores=min(size.cores, cores),
        memory=min(size.memory, memory),
        least_memory=size.least_memory,
        disk=size.disk,
        least_disk=size.least_disk,
    )
