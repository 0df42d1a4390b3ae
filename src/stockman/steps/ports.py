"""The doors that actions, gates and holds are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TypeVar

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.ports.clock import Timekeeper
from stockman.ports.entropy import Entropy
from stockman.ports.images import Images
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.objects import Objects
from stockman.ports.proxmox import Proxmox
from stockman.ports.repo import Repo
from stockman.ports.talos import Talos
from stockman.ports.tree import Tree
from stockman.steps.access_trial import TokenTrial
from stockman.steps.looks import Looks
from stockman.steps.secret_ref import Secrets

T = TypeVar("T")
Permit = Callable[[], Awaitable[None]]
"""Raises where somebody else may work on the cluster by now."""


async def _always() -> None:
    """Nobody else can."""


@record
class Ports:
    """Every system that a run may speak to; doors that a stage does not need are left out.

    `clock` and `entropy` are always there. For the others there are two names: the field, which
    may be None, and a method that says `plan.no-door` instead of handing out None.
    """

    clock: Timekeeper
    entropy: Entropy
    proxmox: Mapping[str, Proxmox] = field(default_factory=dict)
    """By the name of the Proxmox cluster."""
    talos: Talos | None = None
    kubernetes: Kubernetes | None = None
    objects: Objects | None = None
    images: Images | None = None
    repo: Repo | None = None
    secrets: Secrets | None = None
    tree: Tree | None = None
    trial: TokenTrial | None = None
    permit: Permit = _always
    """Asked by actions with several effects before each but the first; the engine asks for that."""
    looks: Looks = field(default_factory=Looks)
    """What the same step saw a moment ago."""

    def on(self, cluster: str) -> Proxmox:
        """The Proxmox cluster of this name."""
        return _open(self.proxmox.get(cluster), f"Proxmox cluster {cluster}")

    def to_talos(self) -> Talos:
        return _open(self.talos, "Talos machines")

    def to_kubernetes(self) -> Kubernetes:
        return _open(self.kubernetes, "Kubernetes")

    def to_objects(self) -> Objects:
        return _open(self.objects, "object storage")

    def to_images(self) -> Images:
        return _open(self.images, "the Image Factory")

    def to_repo(self) -> Repo:
        return _open(self.repo, "the Git repository")

    def to_trial(self) -> TokenTrial:
        return _open(self.trial, "Proxmox VE in the name of a new token")

    def to_secrets(self) -> Secrets:
        return _open(self.secrets, "secrets")

    def to_tree(self) -> Tree:
        return _open(self.tree, "rendered files")


def _open(door: T | None, name: str) -> T:
    if door is None:
        raise Refused(no_door(name))
    return door


def no_door(name: str) -> Problem:
    """The problem of a step that needs a system which the run was not given."""
    return Problem(
        code="plan.no-door",
        what=f"a step needs {name}, and the run has no way to it",
        where=name,
        why="this run was started without the address or the credentials of that system",
        fix="give both in cluster.yaml, or leave that stage out with `--only`",
    )
