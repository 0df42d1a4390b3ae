"""Clusters of the lab without a network, and everything that brings them to Flux."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path

import yaml
from stockman_lab.kube.clusters.clusters import KubernetesCluster
from stockman_lab.servers.kube_port import memory_kubernetes
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster
from stockman_lab.world.world import World

from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.component import InputFiles
from stockman.config.load import load
from stockman.config.presets import render_preset
from stockman.config.resolve import resolve
from stockman.engine.observe.kubernetes import KubernetesQuery, observe_kubernetes
from stockman.kubernetes.client import KubernetesClient
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.planning.kubernetes.changes import (
    KubernetesChange,
    StageContext,
    kubernetes_steps,
    plan_kubernetes_changes,
)
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.kubernetes import ObservedKubernetes
from stockman.rendering.repository import render_repository
from stockman.rendering.talos_files import without_references
from stockman.steps.base import GateAnswer
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.step import Step
from tests.contract.repo.doors import git
from tests.contract.repo.memory import MemoryRemote, MemoryRepo

NETWORK = IPv4Network("127.67.0.0/16")
CANARY = "AGE-SECRET-KEY-CANARY"
MATERIALS = InputFiles(
    age_recipient="age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
    age_identity=Secret(CANARY),
    webhook_token=Secret("a webhook token"),
)
_FOLLOWED = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster-apps, namespace: flux-system}
spec:
  interval: 1h
  path: ./kubernetes/apps
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
"""
_WHO = ("-c", "user.name=Shepherd", "-c", "user.email=shepherd@example.org")


@cache
def _file(preset: str) -> bytes:
    world = preset_world(PresetOptions(preset, NETWORK))
    stage_cluster(world, Staging(preset=preset, network=NETWORK, network_plugin=False))
    return world_file(world.state)


@dataclass(frozen=True)
class Workspace:
    """What was rendered for a cluster, and a repository with the least of it."""

    bare: Path
    url: str
    wish: DesiredKubernetes


def workspace(root: Path, preset: str = "three-node") -> Workspace:
    """A repository that holds the release of one component, and nothing that is encrypted."""
    texts = render_preset(preset, network=NETWORK)
    desired = resolve(load({name: text.encode() for name, text in texts.items()}))
    problems = Problems()
    rendered = render_repository(
        without_references(desired, Secret("a resolved secret")), MATERIALS, "classic", problems
    )
    assert not problems.errors
    assert desired.cluster is not None
    work, bare = root / "work", root / "cluster.git"
    files = {"kubernetes/flux/cluster/ks.yaml": _FOLLOWED}
    for name in ("helmrelease.yaml", "ocirepository.yaml"):
        manifest = rendered.tree.get(f"kubernetes/apps/kube-system/coredns/app/{name}")
        assert manifest is not None
        assert isinstance(manifest.text, str)
        content = yaml.safe_load(manifest.text)
        content["metadata"]["namespace"] = "kube-system"
        files[f"kubernetes/apps/{name}"] = yaml.safe_dump(content)
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    git(root, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(work, "init", "--quiet", "--initial-branch=main")
    git(work, "add", "--all")
    git(work, *_WHO, "commit", "--quiet", "--message", "Render")
    git(work, "push", "--quiet", str(bare), "HEAD:refs/heads/main")
    desired_objects = desired_kubernetes(desired.cluster, rendered)
    early = {chart.component for chart in desired_objects.charts}
    tests = tuple(test for test in desired_objects.smoke_tests if test.component in early)
    return Workspace(
        bare, desired.cluster.repository.url, replace(desired_objects, smoke_tests=tests)
    )


class WorldClock:
    """The time of a world, which passes when somebody waits."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._world.now, UTC)

    async def sleep(self, seconds: float) -> None:
        self._world.advance(seconds)


class Dice:
    def random_bytes(self, count: int) -> bytes:
        return bytes(count)


class KnownSecrets:
    """Secrets by their place; every other place holds one of its own."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def read(self, ref: SecretRef) -> Secret:
        return Secret(self.values.get(ref.place, CANARY), resolved=True)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        raise AssertionError(ref)


class Killed(BaseException):
    """The process is gone."""


class Mortal:
    """A door that lets so many calls through, and then the process dies."""

    def __init__(self, kubernetes: KubernetesClient) -> None:
        self._door = kubernetes
        self.left: int | None = None
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        call = getattr(self._door, name)
        if name in ("log", "watch"):
            return call

        async def counted(*arguments: object, **options: object) -> object:
            if self.left is not None:
                if self.left <= 0:
                    raise Killed
                self.left -= 1
            self.calls.append(name)
            return await call(*arguments, **options)

        return counted


@dataclass
class Bootstrapped:
    """A cluster that has nothing but itself."""

    world: World
    cluster: KubernetesCluster
    wish: DesiredKubernetes
    door: Mortal
    ports: Ports
    repo: MemoryRepo
    done: list[str] = field(default_factory=list)
    """Steps that had an effect."""

    def look(self) -> ObservedKubernetes:
        interest = KubernetesQuery(
            secrets=tuple(secret.action.ref for secret in self.wish.secrets),
            conditions=self.wish.conditions,
        )
        port = memory_kubernetes(self.cluster.api)
        return asyncio.run(observe_kubernetes(port, self.ports.clock, interest))

    def changes(self) -> tuple[KubernetesChange, ...]:
        return plan_kubernetes_changes(self.wish, self.look())

    def steps(self, *, push: bool = False) -> tuple[Step, ...]:
        return kubernetes_steps(self.changes(), self.wish, StageContext(push=push))

    def apply(self, *, until: str = "") -> None:
        """Do what a plan says, up to a step."""
        for step in self.steps():
            if step.id == until:
                return
            asyncio.run(self.perform(step))

    async def perform(self, step: Step) -> None:
        """One step, as the engine does it."""
        end = self.world.now + step.deadline
        for gate in step.gates:
            while (verdict := await gate.check(self.ports)).answer is not GateAnswer.GO:
                assert verdict.answer is GateAnswer.WAIT, verdict
                assert self.world.now < end, verdict
                await self.ports.clock.sleep(5.0)
        if await step.action.done(self.ports):
            return
        await step.action.run(self.ports)
        assert await step.action.done(self.ports), step.id
        self.done.append(step.id)


def bootstrapped(workspace: Workspace, preset: str = "three-node") -> Bootstrapped:
    """A cluster whose etcd was bootstrapped, and nothing else."""
    world = World(read_world(_file(preset)))
    world.state.repositories[workspace.url] = str(workspace.bare)
    first = next(machine for machine in world.talos.machines)
    cluster = world.kubernetes.cluster_of(first)
    assert cluster is not None
    repo = MemoryRepo(MemoryRemote())
    repo.files["kubernetes/apps/one.yaml"] = b"one: 1\n"
    asyncio.run(repo.commit(["kubernetes/apps/one.yaml"], "One"))
    asyncio.run(repo.push())
    mortal = Mortal(memory_kubernetes(cluster.api))
    ports = Ports(
        clock=WorldClock(world),
        entropy=Dice(),
        kubernetes=mortal,  # type: ignore[arg-type]  # every call is handed on
        repo=repo,
        secrets=KnownSecrets(),
    )
    return Bootstrapped(world, cluster, workspace.wish, mortal, ports, repo)
