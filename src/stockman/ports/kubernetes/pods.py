"""Pods, as far as they are looked at often."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record
from stockman.ports.kubernetes.nodes import Condition
from stockman.ports.kubernetes.objects import Selection


@record
class Owner:
    """What an object belongs to."""

    kind: str
    name: str
    uid: str
    is_controller: bool = False


@record
class Container:
    """A container of a pod, as it is."""

    name: str
    ready: bool
    restarts: int
    waiting: str = ""
    """Why it does not run, `ImagePullBackOff`. Empty: it runs or has ended."""


@record
class Pod:
    """A pod."""

    name: str
    namespace: str
    uid: str
    version: str
    """Its resourceVersion."""
    labels: dict[str, str]
    annotations: dict[str, str]
    node: str
    """Empty: not scheduled yet."""
    phase: str
    """`Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`."""
    conditions: tuple[Condition, ...]
    containers: tuple[Container, ...]
    owners: tuple[Owner, ...]
    is_leaving: bool
    """Whether it is being deleted."""

    @property
    def is_ready(self) -> bool:
        """A pod that does not tell is not."""
        return any(one.type == "Ready" and one.holds for one in self.conditions)

    @property
    def has_ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_mirror(self) -> bool:
        """Whether it only shows a static pod, which the kubelet alone starts and stops."""
        return "kubernetes.io/config.mirror" in self.annotations


class Pods(Protocol):
    """Pods of the cluster."""

    async def pod(self, namespace: str, name: str) -> Pod:
        """One pod."""
        ...

    async def pods(self, selection: Selection | None = None) -> tuple[Pod, ...]:
        """All pods that are meant, by namespace and name."""
        ...
