"""One deterministic world: clusters, time, dice, faults, bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman.lab.core.dice import Dice
from stockman.lab.core.faults import Effect, Faults, Point
from stockman.lab.core.timeline import Arguments, Timeline, TimelineState
from stockman.lab.guest.network import Pools
from stockman.lab.guest.systems import Systems
from stockman.lab.images.blobs import Blobs
from stockman.lab.pve.cluster import Cluster
from stockman.lab.pve.cluster_state import ClusterState
from stockman.lab.pve.happenings import happen
from stockman.lab.pve.outside import NothingOutside, Outside
from stockman.lab.pve.surroundings import Surroundings

VERSION = 1
KILL = "world.host.kill"


@dataclass
class WorldState:
    """All that a world is; what a state file holds."""

    timeline: TimelineState
    dice: Dice
    version: int = VERSION
    faults: Faults = field(default_factory=Faults)
    blobs: Blobs = field(default_factory=Blobs)
    network: Pools = field(default_factory=Pools)
    clusters: dict[str, ClusterState] = field(default_factory=dict)
    repositories: dict[str, str] = field(default_factory=dict)
    """Where Git repositories really are, by the URLs that files name."""


class World:
    """The simulated world at work."""

    def __init__(self, state: WorldState, outside: Outside | None = None) -> None:
        self.state = state
        self.timeline = Timeline(state.timeline, self._happen)
        self.around = Surroundings(
            timeline=self.timeline,
            dice=state.dice,
            faults=state.faults,
            blobs=state.blobs,
            outside=outside or NothingOutside(),
            systems=Systems(),
            network=state.network,
        )
        self.clusters = {name: Cluster(one, self.around) for name, one in state.clusters.items()}

    @classmethod
    def new(cls, *, seed: int = 1, now: float = 1_767_225_600.0) -> World:
        """An empty world at the beginning of 2026, or at another moment."""
        return cls(WorldState(timeline=TimelineState(now=now), dice=Dice(seed=seed)))

    @property
    def now(self) -> float:
        return self.timeline.now

    @property
    def faults(self) -> Faults:
        return self.state.faults

    def add_cluster(self, state: ClusterState) -> Cluster:
        """Put a Proxmox cluster into the world."""
        self.state.clusters[state.name] = state
        cluster = self.clusters[state.name] = Cluster(state, self.around)
        return cluster

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.timeline.run_until(self.now + seconds)

    def settle(self) -> None:
        """Let everything happen that is on its way."""
        self.timeline.run_all()

    def strike(self) -> None:
        """Carry out faults that strike by themselves: hosts that lose their power.

        Those that are set for later wait for their moment.
        """
        for fault in self.faults.listed:
            if fault.point is not Point.HOST or fault.effect is not Effect.KILL or fault.struck:
                continue
            wait = 0.0 if fault.since is None else fault.since - self.now
            self.timeline.after(wait, KILL, {"number": fault.number})

    def _happen(self, name: str, arguments: Arguments) -> None:
        if name == KILL:
            _kill_host(self, arguments)
        else:
            happen(self.clusters[str(arguments["cluster"])], name, arguments)


def _kill_host(world: World, arguments: Arguments) -> None:
    from stockman.lab.pve.host_power import lose_power

    fault = next((one for one in world.faults.listed if one.number == arguments["number"]), None)
    if fault is None or fault.struck:
        return
    for cluster in world.clusters.values():
        for host in cluster.state.hosts.values():
            facts = {"cluster": cluster.name, "node": host.name, "host": host.name}
            if host.has_power and fault.fits(world.now, facts):
                lose_power(cluster, host)
    fault.struck += 1
