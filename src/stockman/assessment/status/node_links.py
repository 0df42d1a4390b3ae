"""Records of a node: VM, machine and kubelet."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from stockman.assessment.status.findings import Health, worst_health
from stockman.model.record import record


@record
class VmLink:
    """The VM of a node."""

    health: Health
    summary: str
    """For example `running on pve1`."""
    region: str = ""
    host: str = ""
    """The host that runs it. Empty: unknown."""
    desired_host: str = ""
    vmid: int = 0
    uuid: UUID | None = None
    """None: unknown."""
    macs: tuple[str, ...] = ()
    """MAC addresses of its network cards in their order."""
    runs: bool | None = None
    """None: unknown."""


@record
class MachineLink:
    """The Talos machine of a node."""

    health: Health
    summary: str
    """For example `running` or `no answer`."""
    version: str = ""
    """For example `v1.13.9`. Empty: unknown."""
    uuid: UUID | None = None
    """None: unknown."""
    macs: tuple[str, ...] = ()
    """MAC addresses of its network cards. Empty: unknown."""
    same: bool | None = None
    """Whether it is the machine of that VM. None: unknown."""
    skew: float | None = None
    """Seconds that its clock is ahead. None: unknown."""
    answers: bool = False
    """Whether a configured machine of this cluster answers."""


@record
class KubeletLink:
    """The Kubernetes node of a node."""

    health: Health
    summary: str
    """`ready` or `not ready`."""
    version: str = ""
    """For example `v1.36.3`. Empty: unknown."""
    ready: bool | None = None
    """None: unknown."""
    region: str = ""
    zone: str = ""
    provider_id: str = ""
    created: datetime | None = None
    """None: unknown."""


@record
class NodeStatus:
    """Status of one node."""

    name: str
    role: str
    address: str
    vm: VmLink | None
    """None: stockman does not manage the machine's VM."""
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
