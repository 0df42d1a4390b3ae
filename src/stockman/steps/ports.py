"""The clients of a run, and observations that a step reuses for its first request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import Protocol, TypeVar

from stockman.kubernetes.client import KubernetesClient
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.images import ImageSource
from stockman.ports.objects import ObjectStore
from stockman.ports.repository import GitRepository, RenderedTree
from stockman.ports.system import Entropy, Timekeeper
from stockman.proxmox.access import Privileges
from stockman.proxmox.client import ProxmoxClient
from stockman.steps.secret_ref import Secrets
from stockman.talos.api.client import TalosClient


class ReadCache:
    """A cache that stores nothing."""

    def store(self, key: str, seen: object) -> None:
        """Store an observation under a key, replacing the previous one."""

    def take(self, key: str) -> object | None:
        """Return and remove the observation of a key. None: there is none."""
        del key
        return None


class TokenTester(Protocol):
    """Calls Proxmox VE with a token that was just created."""

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        """Return the privileges of a token (`user@realm!name`) on some paths; raises `Denied` if
        Proxmox VE rejects it."""
        ...


T = TypeVar("T")
Permit = Callable[[], Awaitable[None]]
"""Raises if another run may be working on the cluster by now."""


EarlierEtcd = Callable[[tuple[str, ...]], Awaitable[str]]
"""Returns which recorded run knows an earlier etcd than that of some controllers. Empty: none."""


async def _no_earlier_etcd(controllers: tuple[str, ...]) -> str:
    """Know no earlier etcd: there are no recorded runs."""
    del controllers
    return ""


async def _permit_always() -> None:
    """Permit every change: no other run is possible."""


@record
class Ports:
    """The clients of a run; those that a stage does not need are omitted.

    `clock` and `entropy` are always set. Each of the others has a field, which may be None, and a
    method, which raises `plan.no-door` instead of returning None.
    """

    clock: Timekeeper
    entropy: Entropy
    proxmox: Mapping[str, ProxmoxClient] = field(default_factory=dict)
    """By the name of the Proxmox cluster."""
    talos: TalosClient | None = None
    kubernetes: KubernetesClient | None = None
    objects: ObjectStore | None = None
    images: ImageSource | None = None
    repo: GitRepository | None = None
    secrets: Secrets | None = None
    tree: RenderedTree | None = None
    trial: TokenTester | None = None
    permit: Permit = _permit_always
    """Called by actions before each effect but the first; the engine calls it for the first."""
    earlier_etcd: EarlierEtcd = _no_earlier_etcd
    """Searches the recorded runs; the engine sets it."""
    read_cache: ReadCache = field(default_factory=ReadCache)
    """Observations of the same step."""

    def on(self, cluster: str) -> ProxmoxClient:
        """Return the client of a Proxmox cluster."""
        return _require(self.proxmox.get(cluster), f"Proxmox cluster {cluster}")

    def to_talos(self) -> TalosClient:
        return _require(self.talos, "Talos machines")

    def to_kubernetes(self) -> KubernetesClient:
        return _require(self.kubernetes, "Kubernetes")

    def to_objects(self) -> ObjectStore:
        return _require(self.objects, "object storage")

    def to_images(self) -> ImageSource:
        return _require(self.images, "the Image Factory")

    def to_repo(self) -> GitRepository:
        return _require(self.repo, "the Git repository")

    def to_trial(self) -> TokenTester:
        return _require(self.trial, "Proxmox VE in the name of a new token")

    def to_secrets(self) -> Secrets:
        return _require(self.secrets, "secrets")

    def to_tree(self) -> RenderedTree:
        return _require(self.tree, "rendered files")


def _require(client: T | None, name: str) -> T:
    if client is None:
        raise Refused(missing_port(name))
    return client


def missing_port(name: str) -> Problem:
    """Return the problem of a step that needs a client which the run does not have."""
    return Problem(
        code="plan.no-door",
        what=f"a step needs {name}, but the run has no client for it",
        where=name,
        why="this run was started without the address or the credentials of that system",
        fix="give both in cluster.yaml, or leave that stage out with `--only`",
    )
