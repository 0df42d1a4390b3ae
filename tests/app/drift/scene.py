"""A cluster that stockman made in a world without a wire, and everybody who meddles with it."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeVar, cast

from stockman_lab.core.dice import Dice
from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.images_port import memory_images
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import WorldClock, memory_proxmox
from stockman_lab.servers.talos_port import memory_talos
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.world import World

from stockman.adapters.git.repository import LocalGitRepository
from stockman.app.drift.finder import DriftFinder
from stockman.app.init.directory import InitContext, init_directory
from stockman.app.init.directory import InitOptions as Start
from stockman.app.rendering.render import Rendering
from stockman.app.runs.history import open_run_store
from stockman.app.runs.plans import Planner, PlanOptions
from stockman.app.runs.workspace import RunWorkspace
from stockman.assessment.drift.report import Drift, DriftReport, Layer
from stockman.engine.context import StopRequest
from stockman.engine.lifecycle import RunOptions, start_run
from stockman.engine.state import RunResult
from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ResourceKind, ServerSideApply
from stockman.model.errors import Unreachable
from stockman.model.names import MachineAddress
from stockman.model.problem import Problem
from stockman.model.proxmox import OWN_TOKEN
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.planned import Planned
from stockman.proxmox.client import ProxmoxClient
from stockman.steps.access.admin import admin_client_name
from stockman.steps.kubernetes.smoke_test import record_smoke_test
from stockman.steps.ports import Ports
from tests.app.start_doors import doors
from tests.contract.repo.doors import git
from tests.planning.outside import FactoryOutside

T = TypeVar("T")
NETWORK = IPv4Network("127.93.0.0/16")
NO_HA = r"      ha:\n(        \S.*\n)+"
TRINITY, NEO, NIOBE = "talos-trinity", "talos-neo", "talos-niobe"
FIRST = 1030
COREDNS = "kubernetes/apps/kube-system/coredns/app/helmrelease.yaml"


class LateKubernetes:
    """The API of a cluster that may not be there yet."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        async def call(*arguments: object, **named: object) -> object:
            return await getattr(self._door(), name)(*arguments, **named)

        return call

    def _door(self) -> KubernetesClient:
        for machine in self._world.talos.machines:
            cluster = self._world.kubernetes.cluster_of(machine)
            if cluster is not None:
                return memory_kubernetes(cluster.api)
        raise Unreachable(Problem(code="test", what="no API", why="nothing listens", fix=""))


class EarlyTests(RunWorkspace):
    """Only smoke tests of what a run installs itself; Flux does not install the rest here."""

    def kubernetes(self) -> tuple[DesiredKubernetes | None, Rendering | None]:
        desired, rendering = super().kubernetes()
        if desired is None:
            return desired, rendering
        early = {chart.component for chart in desired.charts}
        tests = tuple(test for test in desired.smoke_tests if test.component in early)
        return replace(desired, smoke_tests=tests), rendering


@dataclass
class Scene:
    """A directory, its remote, the world, and the doors between them."""

    root: Path
    world: World
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        return self.root / "home"

    @property
    def cluster(self) -> str:
        return next(iter(self.world.clusters))

    @property
    def root_door(self) -> MemoryClient:
        """Root, in the name of nobody in particular."""
        return MemoryClient(self.world, self.cluster)

    @property
    def kubernetes(self) -> KubernetesClient:
        return cast("KubernetesClient", LateKubernetes(self.world))

    def workspace(self) -> RunWorkspace:
        return EarlyTests(self.directory, self.environment, WorldClock(self.world), Dice(7))

    def ports(self, workspace: RunWorkspace, *, administrator: bool = True) -> Ports:
        region = str(workspace.desired.proxmox[0].region)
        user, _, token = OWN_TOKEN.partition("!")
        own = memory_proxmox(self.world, self.cluster, Caller(user, token))
        proxmox: dict[str, ProxmoxClient] = {region: own}
        if administrator:
            proxmox[admin_client_name(region)] = memory_proxmox(self.world, self.cluster)
        return Ports(
            clock=WorldClock(self.world),
            entropy=Dice(9),
            proxmox=proxmox,
            talos=memory_talos(self.world),
            kubernetes=self.kubernetes,
            images=memory_images(self.world),
            repo=LocalGitRepository(self.directory),
            secrets=workspace.secrets(),
            tree=workspace.tree,
        )

    def find(self, *layers: Layer, administrator: bool = True) -> DriftReport:
        """What `stockman drift` finds."""
        workspace = self.workspace()
        finder = DriftFinder(workspace)
        return told(finder.find(self.ports(workspace, administrator=administrator), layers))

    def only(self, *layers: Layer, administrator: bool = True) -> Drift:
        """The one drift that there is."""
        report = self.find(*layers, administrator=administrator)
        assert report.unknown == (), report.unknown
        assert len(report.drifts) == 1, [drift.description for drift in report.drifts]
        return report.drifts[0]

    def apply(self, *, administrator: bool = True, push: bool = False) -> list[str]:
        """Plan, and carry it out; the steps that were done."""
        workspace = self.workspace()
        planner = Planner(workspace)
        ports = self.ports(workspace, administrator=administrator)
        planned: Planned = told(planner.plan(ports, PlanOptions(push=push)))
        assert planned.problems.errors == (), planned.problems.errors
        told(self._run(planned, ports))
        self.world.settle()
        return [step.id for step in planned.plan.steps]

    async def _run(self, planned: Planned, ports: Ports) -> None:
        async with open_run_store(self.directory, self.environment, ports.clock) as home:
            outcome = await start_run(
                home, planned.plan, ports, RunOptions(by="a test", stop=StopRequest())
            )
        assert outcome.result is RunResult.DONE, outcome.problems

    def record_smoke_tests(self) -> None:
        """Record that the components which Flux would install have passed their tests."""
        desired, _ = RunWorkspace.kubernetes(self.workspace())
        for test in desired.smoke_tests if desired is not None else ():
            told(record_smoke_test(self.kubernetes, test.component, test.version))

    # -- what people do -----------------------------------------------------------------------

    def person(self, name: str) -> MemoryClient:
        """Somebody with all rights in Proxmox VE and a name of their own."""
        access = self.root_door
        users = cast("list[dict[str, object]]", access.get("/access/users"))
        if all(user["userid"] != f"{name}@pve" for user in users):
            access.post("/access/users", userid=f"{name}@pve")
            access.put("/access/acl", path="/", users=f"{name}@pve", roles="Administrator")
        return MemoryClient(self.world, self.cluster, caller=Caller(f"{name}@pve"))

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a file as a user does."""
        path = self.directory / file
        text, count = re.subn(old, new, path.read_text(), flags=re.MULTILINE)
        assert count, f"{old!r} is not in {file}"
        path.write_text(text)

    def commit(self, message: str, *, author: str = "Shepherd", push: bool = True) -> str:
        """Commit everything in the name of somebody, and push it."""
        return _committed(self.directory, message, author, push=push)

    def elsewhere(self) -> Path:
        """The clone of somebody else."""
        path = self.root / "elsewhere"
        git(self.root, "clone", "--quiet", str(self.root / "remote.git"), str(path))
        return path

    def serve_repository(self) -> None:
        """Let the address that the files name lead to the remote."""
        cluster = self.workspace().desired.cluster
        assert cluster is not None
        self.world.state.repositories[cluster.repository.url] = str(self.root / "remote.git")

    def follow(self) -> None:
        """Let Flux fetch and apply what was pushed."""
        self.world.advance(600.0)
        self.world.settle()

    def kubectl_edit(
        self, kind: ResourceKind, content: Object, manager: str = "kubectl-edit"
    ) -> None:
        """Somebody takes fields over."""
        server_side_apply = ServerSideApply(content=content, force=True, manager=manager)
        told(self.kubernetes.apply(kind, server_side_apply))

    def address(self, node: str) -> MachineAddress:
        desired = self.workspace().desired
        return MachineAddress(
            next(str(one.address.ip) for one in desired.nodes if str(one.name) == node)
        )


def told(story: Coroutine[object, object, T]) -> T:
    return asyncio.run(story)


def others_push(directory: Path, file: str, content: str, author: str) -> str:
    """Somebody else commits a file and pushes it."""
    (directory / file).write_text(content)
    return _committed(directory, f"Change {file}", author, push=True)


def _committed(directory: Path, message: str, author: str, *, push: bool) -> str:
    person = ("-c", f"user.name={author}", "-c", f"user.email={author.lower()}@example.org")
    git(directory, "add", "--all")
    git(directory, *person, "commit", "--quiet", "--message", message)
    if push:
        git(directory, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    return git(directory, "rev-parse", "HEAD").strip()


@dataclass(frozen=True)
class Made:
    """A cluster that was made once: every test gets a copy of its own."""

    root: Path
    world: bytes

    def copy(self, root: Path) -> Scene:
        shutil.copytree(self.root, root, symlinks=True, dirs_exist_ok=True)
        git(root / "home", "remote", "set-url", "origin", str(root / "remote.git"))
        outside = FactoryOutside()
        world = World(read_world(self.world), outside)
        outside.world = world
        scene = Scene(root, world)
        scene.serve_repository()
        return scene


def made(
    root: Path,
    *,
    preset: str = "three-node",
    edits: tuple[tuple[str, str, str], ...] = (),
    opened: InitContext | None = None,
) -> Made:
    """Files of a preset, rendered, pushed and applied at the time of the doors."""
    home, bare = root / "home", root / "remote.git"
    home.mkdir(parents=True)
    opened = opened or doors()
    init_directory(Start(directory=home, preset=preset, network=NETWORK), opened)
    outside = FactoryOutside()
    now = float(int(opened.clock.now().timestamp()))
    world = World(
        read_world(world_file(preset_world(PresetOptions(preset, NETWORK, now=now)).state)), outside
    )
    outside.world = world
    scene = Scene(root, world)
    for file, old, new in edits:
        scene.edit(file, old, new)
    scene.serve_repository()
    git(root, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(home, "init", "--quiet", "--initial-branch=main")
    git(home, "remote", "add", "origin", str(bare))
    git(home, "config", "user.name", "Shepherd")
    git(home, "config", "user.email", "shepherd@example.org")
    told(scene.workspace().tree.render())
    scene.commit("Render")
    git(home, "fetch", "--quiet")
    git(home, "branch", "--quiet", "--set-upstream-to=origin/main")
    scene.apply(push=True)
    scene.follow()
    scene.record_smoke_tests()
    return Made(root, world_file(world.state))
