"""One deterministic world: clusters, time, dice, faults, bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Faults, Point
from stockman_lab.core.saved import plain, restored
from stockman_lab.core.timeline import Arguments, Timeline, TimelineState
from stockman_lab.core.turns import next_turn
from stockman_lab.guest.systems import Systems
from stockman_lab.images.blobs import Blobs
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.cluster_state import ClusterState
from stockman_lab.pve.environment import Environment, NothingOutside, Outside
from stockman_lab.pve.happenings import happen
from stockman_lab.talos.fleet import Fleet
from stockman_lab.talos.guest import KIND, PLATFORMS, TalosGuest
from stockman_lab.world.state import Memory, WorldState

if TYPE_CHECKING:
    from stockman_lab.factory.state import FactoryState
    from stockman_lab.kube.clusters.clusters import Kubernetes
    from stockman_lab.registry.registry import Registry
    from stockman_lab.talos.machine import Machine


def remember(world: WorldState) -> list[int]:
    """Make the memories that are due; returns the numbers of those that are no more."""
    now, memories = world.timeline.now, world.memories
    lying = {
        fault.number: fault
        for fault in world.faults.listed
        if fault.point is Point.REQUEST and fault.effect is Effect.LIE and not fault.is_over(now)
    }
    gone = [
        number
        for number, memory in memories.items()
        if number not in lying or _is_too_old(memory, lying[number], now)
    ]
    for number in gone:
        for name in memories.pop(number).blobs:
            world.blobs.release(name)
    for number, fault in lying.items():
        if fault.has_begun(now) and number not in memories:
            memories[number] = _memory(world)
    return gone


def recalled(world: WorldState, fault: Fault) -> WorldState:
    """The world that a fault remembers."""
    world_state = restored(WorldState, world.memories[fault.number].state)
    world_state.blobs = world.blobs
    return world_state


def _is_too_old(memory: Memory, fault: Fault, now: float) -> bool:
    return fault.seconds > 0 and now - memory.at > fault.seconds


def _memory(world: WorldState) -> Memory:
    names = list(world.blobs.holders)
    for name in names:
        world.blobs.hold(name)
    return Memory(world.timeline.now, plain(replace(world, blobs=Blobs(), memories={})), names)


class LateKubernetes:
    """What machines tell before there is a cluster is told to nobody."""

    def __init__(self, states: Mapping[str, object], load: Callable[[], Kubernetes]) -> None:
        self._states = states
        self._load = load

    def notice(self, machine: Machine) -> None:
        """Something happened to a machine."""
        if self._states:
            self._load().notice(machine)

    def served(self, machine: Machine) -> None:
        """The API server of a machine began to answer."""
        self._load().served(machine)

    def drain(self, machine: Machine) -> bool:
        """Close a node and evict its pods."""
        return bool(self._states) and self._load().drain(machine)

    def listed(self, machine: Machine, plural: str) -> Sequence[Mapping[str, object]]:
        """Objects of a kind of the machine's cluster."""
        return self._load().listed(machine, plural) if self._states else ()

    def manifests(self, machine: Machine) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """What the machine brings into its cluster."""
        return self._load().manifests(machine) if self._states else {}


KILL = "world.host.kill"
LOOK = "world.look"
_TALOS = "talos."
_KUBE = "kube."
_LASTING = frozenset({Point.NETWORK, Point.ETCD, Point.CLOCK, Point.NODE})
"""Points whose faults machines have to live with while they last, whoever asks or does not."""
_AFTER = 0.001
"""Seconds after its first and last moments when a fault is seen to be there, or to be over."""


class World:
    """The simulated world at work."""

    def __init__(self, state: WorldState, outside: Outside | None = None) -> None:
        self.state = state
        self._registry: Registry | None = None
        self.timeline = Timeline(state.timeline, self._happen)
        self.around = Environment(
            timeline=self.timeline,
            dice=state.dice,
            faults=state.faults,
            blobs=state.blobs,
            outside=outside or NothingOutside(),
            systems=Systems(),
            network=state.network,
            remember=self._remember,
            recall=self._recall,
        )
        self.recalled: dict[int, World] = {}
        """Memories that came to life, by the numbers of faults."""
        self.clusters = {
            name: Cluster(cluster, self.around) for name, cluster in state.clusters.items()
        }
        self.talos = Fleet(state.talos, self.around, self.clusters, self)
        self.talos.kubernetes = LateKubernetes(state.kubernetes, lambda: self.kubernetes)
        self._kubernetes: Kubernetes | None = None
        self.around.systems.register(
            KIND,
            PLATFORMS,
            lambda: TalosGuest(self.talos),
            lambda saved: TalosGuest.loaded(self.talos, saved),
        )

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

    @property
    def factory(self) -> FactoryState:
        """The Image Factory."""
        return self.state.factory

    @property
    def registry(self) -> Registry:
        """Where container images are pulled from."""
        from stockman_lab.registry.registry import Registry

        if self._registry is None:
            state = self.state
            self._registry = Registry(state.registry, state.factory, state.faults, lambda: self.now)
        return self._registry

    @property
    def kubernetes(self) -> Kubernetes:
        """The clusters that Talos machines make up, with all that runs in them."""
        from stockman_lab.kube.clusters.clusters import Kubernetes

        if self._kubernetes is None:
            state = self.state
            self._kubernetes = Kubernetes(
                self.talos, state.kubernetes, repositories=state.repositories
            )
        return self._kubernetes

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
        """Carry out faults that strike by themselves: hosts that lose their power, networks.

        Those that are set for later wait for their moment. Machines take notice of what is around
        them: now, and when something of that begins or ends.
        """
        self._plan_looks()
        self.talos.look_around()
        for fault in self.faults.listed:
            if fault.point is not Point.HOST or fault.effect is not Effect.KILL or fault.struck:
                continue
            wait = 0.0 if fault.since is None else fault.since - self.now
            self.timeline.after(wait, KILL, {"number": fault.number})

    def take_back(self, number: int) -> bool:
        """End a fault; returns whether there was one."""
        back = self.faults.remove(number)
        if self.state.memories:
            self._remember()
        self.talos.look_around()
        return back

    def switch(self, name: str, *, on: bool) -> None:
        """Give a host its power, or take it; nothing happens where it is so already."""
        from stockman_lab.pve.host_power import give_power, lose_power

        for cluster in self.clusters.values():
            host = cluster.state.hosts.get(name)
            if host is not None and host.has_power is not on:
                (give_power if on else lose_power)(cluster, host)

    def _plan_looks(self) -> None:
        """Have machines take notice when a fault of their surroundings begins, and when it ends."""
        planned = {event.at for event in self.state.timeline.events.values() if event.name == LOOK}
        for fault in self.faults.listed:
            if fault.point not in _LASTING:
                continue
            for moment in (fault.since, fault.until):
                if moment is not None and moment >= self.now and moment + _AFTER not in planned:
                    planned.add(moment + _AFTER)
                    self.timeline.at(moment + _AFTER, LOOK, {})
            turn = next_turn(fault, self.now) if fault.point is Point.NODE else None
            if turn is not None and fault.fits_time(self.now) and turn + _AFTER not in planned:
                planned.add(turn + _AFTER)
                self.timeline.at(turn + _AFTER, LOOK, {}, patient=True)

    def _remember(self) -> None:
        for number in remember(self.state):
            self.recalled.pop(number, None)

    def _recall(self, fault: Fault, cluster: str) -> tuple[ClusterState, Environment]:
        if fault.number not in self.recalled:
            state = recalled(self.state, fault)
            self.recalled[fault.number] = World(state, self.around.outside)
        found = self.recalled[fault.number]
        return found.state.clusters[cluster], found.around

    def _happen(self, name: str, arguments: Arguments) -> None:
        if name == KILL:
            _kill_host(self, arguments)
        elif name == LOOK:
            self._plan_looks()
            self.talos.look_around()
        elif name.startswith(_KUBE):
            self.kubernetes.happen(name, arguments)
        elif name.startswith(_TALOS):
            self.talos.happen(name, arguments)
        else:
            happen(self.clusters[str(arguments["cluster"])], name, arguments)


def _kill_host(world: World, arguments: Arguments) -> None:
    from stockman_lab.pve.host_power import lose_power

    fault = next((one for one in world.faults.listed if one.number == arguments["number"]), None)
    if fault is None or fault.struck:
        return
    for cluster in world.clusters.values():
        for host in cluster.state.hosts.values():
            facts = {"cluster": cluster.name, "node": host.name, "host": host.name}
            if host.has_power and fault.fits(world.now, facts):
                lose_power(cluster, host)
    fault.struck += 1
