"""A lab that is served by a thread, for tests that know nothing of event loops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from stockman_lab.pve.access.accounts import TokenChange, create_token
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.testing.steering import SteeredLab
from stockman_lab.world.world import World

T = TypeVar("T")
_TOKEN = "lab"
_PATIENCE = 60.0


@dataclass(slots=True, kw_only=True)
class ProxmoxLab(SteeredLab):
    """A running lab: where it answers, who may ask, and how to steer it."""

    endpoint: str
    """`https://127.x.y.z:8006`."""
    token_id: str
    """`root@pam!lab`, with all rights of root's."""
    token_secret: str
    ca: Path
    """The authority that signs the certificates of the hosts."""
    hosts: dict[str, str]
    """Addresses with ports by name."""
    ssh_ports: dict[str, int]
    """Ports of the SSH doors by name of the host. Empty: there are none."""
    ssh_key: str
    """A private key, as OpenSSH writes it, that opens those doors. Empty: there are none."""

    @property
    def authorization(self) -> str:
        """The value of the header that lets a request in."""
        return f"PVEAPIToken={self.token_id}={self.token_secret}"


@dataclass(slots=True, kw_only=True)
class TalosLab(SteeredLab):
    """A running lab with a Talos cluster: where machines answer, who may ask, how to steer it."""

    talosconfig: Path
    """For `talosctl --talosconfig`, with all rights of an administrator."""
    endpoints: list[str]
    """Where control plane machines answer: `127.x.y.z:PORT`."""
    machines: dict[str, str]
    """Addresses by name, for `--nodes`."""
    places: dict[str, str]
    """Where each machine answers itself, by name."""
    factory: str
    """URL of Image Factory and registry."""
    proxmox: ProxmoxLab
    """The Proxmox VE that the machines run on."""


@dataclass(frozen=True, slots=True)
class TalosPorts:
    """Ports of Talos machines, of images, and of API servers. 0: any that is free."""

    api: int = 0
    images: int = 0
    kube: int = 0


class LabThread:
    """Serves a world until it is stopped."""

    def __init__(  # noqa: PLR0913  # ports of every kind of door
        self,
        world: World,
        scratch: Path,
        now: datetime,
        port: int = 8006,
        ssh_port: int | None = None,
        talos: TalosPorts | None = None,
        manner: ServingOptions | None = None,
    ) -> None:
        self._world = world
        self._scratch = scratch
        self._now = now
        self._manner = manner or ServingOptions(port=port, ssh_port=ssh_port)
        if talos is not None:
            self._manner.talos_port, self._manner.images_port = talos.api, talos.images
            self._manner.kube_port = talos.kube
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._serving: Serving | None = None
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> ProxmoxLab:
        """Open the doors; raises what keeps them shut."""
        self._thread.start()
        self._started.result(_PATIENCE)
        cluster = next(iter(self._world.clusters.values()))
        secret = self._token()
        serving = self.serving
        authority = self.run(lambda: serving.hosts.authority(cluster))
        ca = self._scratch / "pve-root-ca.pem"
        ca.write_text(authority.certificate.pem, "ascii")
        places = serving.hosts.places
        has_ssh = any(one.ssh_port for one in places)
        key = self.run(lambda: serving.hosts.ssh_key().private) if has_ssh else ""
        first = places[0]
        return ProxmoxLab(
            endpoint=f"https://{first.address}:{first.port}",
            token_id=f"{ROOT}!{_TOKEN}",
            token_secret=secret,
            ca=ca,
            hosts={one.host: f"{one.address}:{one.port}" for one in places},
            ssh_ports={one.host: one.ssh_port for one in places if one.ssh_port},
            ssh_key=key,
            world=self._world,
            run=self.run,
            jump=serving.pace.jump,
        )

    def talos(self, proxmox: ProxmoxLab) -> TalosLab:
        """The Talos machines of a lab that was started."""
        serving = self.serving
        talosconfig = self._scratch / "talosconfig"
        talosconfig.touch(mode=0o600)
        talosconfig.write_text(self.run(serving.machines.talosconfig), "ascii")
        machines = list(self._world.talos.on())
        addresses = {
            machine.hostname: _place(serving.machines.place_of(machine)) for machine in machines
        }
        return TalosLab(
            talosconfig=talosconfig,
            endpoints=[
                addresses[machine.hostname] for machine in machines if machine.is_controlplane
            ],
            machines={machine.hostname: machine.address for machine in machines},
            places=addresses,
            factory=f"http://{_place(serving.services.images_place)}",
            proxmox=proxmox,
            world=self._world,
            run=self.run,
            jump=serving.pace.jump,
        )

    @property
    def world(self) -> World:
        return self._world

    @property
    def scratch(self) -> Path:
        return self._scratch

    @property
    def serving(self) -> Serving:
        """The doors, while they are open."""
        if self._serving is None:
            raise RuntimeError("the lab is not running")
        return self._serving

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where the world is served."""
        if self._loop is None:
            raise RuntimeError("the lab is not running")
        return self._loop

    def go_on(self) -> None:
        """Let happen what somebody began."""
        if self._serving is not None:
            self._serving.machines.happened()
            self._serving.pace.go_on()

    def kubeconfig(self) -> str:
        """A kubeconfig of an administrator of all clusters. Empty: none of them answers."""
        serving = self.serving
        return self.run(serving.machines.kubeconfig)

    def stop(self) -> None:
        """Close the doors."""
        if self._loop is not None and self._ending is not None:
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(_PATIENCE)

    def run(self, work: Callable[[], T]) -> T:
        """Carry something out in the thread that serves the world."""
        if self._loop is None:
            raise RuntimeError("the lab is not running")
        done: Future[T] = Future()

        def carry_out() -> None:
            try:
                found = work()
                self.go_on()
                done.set_result(found)
            except Exception as error:  # noqa: BLE001  # raised again where it was asked for
                done.set_exception(error)

        self._loop.call_soon_threadsafe(carry_out)
        return done.result(_PATIENCE)

    def _token(self) -> str:
        token = ""
        for cluster in self._world.clusters.values():
            access = cluster.state.access
            if _TOKEN not in access.users[ROOT].tokens:
                dice = cluster.around.dice.random_bytes
                create_token(access, Caller(ROOT, _TOKEN), TokenChange(privsep=False), dice)
            token = token or access.users[ROOT].tokens[_TOKEN].secret
        return token

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        serving = Serving(self._world, self._manner, self._scratch, self._now)
        try:
            await serving.start()
        except BaseException as error:  # noqa: BLE001  # raised again by `start`
            self._started.set_exception(error)
            return
        self._serving = serving
        self._started.set_result(None)
        await self._ending.wait()
        await serving.stop()


def _place(endpoint: tuple[str, int] | None) -> str:
    return "" if endpoint is None else f"{endpoint[0]}:{endpoint[1]}"
