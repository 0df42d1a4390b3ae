"""Health levels, checks, findings and parts of a status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from stockman.model.problem import Problem, Severity
from stockman.model.record import record


class Health(Enum):
    """Health levels from best to worst, except `OFF`."""

    OK = "ok"
    WARNING = "warning"
    """It works, but somebody should look at it."""
    UNKNOWN = "unknown"
    """The state could not be determined, which is not the same as good."""
    ERROR = "error"
    OFF = "off"
    """It is not configured."""

    @property
    def is_good(self) -> bool:
        """Whether it works or is not configured."""
        return self in (Health.OK, Health.WARNING, Health.OFF)


_ORDER = (Health.OFF, Health.OK, Health.WARNING, Health.UNKNOWN, Health.ERROR)


def worst_health(healths: Iterable[Health], none: Health = Health.OK) -> Health:
    """Return the worst of several health levels, or `none` if there are none."""
    return max(healths, key=_ORDER.index, default=none)


class StatusCheck(Enum):
    """Parts of a cluster in the order in which they depend on each other."""

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
"""Why an existing guest may be invisible, and the fix."""


@record
class StatusFinding:
    """A problem and its subject."""

    subject: str
    """Name of the node, host or object."""
    problem: Problem
    unknown: bool = False
    """Whether the finding only says that something could not be determined."""

    @property
    def health(self) -> Health:
        if self.unknown:
            return Health.UNKNOWN
        return Health.ERROR if self.problem.is_error else Health.WARNING


@record
class StatusItem:
    """One item of a part: a host, a Flux object, a certificate."""

    name: str
    health: Health
    summary: str


@record
class StatusPart:
    """One part of a cluster."""

    check: StatusCheck
    health: Health
    summary: str
    """A one-line summary."""
    items: tuple[StatusItem, ...] = ()
    findings: tuple[StatusFinding, ...] = ()

    @property
    def title(self) -> str:
        return TITLES[self.check]

    @property
    def is_good(self) -> bool:
        """Whether the part works; unknown counts only if its finding is not an error."""
        if any(finding.problem.is_error for finding in self.findings):
            return False
        has_unknown = any(finding.unknown for finding in self.findings)
        return self.health.is_good or (self.health is Health.UNKNOWN and has_unknown)


def build_part(
    check: StatusCheck,
    summary: str,
    findings: Iterable[StatusFinding] = (),
    items: Iterable[StatusItem] = (),
    least: Health = Health.OK,
) -> StatusPart:
    """Return a part with the worst health of its findings and items, and at best `least`."""
    all_findings = tuple(findings)
    health = worst_health((least, *(finding.health for finding in all_findings)))
    return StatusPart(
        check=check, health=health, summary=summary, items=tuple(items), findings=all_findings
    )


def part_off(check: StatusCheck, summary: str) -> StatusPart:
    """Return a part that is not configured."""
    return StatusPart(check=check, health=Health.OFF, summary=summary)


def as_warning(problem: Problem) -> Problem:
    """Return the problem as a warning."""
    return replace(problem, severity=Severity.WARNING)


def unknown_finding(subject: str, why: str, fix: str, *, is_error: bool = True) -> StatusFinding:
    """Return a finding for something that could not be determined."""
    problem = Problem(
        code="status.unknown",
        what=f"the status of {subject} is unknown",
        where=subject,
        why=why,
        fix=fix,
    )
    return StatusFinding(
        subject=subject, problem=problem if is_error else as_warning(problem), unknown=True
    )
