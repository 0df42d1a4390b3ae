"""Pods and the logs of their containers."""

from __future__ import annotations

from stockman.kubernetes.nodes import Condition, Taint
from stockman.model.record import record


@record
class OwnerReference:
    """An owner of an object."""

    kind: str
    name: str
    uid: str
    is_controller: bool = False


@record
class ContainerStatus:
    """The status of a container."""

    name: str
    ready: bool
    restarts: int
    waiting: str = ""
    """Reason for waiting, `ImagePullBackOff`. Empty: running or terminated."""


@record
class Toleration:
    """Taints that a pod tolerates."""

    key: str = ""
    """Empty: all keys."""
    operator: str = "Equal"
    """`Equal` or `Exists`."""
    value: str = ""
    effect: str = ""
    """Empty: all effects."""

    def covers(self, taint: Taint) -> bool:
        """Return whether a pod with it may be scheduled to a node with a taint."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or (bool(self.key) and self.value == taint.value)


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
    """Whether the pod is being deleted."""
    tolerations: tuple[Toleration, ...] = ()
    created: str = ""
    """RFC 3339 time. Empty: unknown."""

    @property
    def is_ready(self) -> bool:
        """Whether the condition `Ready` is true."""
        return any(condition.type == "Ready" and condition.holds for condition in self.conditions)

    @property
    def has_ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_mirror(self) -> bool:
        """Whether it is the mirror of a static pod, which only the kubelet starts and stops."""
        return "kubernetes.io/config.mirror" in self.annotations


@record
class PodLogRequest:
    """Parameters for reading the log of a container."""

    namespace: str
    pod: str
    container: str = ""
    """Empty: the only container."""
    last: int | None = None
    """Number of lines from the end. None: all."""
    since: int | None = None
    """Maximum age in seconds. None: unlimited."""
    previous: bool = False
    """Read the log of the previous instance of the container."""
    follow: bool = False
