"""Checks, their input and the Proxmox clusters that they query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import Enum
from functools import cached_property
from pathlib import Path

from stockman.assessment.doctor.servers import Endpoint, servers
from stockman.config.language import Configuration
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, CONFIG_FILES, NODES_YAML
from stockman.model.component import Component
from stockman.model.desired import Desired
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.environment import GitProbe, Machine, Network, NoAnswer, WorkTree
from stockman.ports.system import Clock
from stockman.proxmox.client import ProxmoxClient


class CheckStatus(Enum):
    """Status of a result; only `OK` is good."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    """Checked, but the result could not be determined."""
    SKIP = "skip"
    """Not checked, on purpose or because it does not apply."""


@record
class CheckResult:
    """Result of one check for one subject."""

    check: str = ""
    """Name of the check, such as `git.remote`; set by the runner."""
    subject: str
    """The subject in the user's words."""
    status: CheckStatus
    summary: str
    """The observed state, as a clause."""
    fix: str = ""
    """An instruction that fixes it. Empty: nothing to fix."""


@record
class DoctorReport:
    """All results in the order of the checks."""

    findings: tuple[CheckResult, ...]

    @property
    def counts(self) -> Mapping[CheckStatus, int]:
        """Return the number of results by status, worst first, without zeros."""
        order = (
            CheckStatus.FAIL,
            CheckStatus.WARN,
            CheckStatus.UNKNOWN,
            CheckStatus.SKIP,
            CheckStatus.OK,
        )
        counts = {
            status: sum(finding.status is status for finding in self.findings) for status in order
        }
        return {status: count for status, count in counts.items() if count}

    @property
    def is_partial(self) -> bool:
        """Whether a check had no result."""
        return CheckStatus.UNKNOWN in self.counts

    def has_failed(self, *, strict: bool = False) -> bool:
        """Whether a check failed; with `strict`, warnings count too."""
        return CheckStatus.FAIL in self.counts or (strict and CheckStatus.WARN in self.counts)


def ok(subject: str, summary: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.OK, summary=summary)


def warn(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.WARN, summary=summary, fix=fix)


def fail(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.FAIL, summary=summary, fix=fix)


def unknown(subject: str, summary: str, fix: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.UNKNOWN, summary=summary, fix=fix)


def skip(subject: str, summary: str) -> CheckResult:
    return CheckResult(subject=subject, status=CheckStatus.SKIP, summary=summary)


OpenProxmox = Callable[[str, Secret], AbstractAsyncContextManager[ProxmoxClient]]
"""Opens a client with the ID and the secret of a token."""


@record
class ConfiguredToken:
    """A token that the configuration names."""

    owner: str
    """`stockman`, or the name of a component."""
    id: str
    secret: Secret | None
    """None: it is not available."""
    reason: str = ""
    """Why the secret is not available, as a clause."""
    options: Component = Component()
    """Configuration of the component."""


@record
class ProxmoxAccess:
    """One Proxmox cluster and the tokens for it."""

    cluster: ProxmoxCluster
    open: OpenProxmox
    token: ConfiguredToken
    """The token of stockman."""
    component_tokens: tuple[ConfiguredToken, ...] = ()
    """The tokens of components."""

    @property
    def subject(self) -> str:
        return f"region {self.cluster.region}"


@record
class CheckInput:
    """Input of checks: the user's files and the local machine."""

    directory: Path
    estate: Configuration
    """The configuration, as far as it could be read."""
    secrets: tuple[Secret, ...]
    """All secrets that it names, each once."""
    problems: tuple[Problem, ...]
    """All problems that `validate` finds."""
    complete: bool
    """Whether every configuration file could be read."""
    machine: Machine
    repo: GitProbe
    clock: Clock
    desired: Desired | None = None
    """None: the files have errors, or describe nothing."""
    regions: tuple[ProxmoxAccess, ...] = ()
    """Proxmox clusters with an endpoint and a token in the configuration."""

    @property
    def files(self) -> tuple[str, ...]:
        """Expected configuration files; empty if there is no configuration."""
        present = [name for name in CONFIG_FILES if self.machine.file(self.directory / name)]
        if not present:
            return ()
        return (CLUSTER_TOML,) if CLUSTER_TOML in present else (CLUSTER_YAML, NODES_YAML)

    @cached_property
    def tree(self) -> WorkTree | None:
        """The git repository of the directory. None: there is none, or git cannot tell."""
        try:
            return self.repo.work_tree()
        except NoAnswer:
            return None

    @cached_property
    def servers(self) -> tuple[Endpoint, ...]:
        """All servers that are reached over TCP."""
        return servers(self.estate, self.tree.remotes if self.tree else ())


@record
class Question:
    """A query that needs the network; all queries run at once."""

    subject: str
    ask: Callable[[Network], Awaitable[Iterable[CheckResult]]]


CheckFunction = Callable[[CheckInput], Iterable[CheckResult | Question]]


@record
class Check:
    """One read-only check; what it cannot determine is not reported as good."""

    name: str
    """`area.subject`, which never changes."""
    about: str
    """What the check verifies, in one sentence."""
    look: CheckFunction


def check(name: str) -> Callable[[CheckFunction], Check]:
    """Turn a function into a check; the first line of its docstring describes it."""
    return lambda look: Check(
        name=name, about=(look.__doc__ or "").strip().partition("\n")[0], look=look
    )
