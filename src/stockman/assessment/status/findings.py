"""How well something is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from stockman.model.problem import Problem, Severity
from stockman.model.record import record


class Health(Enum):
    """What is known of how well something is, from best to worst but for `OFF`."""

    OK = "ok"
    WARNING = "warning"
    """It works, and somebody should look at it."""
    UNKNOWN = "unknown"
    """Nobody could tell, which is not the same as good."""
    ERROR = "error"
    OFF = "off"
    """It is not wanted, so there is nothing to be well."""

    @property
    def is_good(self) -> bool:
        """Whether it works, as far as it is wanted."""
        return self in (Health.OK, Health.WARNING, Health.OFF)


_ORDER = (Health.OFF, Health.OK, Health.WARNING, Health.UNKNOWN, Health.ERROR)


def worst_health(found: Iterable[Health], none: Health = Health.OK) -> Health:
    """The worst of several; `none` where there are none."""
    return max(found, key=_ORDER.index, default=none)


class StatusCheck(Enum):
    """Parts of a cluster that are judged, in the order in which one stands on another."""

    PROXMOX = "proxmox"
    VMS = "vms"
    TALOS = "talos"
    ETCD = "etcd"
    KUBERNETES = "kubernetes"
    FLUX = "flux"
    COMPONENTS = "components"
    CERTIFICATES = "certificates"
    BACKUPS = "backups"
    RUNS = "runs"


TITLES = {
    StatusCheck.PROXMOX: "Proxmox VE",
    StatusCheck.VMS: "VMs",
    StatusCheck.TALOS: "Talos",
    StatusCheck.ETCD: "etcd",
    StatusCheck.KUBERNETES: "Kubernetes",
    StatusCheck.FLUX: "Flux",
    StatusCheck.COMPONENTS: "components",
    StatusCheck.CERTIFICATES: "certificates",
    StatusCheck.BACKUPS: "backups",
    StatusCheck.RUNS: "runs",
}


HIDDEN = (
    "the token of stockman lacks VM.Audit on /vms, and Proxmox VE shows it no guest",
    "run `stockman apply --only access` with the token of an administrator",
)
"""Why a guest may be there that is not seen, and what to do."""


@record
class StatusFinding:
    """A problem, and what it is about."""

    subject: str
    """Name of the node, host or object."""
    problem: Problem
    unknown: bool = False
    """Whether it only says that something could not be found out."""

    @property
    def health(self) -> Health:
        if self.unknown:
            return Health.UNKNOWN
        return Health.ERROR if self.problem.is_error else Health.WARNING


@record
class StatusItem:
    """One thing of a part: a host, an object of Flux, a certificate."""

    name: str
    health: Health
    seen: str


@record
class StatusPart:
    """One part of a cluster."""

    check: StatusCheck
    health: Health
    seen: str
    """The figures in a line."""
    items: tuple[StatusItem, ...] = ()
    findings: tuple[StatusFinding, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.check]

    @property
    def is_good(self) -> bool:
        """Whether it works; what is unknown does, only if it is said that it does not matter."""
        if any(one.problem.is_error for one in self.findings):
            return False
        told = any(one.unknown for one in self.findings)
        return self.health.is_good or (self.health is Health.UNKNOWN and told)


def build_part(
    check: StatusCheck,
    seen: str,
    findings: Iterable[StatusFinding] = (),
    items: Iterable[StatusItem] = (),
    least: Health = Health.OK,
) -> StatusPart:
    """A part that is as well as the worst that was found; never better than `least`."""
    found = tuple(findings)
    health = worst_health((least, *(one.health for one in found)))
    return StatusPart(check=check, health=health, seen=seen, items=tuple(items), findings=found)


def disabled_part(check: StatusCheck, seen: str) -> StatusPart:
    """A part that is not wanted."""
    return StatusPart(check=check, health=Health.OFF, seen=seen)


def as_warning(problem: Problem) -> Problem:
    """The same, as something that works nevertheless."""
    return replace(problem, severity=Severity.WARNING)


def unknown_finding(subject: str, why: str, fix: str, *, is_error: bool = True) -> StatusFinding:
    """Something that could not be found out."""
    problem = Problem(
        code="status.unknown",
        what=f"nobody could tell about {subject}",
        where=subject,
        why=why,
        fix=fix,
    )
    return StatusFinding(
        subject=subject, problem=problem if is_error else as_warning(problem), unknown=True
    )
