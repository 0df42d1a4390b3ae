"""All Talos machines of a world, and what they are to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from stockman_lab.guest.view import DiskView
from stockman_lab.pve import space
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import FleetState, MachineState, Stage

if TYPE_CHECKING:
    from stockman.talos.schematic import ImageSchematic
    from stockman_lab.core.faults import Fault, Point
    from stockman_lab.core.timeline import Arguments
    from stockman_lab.factory.state import FactoryState
    from stockman_lab.guest.view import GuestView
    from stockman_lab.pve.cluster import Cluster
    from stockman_lab.pve.environment import Environment
    from stockman_lab.pve.guest import Guest
    from stockman_lab.registry.registry import Registry
    from stockman_lab.talos.machine import Machine


class KubernetesSide(Protocol):
    """The clusters that machines make up."""

    def notice(self, machine: Machine) -> None:
        """Something happened to a machine: its kubelet began or ended, its network went."""
        ...

    def served(self, machine: Machine) -> None:
        """The API server of a machine began to answer."""
        ...

    def drain(self, machine: Machine) -> bool:
        """Close a node and evict its pods; returns whether somebody tells when that is done."""
        ...

    def listed(self, machine: Machine, plural: str) -> Sequence[Mapping[str, object]]:
        """Objects of a built-in kind of the machine's cluster, whether its API answers or not."""
        ...

    def manifests(self, machine: Machine) -> Mapping[str, Sequence[Mapping[str, object]]]:
        """What the machine brings into its cluster, by the names that Talos has for it."""
        ...


_FORGOTTEN_AFTER = 1800.0
"""Seconds that discovery keeps a member that says nothing more."""
_UNTIL_NOTICED = 1.4
"""Seconds: clients that lost a machine try again after one, and have to find it gone."""
_UNTIL_SEEN = 0.1
"""Seconds: those who watch are told within this."""


class Shelves(Protocol):
    """Where images come from: the Image Factory and the registry of a world."""

    @property
    def factory(self) -> FactoryState: ...

    @property
    def registry(self) -> Registry: ...


class Fleet:
    """The Talos side of a world."""

    def __init__(
        self,
        state: FleetState,
        environment: Environment,
        clusters: Mapping[str, Cluster],
        shelves: Shelves,
    ) -> None:
        self.state = state
        self.around = environment
        self._shelves = shelves
        self._clusters = clusters
        self.by_key: dict[str, Machine] = {
            key: Machine(self, one) for key, one in state.machines.items()
        }
        self._groups: dict[str, dict[str, Machine]] = {}
        self._group_of: dict[str, str] = {}
        self._controllers: dict[str, dict[str, Machine]] = {}
        self._all_controllers: tuple[Machine, ...] | None = None
        """Of all clusters, with power or without, in order. None: that has to be put together."""
        self._disks: dict[Machine, DiskView] = {}
        """What was shown last; the same as long as its contents are."""
        for machine in self.by_key.values():
            self.regroup(machine)
        self._listeners: list[Callable[[], None]] = []
        self._pause = 0.0
        self.real_clock: Callable[[], float] | None = None
        """The moment outside of the world. None: it is not served."""
        self.changes = 0
        """Rises whenever something happened to a machine."""
        self.kubernetes: KubernetesSide | None = None
        """The clusters that machines make up. None: they only say that they are ready."""

    @property
    def now(self) -> float:
        return self.around.now

    @property
    def certificates_from(self) -> float:
        """From when on new certificates hold: those who check them live outside of the world."""
        return self.now if self.real_clock is None else self.real_clock()

    # -- machines ------------------------------------------------------------------------------

    @property
    def machines(self) -> list[Machine]:
        """All machines that ever booted, with power or without."""
        return list(self.by_key.values())

    def machine(self, cluster: str, vmid: int) -> Machine:
        """The machine in a virtual machine, new where there was none yet."""
        key = f"{cluster}/{vmid}"
        machine = self.by_key.get(key)
        if machine is None:
            machine_state = self.state.machines[key] = MachineState(cluster=cluster, vmid=vmid)
            machine = self.by_key[key] = Machine(self, machine_state)
        return machine

    def forget(self, machine: Machine) -> None:
        """A virtual machine is gone for good."""
        machine.take_config(b"")
        self.state.machines.pop(machine.key, None)
        self.by_key.pop(machine.key, None)
        self._disks.pop(machine, None)
        self.changed()

    def on(self) -> Iterator[Machine]:
        """Machines that have power."""
        return (one for one in self.by_key.values() if one.state.is_on)

    def machine_at(self, name: str, near: Machine | None = None) -> Machine | None:
        """The machine at an address or with a host name; of two, the one of the same cluster."""
        rows = [
            one for one in self.on() if name in one.addresses or name == one.state.network.hostname
        ]
        if near is not None and len(rows) > 1:
            together = set(map(id, self.group(near)))
            rows.sort(key=lambda one: id(one) not in together)
        return rows[0] if rows else None

    def regroup(self, machine: Machine) -> None:
        """A machine has another configuration, and so belongs to another cluster, or to none."""
        self._all_controllers = None
        before = self._group_of.pop(machine.key, "")
        if before:
            self._groups[before].pop(machine.key, None)
            self._controllers[before].pop(machine.key, None)
        config = machine.config
        name = "" if config is None else config.cluster_id or config.os_ca.crt
        if name:
            self._groups.setdefault(name, {})[machine.key] = machine
            leading = self._controllers.setdefault(name, {})
            if machine.is_controlplane:
                leading[machine.key] = machine
            self._group_of[machine.key] = name

    def group(self, machine: Machine) -> list[Machine]:
        """Machines with power that belong to the same Talos cluster, the given one too."""
        name = self._group_of.get(machine.key, "")
        group = [one for one in self._groups.get(name, {}).values() if one.state.is_on]
        return group if machine in group else [*group, machine]

    def members(self, machine: Machine) -> list[Machine]:
        """Machines that discovery knows of.

        Who loses power is not forgotten at once; who is reset takes leave.
        """
        group = self._groups.get(self._group_of.get(machine.key, ""), {})
        gone = [
            one
            for one in group.values()
            if not one.state.is_on
            and one.state.off_at
            and self.now - one.state.off_at < _FORGOTTEN_AFTER
        ]
        known = [*self.group(machine), *(one for one in gone if one is not machine)]
        return [one for one in known if one is machine or not one.state.took_leave]

    def controllers(self, machine: Machine) -> list[Machine]:
        """Control plane machines with power of the same Talos cluster, in a lasting order."""
        controller = self._controllers.get(self._group_of.get(machine.key, ""), {})
        return [one for _, one in sorted(controller.items()) if one.state.is_on]

    def all_controllers(self) -> list[Machine]:
        """Control plane machines with power of all clusters, in a lasting order."""
        every = self._all_controllers
        if every is None:
            by_name = {key: one for some in self._controllers.values() for key, one in some.items()}
            every = self._all_controllers = tuple(by_name[key] for key in sorted(by_name))
        return [one for one in every if one.state.stage is not Stage.OFF]

    def waiting_for_kubernetes(self, machine: Machine) -> list[Machine]:
        """Workers of the same cluster that are not ready, and may be now."""
        rows = [one for one in self.group(machine) if not one.state.kubernetes.node_ready]
        return sorted((one for one in rows if not one.is_controlplane), key=lambda one: one.key)

    def schematic(self, schematic_id: str) -> ImageSchematic | None:
        """What an id of the Image Factory stands for. None: nobody posted it."""
        from stockman_lab.factory.schematics import schematic_of

        return schematic_of(self._shelves.factory, schematic_id)

    @property
    def factory(self) -> FactoryState:
        return self._shelves.factory

    @property
    def registry(self) -> Registry:
        """Where machines pull images from."""
        return self._shelves.registry

    # -- the side of Proxmox VE ----------------------------------------------------------------

    def guest(self, machine: Machine) -> Guest | None:
        """The virtual machine around a machine. None: it was destroyed."""
        cluster = self._clusters.get(machine.state.cluster)
        return None if cluster is None else cluster.state.guests.get(machine.state.vmid)

    def proxmox(self, machine: Machine) -> Cluster | None:
        """The Proxmox cluster that a machine runs in. None: it is gone."""
        return self._clusters.get(machine.state.cluster)

    def view(self, machine: Machine) -> GuestView:
        """What a machine sees of its virtual machine."""
        from stockman_lab.pve.qemu.view import guest_view

        cluster = self._clusters[machine.state.cluster]
        return guest_view(cluster, cluster.state.guests[machine.state.vmid])

    def disk(self, machine: Machine, slot: str) -> DiskView | None:
        """One disk of a machine with what is written on it. None: there is none."""
        cluster = self._clusters.get(machine.state.cluster)
        guest = None if cluster is None else cluster.state.guests.get(machine.state.vmid)
        if cluster is None or guest is None:
            return None
        name = _volume_name(guest.config.values.get(slot, ""))
        volume = space.find(cluster, guest.node, name) if name else None
        if volume is None:
            return None
        known = self._disks.get(machine)
        if known is None or known.contents is not volume.contents or known.slot != slot:
            known = DiskView(slot=slot, size=volume.size, contents=volume.contents)
            self._disks[machine] = known
        known.size = volume.size
        return known

    def reset(self, machine: Machine) -> None:
        """Let a machine begin from its firmware."""
        from stockman_lab.pve.errors import ApiError
        from stockman_lab.pve.qemu.power import boot

        guest = self.guest(machine)
        if guest is None or not guest.is_running:
            return
        try:
            boot(self._clusters[machine.state.cluster], guest)
        except ApiError:
            return  # a fault took its power
        if not guest.inside:
            machine.go_dark()  # nothing boots: its screen is black

    def power_off(self, machine: Machine) -> None:
        """A machine switches itself off."""
        from stockman_lab.pve.qemu.power import power_off

        guest = self.guest(machine)
        if guest is not None and guest.is_running:
            power_off(self._clusters[machine.state.cluster], guest)

    def fault(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        """A fault that strikes here and now."""
        faults = self.around.faults
        return faults.due(point, self.now, facts) if faults.listed else None

    def fault_lasts(self, point: Point, facts: Mapping[str, object]) -> Fault | None:
        """A fault that lasts and is not used up by looking."""
        faults = self.around.faults
        return faults.holds(point, self.now, facts) if faults.listed else None

    # -- who looks on ---------------------------------------------------------------------------

    def went_quiet(self, machine: Machine) -> None:
        """The API of a machine is gone; who follows it has to notice before it is back.

        Clients let go of a machine as soon as they hear of its reboot, and come again a second
        later: they count too.
        """
        if machine.was_followed:
            self._pause = _UNTIL_NOTICED

    def let_see(self) -> None:
        """Something of a machine is gone for a while; who watches has to see that."""
        self._pause = max(self._pause, _UNTIL_SEEN)

    def taken_pause(self) -> float:
        """Seconds of real time that the world has to stand still now, told once."""
        pause, self._pause = self._pause, 0.0
        return pause

    # -- changes -------------------------------------------------------------------------------

    def listen(self, listener: Callable[[], None]) -> None:
        """Be called whenever something happened to a machine."""
        self._listeners.append(listener)

    def changed(self) -> None:
        """Something happened to a machine."""
        self.changes += 1
        for listener in self._listeners:
            listener()

    def happen(self, name: str, arguments: Arguments) -> None:
        """Something that was planned for a machine happens, if it is still the same boot."""
        machine = self.by_key.get(str(arguments["machine"]))
        if machine is None or machine.state.boot != arguments["boot"] or not machine.state.is_on:
            return
        _load_module("happenings").happen(machine, name, arguments)
        self.settle(machine)

    def look_around(self) -> None:
        """Let all machines take notice, after something around them changed: a fault, a cable."""
        for machine in list(self.on()):
            self.settle(machine)

    def settle(self, machine: Machine) -> None:
        """Let those around a machine take notice of what happened to it."""
        _load_module("noticing").notice(self, machine)
        self.changed()


@lru_cache(maxsize=256)
def _volume_name(drive: str) -> str:
    """The volume of a drive as a configuration writes it. Empty: it has none."""
    return drive.partition(",")[0].removeprefix("file=")


def _load_module(name: str) -> ModuleType:
    """What moves machines, by name: that knows the land in turn."""
    return import_module(f"{__package__}.{name}")
