"""The doors of Talos machines and of the API servers on them; they come and go with machines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from stockman_lab.servers.context import ServingContext
from stockman_lab.servers.options import KUBE_PORT, TALOS_PORT

if TYPE_CHECKING:
    from stockman_lab.servers.kube_servers import KubeServers
    from stockman_lab.servers.talos_servers import TalosServers
    from stockman_lab.talos.machine import Machine
    from stockman_lab.world.world import World

_YEAR = timedelta(days=365)


def talosconfig_of(
    world: World, now: datetime, endpoint: Callable[[Machine], str] | None = None
) -> str:
    """A talosconfig with a context for every cluster, for an admin. Empty: there is no cluster.

    `endpoint` tells where a machine answers. None: on its address.
    """
    clusters: dict[str, list[Machine]] = {}
    for machine in world.talos.on():
        config = machine.config
        if config is not None and config.os_ca.key:
            clusters.setdefault(config.cluster_name, []).append(machine)
    if not clusters:
        return ""
    return _text(world, clusters, now, endpoint or (lambda one: one.address))


def _text(
    world: World,
    clusters: dict[str, list[Machine]],
    now: datetime,
    endpoint: Callable[[Machine], str],
) -> str:
    from stockman.crypto.certificates import (
        CertificateRequest,
        Purpose,
        ValidityPeriod,
        issue_certificate,
    )
    from stockman.crypto.pem import CertificateAndKey
    from stockman.model.secret import Secret
    from stockman.talos.credentials.talosconfig import Talosconfig, client_context, talosconfig_text
    from stockman_lab.core.dice import Dice

    contexts = {}
    for number, (name, machines) in enumerate(clusters.items()):
        config = machines[0].config
        if config is None:
            continue
        authority = CertificateAndKey(crt=config.os_ca.crt, key=Secret(config.os_ca.key))
        leaf = CertificateRequest(
            period=ValidityPeriod.lasting(now.astimezone(UTC), _YEAR),
            purposes=(Purpose.CLIENT,),
            organizations=("os:admin",),
        )
        dice = Dice(world.state.dice.seed, (1 << 44) + number * 64)
        client = issue_certificate(authority, leaf, dice.random_bytes)
        endpoints = [endpoint(machine) for machine in machines]
        contexts[name] = client_context(
            config.os_ca.crt, client, endpoints=endpoints, nodes=[machines[0].address]
        )
    return talosconfig_text(Talosconfig(context=next(iter(contexts)), contexts=contexts)).reveal()


def kubeconfig_of(
    world: World, now: datetime, place: Callable[[Machine], tuple[str, int] | None]
) -> str:
    """A kubeconfig with a context for every cluster, for an admin. Empty: none of them answers.

    `place` tells where the API server of a machine answers.
    """
    clusters: dict[str, tuple[Machine, tuple[str, int]]] = {}
    for machine in world.talos.all_controllers():
        config, found = machine.config, place(machine)
        if config is None or found is None or not config.k8s_ca.key:
            continue
        # Where the shared address is, everybody is asked there.
        if config.cluster_name not in clusters or found[0] == machine.state.network.vip:
            clusters[config.cluster_name] = machine, found
    return _kubeconfig(world, clusters, now) if clusters else ""


def _kubeconfig(
    world: World, clusters: dict[str, tuple[Machine, tuple[str, int]]], now: datetime
) -> str:
    import base64

    from stockman.config.writers.yaml_writer import render_yaml
    from stockman_lab.core.dice import Dice
    from stockman_lab.servers.kube_certificates import admin_certificate

    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    servers, users, contexts = [], [], []
    for number, (name, (machine, (address, port))) in enumerate(clusters.items()):
        config = machine.config
        if config is None:
            continue
        dice = Dice(world.state.dice.seed, (1 << 46) + number * 64)
        client = admin_certificate(config, now, dice.random_bytes)
        host = f"[{address}]" if ":" in address else address
        server = {
            "server": f"https://{host}:{port}",
            "certificate-authority-data": encoded(config.k8s_ca.crt),
        }
        shown = {
            "client-certificate-data": encoded(client.crt),
            "client-key-data": encoded(client.key.reveal()),
        }
        user = f"admin@{name}"
        servers.append({"name": name, "cluster": server})
        users.append({"name": user, "user": shown})
        context = {"cluster": name, "namespace": "default", "user": user}
        contexts.append({"name": user, "context": context})
    return render_yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": servers,
            "users": users,
            "contexts": contexts,
            "current-context": contexts[0]["name"],
        }
    )


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
        return talosconfig_of(self._premises.world, self._premises.now, self._endpoint)

    def kubeconfig(self) -> str:
        """A kubeconfig for all clusters that answer. Empty: there is none."""
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
