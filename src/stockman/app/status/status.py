"""How a cluster is, all parts together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from datetime import datetime

from stockman.app.status.backups import judged_backups
from stockman.app.status.certificates import judged_certificates
from stockman.app.status.chain import Chain, chains
from stockman.app.status.components import judged_components
from stockman.app.status.etcd import judged_etcd
from stockman.app.status.finding import Check, Finding, Part
from stockman.app.status.flux import judged_flux
from stockman.app.status.health import Health, worst
from stockman.app.status.hosts import judged_proxmox
from stockman.app.status.kubernetes import judged_kubernetes
from stockman.app.status.machines import judged_talos, judged_vms
from stockman.app.status.node import NodeStatus
from stockman.app.status.runs import judged_runs
from stockman.app.status.seen import Seen
from stockman.model.record import record

ALL = tuple(Check)
_OF_NODES = frozenset({Check.VMS, Check.TALOS, Check.ETCD, Check.KUBERNETES})
"""Parts that nodes are judged from, link by link."""


@record
class Status:
    """One look, judged."""

    cluster: str
    """Empty: there is only Proxmox VE."""
    at: datetime
    parts: tuple[Part, ...]
    nodes: tuple[NodeStatus, ...]
    """Empty: not all of the parts were asked for that nodes are judged from."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How many calls it took, by system."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong, errors first, each once; what stands below comes first."""
        found = {one.problem: one for part in self.parts for one in part.findings}
        return tuple(sorted(found.values(), key=lambda one: not one.problem.is_error))

    @property
    def healthy(self) -> bool:
        """Whether everything works: nothing is wrong, and nothing that matters is unknown."""
        return all(part.is_good for part in self.parts)

    @property
    def health(self) -> Health:
        return worst(part.health for part in self.parts)

    def part(self, check: Check) -> Part | None:
        """One part. None: it was not asked for."""
        return next((one for one in self.parts if one.check is check), None)


def judged(seen: Seen, checks: Collection[Check] = ALL) -> Status:
    """What a look comes to, in the parts that are asked for."""
    found = chains(seen) if _OF_NODES & set(checks) else ()
    return Status(
        cluster=seen.name,
        at=seen.at,
        parts=tuple(_part(check, seen, found) for check in Check if check in checks),
        nodes=tuple(one.node for one in found) if set(checks) >= _OF_NODES else (),
        calls={one.system: one.calls for one in seen.observed.counted},
    )


def _part(check: Check, seen: Seen, found: tuple[Chain, ...]) -> Part:
    match check:
        case Check.VMS:
            return judged_vms(seen, found)
        case Check.TALOS:
            return judged_talos(seen, found)
        case Check.ETCD:
            down = frozenset(one.node.name for one in found if one.is_down)
            return judged_etcd(seen, down)
        case Check.KUBERNETES:
            return judged_kubernetes(seen, found)
        case _:
            return _ALONE[check](seen)


_ALONE: Mapping[Check, Callable[[Seen], Part]] = {
    Check.PROXMOX: judged_proxmox,
    Check.FLUX: judged_flux,
    Check.COMPONENTS: judged_components,
    Check.CERTIFICATES: judged_certificates,
    Check.BACKUPS: judged_backups,
    Check.RUNS: judged_runs,
}
