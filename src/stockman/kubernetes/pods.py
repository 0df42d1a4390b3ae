"""Pods, as far as they are looked at often."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from stockman.kubernetes.nodes import Condition
from stockman.kubernetes.objects import Selection
from stockman.model.record import record


@record
class OwnerReference:
    """What an object belongs to."""

    kind: str
    name: str
    uid: str
    is_controller: bool = False


@record
class ContainerStatus:
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
    containers: tuple[ContainerStatus, ...]
    owners: tuple[OwnerReference, ...]
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


@record
class PodLogRequest:
    """Which log is wanted."""

    namespace: str
    pod: str
    container: str = ""
    """Empty: the only one."""
    last: int | None = None
    """So many lines from its end. None: all of them."""
    since: int | None = None
    """Not older than so many seconds. None: of any age."""
    previous: bool = False
    """Of the container that ran before this one."""
    follow: bool = False


class Logs(Protocol):
    """What containers say."""

    def log(self, wish: PodLogRequest) -> AsyncGenerator[str, None]:
        """Lines of a log, no faster than they are taken."""
        ...
