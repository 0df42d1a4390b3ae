"""Everything that status is judged from, as it was seen at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property

from stockman.app.certificate_records import CertificateList
from stockman.model.desired import Desired
from stockman.model.record import record
from stockman.planning.fact import Fact
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.observed import Observed
from stockman.planning.observed_kubernetes import ObservedKubernetes, SeenNode, SeenObject
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.observed_talos import ObservedTalos
from stockman.ports.talos.etcd import EtcdAlarm


@record
class RepositorySeen:
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
class BackupSeen:
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
class RunSeen:
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
class LeaseSeen:
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
class RunsSeen:
    """Runs, the lock, and the Lease."""

    count: int = 0
    newest: RunSeen | None = None
    """None: there was none yet."""
    unfinished: tuple[RunSeen, ...] = ()
    """Those after the last that is over, the newest first."""
    cordoned: frozenset[str] = frozenset()
    """Nodes that one of them holds cordoned."""
    lock: str = ""
    """Who has the lock. Empty: nobody."""
    lease: LeaseSeen | None = None
    """None: nobody looked."""
    why: str = ""
    """Why runs or lock are not known. Empty: they are."""


@record
class Seen:
    """One look at everything. What is None was not looked at."""

    at: datetime
    desired: Desired
    observed: Observed
    wish: KubernetesWish | None = None
    alarms: tuple[EtcdAlarm, ...] | None = None
    """None: nobody told."""
    repository: RepositorySeen | None = None
    certificates: CertificateList | None = None
    backups: tuple[BackupSeen, ...] | None = None
    runs: RunsSeen | None = None
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
    def nodes(self) -> Mapping[str, SeenNode]:
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
    def workloads(self) -> Mapping[tuple[str, str], SeenObject]:
        """Workloads by namespace and name."""
        found = self.kubernetes.workloads if self.kubernetes is not None else None
        return {(one.namespace, one.name): one for one in found or ()}
