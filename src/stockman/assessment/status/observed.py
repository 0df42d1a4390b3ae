"""Records of the certificates of a workspace."""

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
from stockman.talos.records.etcd import EtcdAlarm

CertificateKind = Literal["authority", "client"]


@record
class ListedCertificate:
    """One certificate."""

    file: str
    name: str
    """What it is called in the file: `certs.os`, or a context or user."""
    kind: CertificateKind
    subject: str
    organizations: tuple[str, ...]
    """Roles of a client of Talos, groups of one of Kubernetes."""
    ours: bool | None
    """Whether an authority of the bundle signed it. None: the bundle could not be opened."""
    ends: datetime
    days_left: int
    """Whole days; below zero once it has ended."""
    standing: CertificateState
    renew: str
    """What makes it anew."""


@record
class CertificateList:
    """All that were found, and what is wrong."""

    certificates: tuple[ListedCertificate, ...]
    problems: tuple[Problem, ...]
    not_read: tuple[Problem, ...]
    """Why files that are there could not be looked at."""


@record
class ObservedRepository:
    """The repository that the cluster follows, from here."""

    branch: str = ""
    """The branch that is checked out. Empty: none."""
    local: str = ""
    """Commit of the work tree. Empty: none yet."""
    pushed: str = ""
    """Commit that the remote has. Empty: not known, or none."""
    why: str = ""
    """Why the remote is not known. Empty: it is."""


@record
class ObservedBackup:
    """A place for snapshots."""

    target: str
    where: str
    """For people: `s3://bucket/prefix` or a directory."""
    count: int = 0
    newest: datetime | None = None
    """None: there is none, or nobody knows."""
    size: int = 0
    """Bytes of the newest."""
    why: str = ""
    """Why nobody knows. Empty: it could be listed."""
    is_directory: bool = False
    """Whether it is a directory of this machine, which nothing in the cluster writes to."""


@record
class ObservedRun:
    """The last run."""

    run: str
    result: str
    """As `runs list` has it."""
    last: datetime | None
    done: int
    steps: int
    held: tuple[str, ...] = ()
    """What it has not given back, in words."""


@record
class ObservedLease:
    """The Lease in Kubernetes that runs take beside the lock."""

    holder: str = ""
    """The run and its process. Empty: nobody."""
    renewed: datetime | None = None
    """None: never."""
    is_free: bool = True
    """Whether anybody may take it: nobody has it, or whoever had it gives no sign of life."""
    why: str = ""
    """Why nobody knows. Empty: it was read, or there is none."""


@record
class ObservedRuns:
    """Runs, the lock, and the Lease."""

    count: int = 0
    newest: ObservedRun | None = None
    """None: there was none yet."""
    unfinished: tuple[ObservedRun, ...] = ()
    """Those after the last that is over, the newest first."""
    cordoned: frozenset[str] = frozenset()
    """Nodes that one of them holds cordoned."""
    lock: str = ""
    """Who has the lock. Empty: nobody."""
    lease: ObservedLease | None = None
    """None: nobody looked."""
    why: str = ""
    """Why runs or lock are not known. Empty: they are."""


@record
class StatusInput:
    """One look at everything. What is None was not looked at."""

    at: datetime
    desired: Desired
    observed: Observed
    wish: DesiredKubernetes | None = None
    alarms: tuple[EtcdAlarm, ...] | None = None
    """None: nobody told."""
    repository: ObservedRepository | None = None
    certificates: CertificateList | None = None
    backups: tuple[ObservedBackup, ...] | None = None
    runs: ObservedRuns | None = None
    components: Mapping[str, bool] = field(default_factory=dict)
    """Which components of the catalog are on."""

    @property
    def name(self) -> str:
        cluster = self.desired.cluster
        return cluster.name if cluster is not None else ""

    @property
    def talos(self) -> ObservedTalos | None:
        return self.observed.talos

    @property
    def kubernetes(self) -> ObservedKubernetes | None:
        """None: nobody looked, or the API does not answer."""
        return self.observed.kubernetes if self.observed.api_answers else None

    def address_of(self, node: str) -> str:
        """Where the machine of a node answers; its name, where nobody knows an address."""
        for one in self.desired.nodes:
            if str(one.name) == node:
                return str(one.address.ip)
        return node

    def proxmox(self, region: str) -> ObservedProxmox | None:
        return self.observed.proxmox.get(region)

    @cached_property
    def nodes(self) -> Mapping[str, ObservedNode]:
        """Nodes of Kubernetes by name."""
        found = self.kubernetes.nodes if self.kubernetes is not None else None
        return {one.name: one for one in found or ()}

    @cached_property
    def offline(self) -> frozenset[tuple[str, str]]:
        """Hosts that their clusters do not see, as region and name."""
        return frozenset(
            (region, str(member.name))
            for region, seen in self.observed.proxmox.items()
            if isinstance(seen.state, Fact)
            for member in seen.state.value.members
            if not member.online
        )

    @cached_property
    def workloads(self) -> Mapping[tuple[str, str], ObservedObject]:
        """Workloads by namespace and name."""
        found = self.kubernetes.workloads if self.kubernetes is not None else None
        return {(one.namespace, one.name): one for one in found or ()}
