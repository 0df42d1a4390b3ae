"""Status of a cluster: all parts together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from datetime import datetime

from stockman.assessment.status.etcd import assess_etcd
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusPart,
    worst_health,
)
from stockman.assessment.status.kubernetes import assess_components, assess_flux, assess_kubernetes
from stockman.assessment.status.node_links import NodeStatus
from stockman.assessment.status.nodes import (
    NodeChain,
    assess_chains,
    assess_proxmox,
    assess_talos,
    assess_vms,
)
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.operations import assess_backups, assess_certificates, assess_runs
from stockman.model.record import record

ALL = tuple(StatusCheck)
_OF_NODES = frozenset(
    {StatusCheck.VMS, StatusCheck.TALOS, StatusCheck.ETCD, StatusCheck.KUBERNETES}
)
"""Parts that are assessed from the links of nodes."""


@record
class Status:
    """The assessed status of a cluster."""

    cluster: str
    """Empty: only Proxmox VE is configured."""
    at: datetime
    parts: tuple[StatusPart, ...]
    nodes: tuple[NodeStatus, ...]
    """Empty: not all parts were requested that nodes are assessed from."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """Number of API calls by system."""

    @property
    def findings(self) -> tuple[StatusFinding, ...]:
        """Every finding once: errors first, and in the order of dependency."""
        by_problem = {
            finding.problem: finding
            for status_part in self.parts
            for finding in status_part.findings
        }
        return tuple(sorted(by_problem.values(), key=lambda finding: not finding.problem.is_error))

    @property
    def healthy(self) -> bool:
        """Whether everything works and nothing important is unknown."""
        return all(status_part.is_good for status_part in self.parts)

    @property
    def health(self) -> Health:
        return worst_health(status_part.health for status_part in self.parts)

    def part(self, check: StatusCheck) -> StatusPart | None:
        """Return one part. None: it was not requested."""
        return next((status_part for status_part in self.parts if status_part.check is check), None)


def assess(state: StatusInput, checks: Collection[StatusCheck] = ALL) -> Status:
    """Assess an observation in the requested parts."""
    chains = assess_chains(state) if _OF_NODES & set(checks) else ()
    return Status(
        cluster=state.name,
        at=state.at,
        parts=tuple(_part(check, state, chains) for check in StatusCheck if check in checks),
        nodes=tuple(chain.node for chain in chains) if set(checks) >= _OF_NODES else (),
        calls={chain.system: chain.calls for chain in state.observed.counted},
    )


def _part(check: StatusCheck, state: StatusInput, chains: tuple[NodeChain, ...]) -> StatusPart:
    match check:
        case StatusCheck.VMS:
            return assess_vms(state, chains)
        case StatusCheck.TALOS:
            return assess_talos(state, chains)
        case StatusCheck.ETCD:
            down = frozenset(chain.node.name for chain in chains if chain.is_down)
            return assess_etcd(state, down)
        case StatusCheck.KUBERNETES:
            return assess_kubernetes(state, chains)
        case _:
            return _INDEPENDENT[check](state)


_INDEPENDENT: Mapping[StatusCheck, Callable[[StatusInput], StatusPart]] = {
    StatusCheck.PROXMOX: assess_proxmox,
    StatusCheck.FLUX: assess_flux,
    StatusCheck.COMPONENTS: assess_components,
    StatusCheck.CERTIFICATES: assess_certificates,
    StatusCheck.BACKUPS: assess_backups,
    StatusCheck.RUNS: assess_runs,
}
