"""A machine as its kubelet needs it, whatever runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stockman_lab.core.faults import Fault
from stockman_lab.kube.objects import Object


class PullFailed(Exception):
    """Why an image does not come, in the words of the container runtime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a kubelet says of its machine when it registers."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()
    """Kinds and addresses: `InternalIP` and `10.42.0.10`."""
    capacity: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    """`nodeInfo`."""
    provider_id: str = ""
    waits_for_cloud: bool = False
    """Whether a cloud controller has to say first that it exists."""
    pod_subnets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudWord:
    """What a cloud controller says of a machine."""

    provider_id: str
    region: str = ""
    zone: str = ""
    instance_type: str = ""


class Host(Protocol):
    """One machine."""

    @property
    def name(self) -> str:
        """Of its Node."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether its kubelet runs and reaches an API server."""
        ...

    @property
    def boot(self) -> str:
        """Which boot it is: containers do not outlast it."""
        ...

    @property
    def start(self) -> str:
        """Which start of its kubelet it is: each registers its Node once."""
        ...

    @property
    def complaint(self) -> str:
        """Why its kubelet says that it is not ready. Empty: it is well."""
        ...

    @property
    def address(self) -> str:
        """The one that others know it by."""
        ...

    @property
    def gpus(self) -> int:
        """Devices that a driver is loaded for."""
        ...

    def description(self) -> Description: ...

    def in_proxmox(self, configuration: str) -> CloudWord | None:
        """What is said by whoever asks Proxmox VE as the text of a configuration says to.

        None: the text is wrong, or Proxmox VE turns its token away.
        """
        ...

    def pulled(self, image: str) -> float:
        """Seconds until an image is there, 0 where it is already; raises `PullFailed`."""
        ...

    def static_pods(self) -> list[Object]:
        """Pods that run without an API server, once they run."""
        ...

    def trouble(self, action: str, pod: Object, image: str = "") -> Fault | None:
        """A fault that strikes something that is done for a pod."""
        ...

    def noted(self, *, is_there: bool, is_ready: bool, is_closed: bool) -> None:
        """What became of its Node."""
        ...


class Hosts(Protocol):
    """All machines of a cluster."""

    def host(self, name: str) -> Host | None:
        """The machine of a Node. None: there is none, or it has no power."""
        ...

    def hosts(self) -> Sequence[Host]: ...
