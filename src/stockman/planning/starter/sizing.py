"""Number and sizes of the machines, by preset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stockman.model.names import HostName
from stockman.model.record import record
from stockman.planning.starter.observed import StarterHost

HOST_RESERVE = 4096
"""MiB that are reserved for a host."""


@record
class MachineSize:
    """The resources of one kind of machine, and its minimum."""

    cores: int
    memory: int
    """MiB."""
    least_memory: int
    disk: int
    """GiB."""
    least_disk: int


@record
class ClusterShape:
    """Machines of a preset."""

    preset: str
    controllers: int
    workers: int
    controller: MachineSize
    worker: MachineSize | None = None
    """None: controllers run the workloads."""

    @property
    def count(self) -> int:
        return self.controllers + self.workers


_COMBINED = MachineSize(cores=4, memory=8192, least_memory=4096, disk=64, least_disk=20)
_LARGE = MachineSize(cores=8, memory=16384, least_memory=4096, disk=100, least_disk=20)
_CONTROLLER = MachineSize(cores=4, memory=8192, least_memory=4096, disk=64, least_disk=20)
_WORKER = MachineSize(cores=8, memory=16384, least_memory=8192, disk=100, least_disk=20)

SHAPES = {
    "single": ClusterShape(preset="single", controllers=1, workers=0, controller=_COMBINED),
    "three-node": ClusterShape(preset="three-node", controllers=3, workers=0, controller=_LARGE),
    "fifteen-node": ClusterShape(
        preset="fifteen-node", controllers=3, workers=12, controller=_CONTROLLER, worker=_WORKER
    ),
}
"""Shapes by preset, smallest first."""

_QUORUM = 3
"""Number of hosts from which on the loss of one leaves a majority of controllers."""


def free_memory(host: StarterHost) -> int:
    """Return the unassigned MiB of a host."""
    return max(host.memory - HOST_RESERVE - host.promised, 0)


def shape_for(hosts: Sequence[StarterHost]) -> tuple[ClusterShape, str]:
    """Return the shape that fits the hosts, and the reason."""
    count = len(hosts)
    if count < _QUORUM:
        return SHAPES["single"], (
            "one host runs one machine that is controller and worker"
            if count == 1
            else "one of two hosts would run two of three controllers, so one machine is as safe"
        )
    if count == _QUORUM:
        return SHAPES["three-node"], "three hosts run one controller each and may lose one"
    large = SHAPES["fifteen-node"]
    needed = large.controllers * large.controller.memory
    needed += large.workers * (large.worker or large.controller).least_memory
    free = sum(free_memory(host) for host in hosts)
    if free < needed:
        return SHAPES["three-node"], (
            f"{count} hosts have {free // 1024} GiB of unassigned memory, and fifteen"
            f" machines need {needed // 1024}"
        )
    return large, f"{count} hosts have {free // 1024} GiB of unassigned memory"


_STEP = 1024


@record
class PlacedMachine:
    """A machine on its host."""

    is_controller: bool
    host: HostName


@record
class MachinePlacement:
    """All machines, controllers first, and the size of each kind."""

    machines: tuple[PlacedMachine, ...]
    controller: MachineSize
    worker: MachineSize | None

    def count_on(self, host: str) -> int:
        return sum(machine.host == host for machine in self.machines)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts with machines."""
        return tuple(sorted({str(machine.host) for machine in self.machines}))

    def size_of(self, machine: PlacedMachine) -> MachineSize:
        return self.controller if machine.is_controller else self.worker or self.controller

    def disk_on(self, host: str) -> int:
        """Return the minimum GiB of disks of the machines on a host."""
        return sum(
            self.size_of(machine).least_disk for machine in self.machines if machine.host == host
        )


def place_machines(shape: ClusterShape, hosts: Sequence[StarterHost]) -> MachinePlacement:
    """Place controllers on as many hosts as possible, and workers where most memory is free."""
    free = {host.name: free_memory(host) for host in hosts}
    controllers: Counter[HostName] = Counter()
    machines = []
    for _ in range(shape.controllers):
        name = min(free, key=lambda host: (controllers[host], -free[host], host))
        controllers[name] += 1
        free[name] -= shape.controller.memory
        machines.append(PlacedMachine(is_controller=True, host=name))
    workers: Counter[HostName] = Counter()
    for _ in range(shape.workers):
        name = min(free, key=lambda host: (-free[host], workers[host], host))
        workers[name] += 1
        free[name] -= (shape.worker or shape.controller).memory
        machines.append(PlacedMachine(is_controller=False, host=name))
    return _fit_sizes(shape, hosts, tuple(machines))


def _fit_sizes(
    shape: ClusterShape, hosts: Sequence[StarterHost], machines: tuple[PlacedMachine, ...]
) -> MachinePlacement:
    """Shrink sizes to the fullest host, but not below the minimum."""
    sizes = {True: shape.controller, False: shape.worker or shape.controller}
    shares, cores = [1.0], max(size.cores for size in sizes.values())
    for host in hosts:
        machine_sizes = [
            sizes[machine.is_controller] for machine in machines if machine.host == host.name
        ]
        if machine_sizes:
            shares.append(free_memory(host) / sum(size.memory for size in machine_sizes))
            cores = min(cores, max(host.cores, 1))
    share = min(shares)
    return MachinePlacement(
        machines=machines,
        controller=_shrink(shape.controller, share, cores),
        worker=None if shape.worker is None else _shrink(shape.worker, share, cores),
    )


def _shrink(size: MachineSize, share: float, cores: int) -> MachineSize:
    memory = max(int(size.memory * share) // _STEP * _STEP, size.least_memory)
    return MachineSize(
        cores=min(size.cores, cores),
        memory=min(size.memory, memory),
        least_memory=size.least_memory,
        disk=size.disk,
        least_disk=size.least_disk,
    )
