"""The doors of Talos machines and of the API servers on them; they come and go with machines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.options import KUBE_PORT, TALOS_PORT

if TYPE_CHECKING:
    from stockman_lab.servers.kube_servers import KubeServers
    from stockman_lab.servers.talos_servers import TalosServers
    from stockman_lab.talos.machine import Machine


class MachineServers:
    """Each machine answers on its own address."""

    def __init__(self, premises: ServingContext) -> None:
        self._premises = premises
        self.talos: TalosServers | None = None
        """The doors of Talos machines. None: no machine has booted yet."""
        self.kube: KubeServers | None = None
        """The doors of API servers. None: no machine has booted yet, or nobody wants them."""
        self._telling: asyncio.Handle | None = None

    def stop(self) -> None:
        if self.kube is not None:
            self.kube.stop()
            self.kube = None
        if self.talos is not None:
            self.talos.stop()
            self.talos = None

    def happened(self) -> None:
        """Called after somebody changed the world from outside."""
        if self.talos is not None:
            self.talos.happened()
        if self.kube is not None:
            self.kube.happened()

    def place_of(self, machine: Machine) -> tuple[str, int] | None:
        """Where the API of a Talos machine answers. None: nowhere."""
        return None if self.talos is None else self.talos.place_of(machine, machine.address)

    def talosconfig(self) -> str:
        """A talosconfig for all clusters of Talos machines. Empty: there is none."""
        from stockman_lab.servers.talos_clients import talosconfig_of

        return talosconfig_of(self._premises.world, self._premises.now, self._endpoint)

    def kubeconfig(self) -> str:
        """A kubeconfig for all clusters that answer. Empty: there is none."""
        from stockman_lab.servers.talos_clients import kubeconfig_of

        return kubeconfig_of(self._premises.world, self._premises.now, self.kube_place)

    def kube_place(self, machine: Machine) -> tuple[str, int] | None:
        """Where the API server of a machine answers. None: nowhere."""
        if self.kube is None:
            return None
        vip = machine.state.network.vip
        shared = self.kube.place_of(machine, vip) if vip else None
        return shared or self.kube.place_of(machine, machine.address)

    def _endpoint(self, machine: Machine) -> str:
        place = self.place_of(machine)
        if place is None or place == (machine.address, TALOS_PORT):
            return machine.address
        return f"{place[0]}:{place[1]}"

    def open(self) -> None:
        """Follow the machines of the world; their doors open when one of them is switched on."""
        talos = self._premises.world.talos
        talos.real_clock = self._real_clock()
        talos.listen(self._on_machine_change)
        if any(True for _ in talos.on()):
            self._on_machine_change()

    def _real_clock(self) -> Callable[[], float]:
        """The moment outside: those who check certificates live there."""
        loop = asyncio.get_running_loop()
        begun, started = self._premises.now.timestamp(), loop.time()
        return lambda: begun + loop.time() - started

    def _on_machine_change(self) -> None:
        """Something happened to a Talos machine; the first one has their doors made."""
        if self.talos is None:
            from stockman_lab.servers.talos_servers import Keeping, TalosPlaces, TalosServers

            premises = self._premises
            keeping = Keeping(TalosPlaces(premises.manner.talos_port).of, premises.note)
            self.talos = TalosServers(
                premises.world.talos, premises.pace, premises.scratch, keeping
            )
            self.talos.reconcile()
            self._open_kube()
        elif self._telling is None:
            self._telling = asyncio.get_running_loop().call_soon(self._tell_machines)

    def _open_kube(self) -> None:
        premises = self._premises
        if premises.manner.kube_port is None:
            return
        from stockman_lab.servers.kube_servers import KubeServers
        from stockman_lab.servers.talos_servers import TalosPlaces

        talos_places = TalosPlaces(premises.manner.kube_port, KUBE_PORT)
        self.kube = KubeServers(
            premises.world, premises.pace, premises.scratch, talos_places.of, premises.note
        )
        self.kube.reconcile()

    def _tell_machines(self) -> None:
        """Whoever changed a machine, those who follow it are told."""
        self._telling = None
        self.happened()
