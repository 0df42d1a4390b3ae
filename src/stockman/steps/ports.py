"""What a step saw a moment ago, so that it does not look twice before its first order."""

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
    """Keeps nothing: whoever wants to know something looks."""

    def store(self, key: str, seen: object) -> None:
        """Remember what was seen of something; what was seen of it before is forgotten."""

    def take(self, key: str) -> object | None:
        """What was seen of something a moment ago, for whoever asks first. None: look."""
        del key
        return None


class TokenTester(Protocol):
    """Asks Proxmox VE in the name of a token that was just made."""

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        """What a token (`user@realm!name`) may do on some paths; `Denied` where Proxmox VE does
        not take it."""
        ...


T = TypeVar("T")
Permit = Callable[[], Awaitable[None]]
"""Raises where somebody else may work on the cluster by now."""


async def _permit_always() -> None:
    """Nobody else can."""


@record
class Ports:
    """Every system that a run may speak to; doors that a stage does not need are left out.

    `clock` and `entropy` are always there. For the others there are two names: the field, which
    may be None, and a method that says `plan.no-door` instead of handing out None.
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
    """Asked by actions with several effects before each but the first; the engine asks for that."""
    read_cache: ReadCache = field(default_factory=ReadCache)
    """What the same step saw a moment ago."""

    def on(self, cluster: str) -> ProxmoxClient:
        """The Proxmox cluster of this name."""
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
    """The problem of a step that needs a system which the run was not given."""
    return Problem(
        code="plan.no-door",
        what=f"a step needs {name}, and the run has no way to it",
        where=name,
        why="this run was started without the address or the credentials of that system",
        fix="give both in cluster.yaml, or leave that stage out with `--only`",
    )
