"""Records of the observed state that status is assessed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Literal

from stockman.model.desired import Desired
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.planning.fact import Fact
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.kubernetes import ObservedKubernetes, ObservedNode, ObservedObject
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.talos.credentials.certificates import CertificateState
from stockman.talos.records.machines import EtcdAlarm

CertificateKind = Literal["authority", "client"]


@record
class ListedCertificate:
    """One certificate."""

    file: str
    name: str
    """Its name in the file: `certs.os`, or a context or user."""
    kind: CertificateKind
    subject: str
    organizations: tuple[str, ...]
    """Roles of a Talos client, or groups of a Kubernetes client."""
    ours: bool | None
    """Whether an authority of the bundle signed it. None: the bundle could not be opened."""
    ends: datetime
    days_left: int
    """Whole days until it expires; negative after that."""
    standing: CertificateState
    renew: str
    """The command that renews it."""


@record
class CertificateList:
    """All certificates that were found, and their problems."""

    certificates: tuple[ListedCertificate, ...]
    problems: tuple[Problem, ...]
    not_read: tuple[Problem, ...]
    """Why existing files could not be read."""


@record
class ObservedRepository:
    """The local state of the repository that the cluster follows."""

    branch: str = ""
    """The branch that is checked out. Empty: none."""
    local: str = ""
    """Commit of the work tree. Empty: none yet."""
    uncommitted: tuple[str, ...] = ()
    """Changed files of the configuration and of the rendered tree."""
    pushed: str = ""
    """Commit of the remote. Empty: unknown or none."""
    why: str = ""
    """Why the remote is unknown. Empty: it is known."""


@record
class ObservedBackup:
    """A backup target with its snapshots."""

    target: str
    where: str
    """For people: `s3://bucket/prefix` or a directory."""
    count: int = 0
    newest: datetime | None = None
    """None: there is none, or it is unknown."""
    size: int = 0
    """Size of the newest snapshot in bytes."""
    why: str = ""
    """Why the target could not be listed. Empty: it could."""
    is_directory: bool = False
    """Whether it is a local directory, which nothing in the cluster writes to."""


@record
class ObservedRun:
    """The last run."""

    run: str
    result: str
    """The result as shown by `runs list`."""
    last: datetime | None
    done: int
    steps: int
    held: tuple[str, ...] = ()
    """Descriptions of the holds that it has not released."""


@record
class ObservedLease:
    """The Lease in Kubernetes that runs take in addition to the lock."""

    holder: str = ""
    """The run and its process. Empty: none."""
    renewed: datetime | None = None
    """None: never."""
    is_free: bool = True
    """Whether it has no holder or has expired."""
    why: str = ""
    """Why it is unknown. Empty: it was read, or does not exist."""


@record
class ObservedRuns:
    """Runs, the lock and the Lease."""

    count: int = 0
    newest: ObservedRun | None = None
    """None: there was no run yet."""
    unfinished: tuple[ObservedRun, ...] = ()
    """Unfinished runs after the last finished one, newest first."""
    cordoned: frozenset[str] = frozenset()
    """Nodes that one of them holds cordoned."""
    lock: str = ""
    """Holder of the lock. Empty: none."""
    lease: ObservedLease | None = None
    """None: it was not read."""
    why: str = ""
    """Why runs or lock are unknown. Empty: they are known."""


@record
class StatusInput:
    """Everything that status is assessed from, observed at one moment; None means not observed."""

    at: datetime
    desired: Desired
    observed: Observed
    desired_kubernetes: DesiredKubernetes | None = None
    alarms: tuple[EtcdAlarm, ...] | None = None
    """None: no member answered."""
    repository: ObservedRepository | None = None
    certificates: CertificateList | None = None
    backups: tuple[ObservedBackup, ...] | None = None
    runs: ObservedRuns | None = None
    components: Mapping[str, bool] = field(default_factory=dict)
    """Whether each component of the catalog is enabled."""

    @property
    def name(self) -> str:
        cluster = self.desired.cluster
        return cluster.name if cluster is not None else ""

    @property
    def talos(self) -> ObservedTalos | None:
        return self.observed.talos

    @property
    def kubernetes(self) -> ObservedKubernetes | None:
        """Observed Kubernetes state. None: not observed, or the API does not answer."""
        return self.observed.kubernetes if self.observed.api_answers else None

    def address_of(self, node: str) -> str:
        """Return the address of a node's machine, or its name if the address is unknown."""
        for desired_node in self.desired.nodes:
            if str(desired_node.name) == node:
                return str(desired_node.address.ip)
        return node

    def proxmox(self, region: str) -> ObservedProxmox | None:
        return self.observed.proxmox.get(region)

    @cached_property
    def nodes(self) -> Mapping[str, ObservedNode]:
        """Kubernetes nodes by name."""
        nodes = self.kubernetes.nodes if self.kubernetes is not None else None
        return {node.name: node for node in nodes or ()}

    @cached_property
    def offline(self) -> frozenset[tuple[str, str]]:
        """Offline hosts as region and name."""
        return frozenset(
            (region, str(member.name))
            for region, observed in self.observed.proxmox.items()
            if isinstance(observed.state, Fact)
            for member in observed.state.value.members
            if not member.online
        )

    @cached_property
    def workloads(self) -> Mapping[tuple[str, str], ObservedObject]:
        """Workloads by namespace and name."""
        workloads = self.kubernetes.workloads if self.kubernetes is not None else None
        return {(workload.namespace, workload.name): workload for workload in workloads or ()}
