"""What a look at a part of a cluster comes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from stockman.app.status.health import Health, worst
from stockman.model.problem import Problem, Severity
from stockman.model.record import record


class Check(Enum):
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
    Check.PROXMOX: "Proxmox VE",
    Check.VMS: "VMs",
    Check.TALOS: "Talos",
    Check.ETCD: "etcd",
    Check.KUBERNETES: "Kubernetes",
    Check.FLUX: "Flux",
    Check.COMPONENTS: "components",
    Check.CERTIFICATES: "certificates",
    Check.BACKUPS: "backups",
    Check.RUNS: "runs",
}


HIDDEN = (
    "the token of stockman lacks VM.Audit on /vms, and Proxmox VE shows it no guest",
    "run `stockman apply --only access` with the token of an administrator",
)
"""Why a guest may be there that is not seen, and what to do."""


@record
class Finding:
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
class Item:
    """One thing of a part: a host, an object of Flux, a certificate."""

    name: str
    health: Health
    seen: str


@record
class Part:
    """One part of a cluster."""

    check: Check
    health: Health
    seen: str
    """The figures in a line."""
    items: tuple[Item, ...] = ()
    findings: tuple[Finding, ...] = ()

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


def part(
    check: Check,
    seen: str,
    findings: Iterable[Finding] = (),
    items: Iterable[Item] = (),
    least: Health = Health.OK,
) -> Part:
    """A part that is as well as the worst that was found; never better than `least`."""
    found = tuple(findings)
    health = worst((least, *(one.health for one in found)))
    return Part(check=check, health=health, seen=seen, items=tuple(items), findings=found)


def off(check: Check, seen: str) -> Part:
    """A part that is not wanted."""
    return Part(check=check, health=Health.OFF, seen=seen)


def warning(problem: Problem) -> Problem:
    """The same, as something that works nevertheless."""
    return replace(problem, severity=Severity.WARNING)


def unknown(subject: str, why: str, fix: str, *, is_error: bool = True) -> Finding:
    """Something that could not be found out."""
    problem = Problem(
        code="status.unknown",
        what=f"nobody could tell about {subject}",
        where=subject,
        why=why,
        fix=fix,
    )
    return Finding(subject=subject, problem=problem if is_error else warning(problem), unknown=True)
