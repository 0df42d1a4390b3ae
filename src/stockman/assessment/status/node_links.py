"""A node from its VM over its machine to its kubelet."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from stockman.assessment.status.findings import Health, worst_health
from stockman.model.record import record


@record
class VmLink:
    """The VM of a node."""

    health: Health
    seen: str
    """`running on pve1`."""
    region: str = ""
    host: str = ""
    """Where it is. Empty: not known."""
    wanted_host: str = ""
    vmid: int = 0
    uuid: UUID | None = None
    """None: not known."""
    macs: tuple[str, ...] = ()
    """Of its cards, in their order."""
    runs: bool | None = None
    """None: not known."""


@record
class MachineLink:
    """The Talos of a node."""

    health: Health
    seen: str
    """`running`, `no answer`."""
    version: str = ""
    """`v1.13.9`. Empty: not known."""
    uuid: UUID | None = None
    """None: not known."""
    macs: tuple[str, ...] = ()
    """Of the cards that it has. Empty: not known."""
    same: bool | None = None
    """Whether it is the machine of that VM. None: not known."""
    skew: float | None = None
    """Seconds that its clock is ahead. None: not known."""
    answers: bool = False
    """Whether it is a configured machine of this cluster that talks to us."""


@record
class KubeletLink:
    """The Node of Kubernetes."""

    health: Health
    seen: str
    """`ready`, `not ready`."""
    version: str = ""
    """`v1.36.3`. Empty: not known."""
    ready: bool | None = None
    """None: not known."""
    region: str = ""
    zone: str = ""
    provider_id: str = ""
    created: datetime | None = None
    """None: not known."""


@record
class NodeStatus:
    """One node."""

    name: str
    role: str
    address: str
    vm: VmLink | None
    """None: the machine is not made by stockman."""
    machine: MachineLink
    kubelet: KubeletLink
    etcd: str = ""
    """`leader`, `voter`, `learner`, `missing`, `unhealthy`, `unknown`. Empty: it is a worker."""

    @property
    def health(self) -> Health:
        links = [self.machine.health, self.kubelet.health]
        if self.vm is not None:
            links.append(self.vm.health)
        if self.etcd:
            links.append(_ETCD.get(self.etcd, Health.ERROR))
        return worst_health(links)


_ETCD = {
    "leader": Health.OK,
    "voter": Health.OK,
    "learner": Health.WARNING,
    "unknown": Health.UNKNOWN,
}
