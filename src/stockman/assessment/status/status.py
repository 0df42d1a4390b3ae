"""How a cluster is, all parts together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from datetime import datetime

from stockman.assessment.status.backups import assess_backups
from stockman.assessment.status.certificates import assess_certificates
from stockman.assessment.status.etcd import assess_etcd
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusPart,
    worst_health,
)
from stockman.assessment.status.flux import assess_flux
from stockman.assessment.status.hosts import assess_proxmox
from stockman.assessment.status.kubernetes import assess_components, assess_kubernetes
from stockman.assessment.status.node_links import NodeStatus
from stockman.assessment.status.nodes import NodeChain, assess_chains, assess_talos, assess_vms
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.runs import assess_runs
from stockman.model.record import record

ALL = tuple(StatusCheck)
_OF_NODES = frozenset(
    {StatusCheck.VMS, StatusCheck.TALOS, StatusCheck.ETCD, StatusCheck.KUBERNETES}
)
"""Parts that nodes are judged from, link by link."""


@record
class Status:
    """One look, judged."""

    cluster: str
    """Empty: there is only Proxmox VE."""
    at: datetime
    parts: tuple[StatusPart, ...]
    nodes: tuple[NodeStatus, ...]
    """Empty: not all of the parts were asked for that nodes are judged from."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How many calls it took, by system."""

    @property
    def findings(self) -> tuple[StatusFinding, ...]:
        """Everything that is wrong, errors first, each once; what stands below comes first."""
        found = {one.problem: one for part in self.parts for one in part.findings}
        return tuple(sorted(found.values(), key=lambda one: not one.problem.is_error))

    @property
    def healthy(self) -> bool:
        """Whether everything works: nothing is wrong, and nothing that matters is unknown."""
        return all(part.is_good for part in self.parts)

    @property
    def health(self) -> Health:
        return worst_health(part.health for part in self.parts)

    def part(self, check: StatusCheck) -> StatusPart | None:
        """One part. None: it was not asked for."""
        return next((one for one in self.parts if one.check is check), None)


def assess(seen: StatusInput, checks: Collection[StatusCheck] = ALL) -> Status:
    """What a look comes to, in the parts that are asked for."""
    found = assess_chains(seen) if _OF_NODES & set(checks) else ()
    return Status(
        cluster=seen.name,
        at=seen.at,
        parts=tuple(_part(check, seen, found) for check in StatusCheck if check in checks),
        nodes=tuple(one.node for one in found) if set(checks) >= _OF_NODES else (),
        calls={one.system: one.calls for one in seen.observed.counted},
    )


def _part(check: StatusCheck, seen: StatusInput, found: tuple[NodeChain, ...]) -> StatusPart:
    match check:
        case StatusCheck.VMS:
            return assess_vms(seen, found)
        case StatusCheck.TALOS:
            return assess_talos(seen, found)
        case StatusCheck.ETCD:
            down = frozenset(one.node.name for one in found if one.is_down)
            return assess_etcd(seen, down)
        case StatusCheck.KUBERNETES:
            return assess_kubernetes(seen, found)
        case _:
            return _INDEPENDENT[check](seen)


_INDEPENDENT: Mapping[StatusCheck, Callable[[StatusInput], StatusPart]] = {
    StatusCheck.PROXMOX: assess_proxmox,
    StatusCheck.FLUX: assess_flux,
    StatusCheck.COMPONENTS: assess_components,
    StatusCheck.CERTIFICATES: assess_certificates,
    StatusCheck.BACKUPS: assess_backups,
    StatusCheck.RUNS: assess_runs,
}
