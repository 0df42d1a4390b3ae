"""A cluster of the lab that runs, and somebody who looks at it through all doors at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, TypeVar

from stockman_lab.core.dice import Dice
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.kube.clusters.clusters import KubernetesCluster
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.host_power import lose_power
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import WorldClock, memory_proxmox
from stockman_lab.servers.talos_port import memory_talos
from stockman_lab.talos.machine import Machine
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staged, Staging, stage_cluster
from stockman_lab.world.world import World

from stockman.app.runs.history import local_run_store
from stockman.app.runs.plans import ObservationScope, observe
from stockman.app.status.observation import BackupStore, StatusObserver, StatusSources
from stockman.assessment.status.findings import StatusCheck, StatusPart
from stockman.assessment.status.observed import CertificateList, StatusInput
from stockman.assessment.status.status import ALL, Status, assess
from stockman.engine.lifecycle import RunHome
from stockman.kubernetes.client import KubernetesClient
from stockman.model.desired import Desired
from stockman.model.problem import Severity
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.systems import Observed
from stockman.steps.ports import Ports
from stockman.talos.api.client import TalosClient
from tests.contract.repo.memory import MemoryRemote, MemoryRepo

T = TypeVar("T")
NETWORK = IPv4Network("127.92.0.0/16")
TRINITY, NEO, NIOBE = "talos-trinity", "talos-neo", "talos-niobe"


@cache
def _staged(preset: str) -> tuple[bytes, Staged]:
    world = preset_world(PresetOptions(preset, NETWORK))
    staged = stage_cluster(world, Staging(preset=preset, network=NETWORK, flux=True))
    return world_file(world.state), staged


@dataclass
class Scene:
    """A world, and the doors to it."""

    world: World
    staged: Staged
    home: RunHome
    desired: Desired
    repo: MemoryRepo = field(default_factory=lambda: MemoryRepo(MemoryRemote()))
    wish: DesiredKubernetes | None = None
    places: tuple[BackupStore, ...] = ()
    certificates: CertificateList = field(
        default_factory=lambda: CertificateList(certificates=(), problems=(), not_read=())
    )
    caller: Caller | None = None
    """Who asks Proxmox VE. None: root."""
    talos: TalosClient | None = None
    """None: the door of the world."""
    kubernetes: KubernetesClient | None = None
    """None: the door of the world."""

    @property
    def cluster(self) -> KubernetesCluster:
        cluster = self.world.kubernetes.cluster_of(self.machine(TRINITY))
        assert cluster is not None
        return cluster

    @property
    def pve(self) -> MemoryClient:
        """Root, for meddling with the world."""
        return MemoryClient(self.world, next(iter(self.world.clusters)))

    @property
    def ports(self) -> Ports:
        region = str(self.desired.proxmox[0].region)
        return Ports(
            clock=WorldClock(self.world),
            entropy=Dice(7),
            proxmox={
                region: memory_proxmox(self.world, next(iter(self.world.clusters)), self.caller)
            },
            talos=self.talos or memory_talos(self.world),
            kubernetes=self.kubernetes or memory_kubernetes(self.cluster.api),
            repo=self.repo,
        )

    def machine(self, name: str) -> Machine:
        return self.world.talos.machine(*self.staged.machines[name])

    def looker(self) -> StatusObserver:
        async def observed(ports: Ports) -> Observed:
            return await observe(
                ObservationScope(desired=self.desired, kubernetes=self.wish), ports
            )

        return StatusObserver(
            StatusSources(
                desired=self.desired,
                ports=self.ports,
                home=self.home,
                observe=observed,
                certificates=lambda: self.certificates,
                desired_kubernetes=self.wish,
                backup_stores=self.places,
            )
        )

    def look(self, checks: Collection[StatusCheck] = ALL) -> StatusInput:
        return told(self.looker().observe(checks))

    def status(self, checks: Collection[StatusCheck] = ALL) -> Status:
        return assess(self.look(checks), checks)

    def codes(self, *checks: StatusCheck) -> dict[str, list[str]]:
        """Problems of some parts by code, with what each is about; of all but certificates."""
        wanted = checks or tuple(
            check for check in StatusCheck if check is not StatusCheck.CERTIFICATES
        )
        return codes(self.status(wanted).parts)

    # -- what goes wrong ---------------------------------------------------------------------------

    def fault(self, point: Point, effect: Effect, seconds: float = 0.0, **match: str) -> None:
        fault = Fault(point=point, effect=effect, match=match, seconds=seconds, times=None)
        self.world.faults.add(fault)
        self.world.strike()

    def lose_host(self, name: str) -> None:
        proxmox = self.pve.cluster
        lose_power(proxmox, proxmox.state.hosts[name])
        self.world.advance(300.0)

    def stop(self, node: str) -> None:
        cluster, vmid = self.staged.machines[node]
        host = self.world.clusters[cluster].state.guests[vmid].node
        self.pve.post(f"/nodes/{host}/qemu/{vmid}/status/stop")
        self.world.advance(300.0)

    def want(self, node: str, **changes: Any) -> None:
        """Other files: the VM of a node is wanted otherwise."""
        nodes = tuple(
            replace(one, vm=replace(one.vm, **changes))
            if one.name == node and one.vm is not None
            else one
            for one in self.desired.nodes
        )
        self.desired = replace(self.desired, nodes=nodes)


def scene(root: Path, preset: str = "three-node") -> Scene:
    """A copy of a cluster that runs, with Flux in it."""
    content, staged = _staged(preset)
    world = World(read_world(content))
    return Scene(world, staged, local_run_store(root, WorldClock(world)), staged.desired)


def codes(status_parts: Iterable[StatusPart]) -> dict[str, list[str]]:
    """Problems by code, with what each is about."""
    by_name: dict[str, list[str]] = {}
    for section in status_parts:
        for finding in section.findings:
            by_name.setdefault(finding.problem.code, []).append(finding.subject)
    return by_name


def severity(status: Status, code: str) -> Severity:
    """How bad the first problem of a code is."""
    return next(
        finding.problem.severity for finding in status.findings if finding.problem.code == code
    )


def told(story: Coroutine[object, object, T]) -> T:
    """What a story comes to."""
    return asyncio.run(story)
