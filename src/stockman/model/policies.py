"""Etcd backups: where they go, how often, how long they stay, who can open them."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from typing import Annotated, Literal

from stockman.model.formats import (
    HTTP_URL,
    LOCK_HOME,
    AgeRecipientText,
    Between,
    CronText,
    DateText,
    DurationText,
    Example,
    Name,
    NodeNameText,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class BackupTarget(Traced):
    """One place for snapshots: an S3 bucket, or a directory of the machine that runs stockman."""

    name: Name = "s3"
    """Name shown in lists."""
    endpoint: Annotated[str, HTTP_URL] | None = None
    """S3 endpoint. None: Amazon's for the region."""
    bucket: Annotated[str, Example("etcd-backups")] | None = None
    """Bucket. None: this target is a directory."""
    region: str = "auto"
    """Region that requests are signed for."""
    prefix: str = ""
    """Path inside of the bucket. Empty: the cluster name."""
    access_key: Secret | None = None
    """None: from the environment of the process."""
    secret_key: Secret | None = None
    """None: from the environment of the process."""
    path_style: bool = True
    """Bucket in the path instead of the host name; most S3 servers besides Amazon's want it."""
    directory: str | None = None
    """Directory. None: this target is a bucket."""


@record
class Retention(Traced):
    """Which snapshots stay; one that any rule names stays."""

    last: Annotated[int, Between(1, 10_000)] = 12
    """Newest ones."""
    daily: Annotated[int, Between(0, 3650)] = 7
    """One a day, for so many days."""
    weekly: Annotated[int, Between(0, 520)] = 4
    """One a week, for so many weeks."""
    monthly: Annotated[int, Between(0, 120)] = 6
    """One a month, for so many months."""


@record
class Backup(Traced):
    """Etcd snapshots, encrypted for recipients of their own."""

    enabled: bool = False
    """Whether backups are taken; implied by a bucket."""
    schedule: CronText = "0 */6 * * *"
    """When, as five cron fields."""
    targets: tuple[BackupTarget, ...] = ()
    """Where snapshots go; each gets every snapshot."""
    retention: Retention = Retention()
    """How long they stay."""
    recipients: tuple[AgeRecipientText, ...] = ()
    """Who can open them: age recipients that are not the repository's, so that one lost key
    loses one thing. stockman does not make this key: it belongs offline, not beside the cluster's.
    talos-backup encrypts for the first."""
    compression: Literal["zstd", "none"] = "zstd"
    """Compression before encryption."""


@record
class Lock(Traced):
    """Where the lock between operators lives; fixed per cluster."""

    home: Annotated[str, LOCK_HOME] = "local"
    """`local` for one operator on one machine, or `s3://bucket/prefix` for several."""
    endpoint: Annotated[str, HTTP_URL] | None = None
    """S3 endpoint. None: Amazon's for the region."""
    region: str = "auto"
    """Region that requests are signed for."""
    access_key: Secret | None = None
    """None: from the environment of the process."""
    secret_key: Secret | None = None
    """None: from the environment of the process."""


DriftLayer = Literal["vms", "placement", "talos", "kubernetes", "tree", "access"]


@record
class DriftRule(Traced):
    """A difference that `stockman drift` does not count; `apply` changes it all the same."""

    layer: DriftLayer
    """Where: VMs, placement, Talos, Kubernetes, tree or access."""
    reason: Annotated[str, Example("bigger until the import is over")]
    """Why it may stay; shown whenever it is ignored."""
    until: DateText
    """The last day on which it is ignored. From the next day on it counts again."""
    subject: Annotated[str, Example("work-1")] = "*"
    """Which node, object, file or account; `*` stands for any text."""
    field: Annotated[str, Example("memory")] = "*"
    """Which of its values; `*` stands for any text."""

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.until)


@record
class DriftSettings(Traced):
    """What `stockman drift` leaves out."""

    ignore: tuple[DriftRule, ...] = ()
    """Differences that may stay for a while."""


Strategy = Literal["pets", "cattle"]


@record
class Window(Traced):
    """A time span in which upgrades and restarts of machines may begin."""

    start: CronText
    """When it opens, as five cron fields."""
    duration: DurationText = "4h"
    """How long it stays open."""
    timezone: Annotated[str, Example("Europe/Berlin")] = "UTC"
    """Time zone of `start`."""


@record
class HealthGate(Traced):
    """A condition on a Kubernetes object that has to hold before each step."""

    name: Name
    """Name shown in plans."""
    api_version: Annotated[str, Example("v1")]
    """API version of the object."""
    kind: Annotated[str, Example("Node")]
    """Kind of the object."""
    expr: Annotated[str, Example('status.phase == "Active"')]
    """CEL expression over `object` and `status`; true lets the upgrade go on."""
    namespace: str | None = None
    """None: cluster-scoped, or all namespaces."""
    object_name: str | None = None
    """None: every object of the kind that `selector` matches."""
    selector: str | None = None
    """Label selector. None: all objects of the kind."""
    timeout: DurationText = "10m"
    """How long to wait for it."""


@record
class Budgets(Traced):
    """Limits that stop an upgrade."""

    max_unavailable: Annotated[int, Between(0, 1000)] = 1
    """Nodes that may be down at once, for whatever reason."""
    max_failures: Annotated[int, Between(0, 1000)] = 0
    """Nodes that may fail before the run stops."""
    drain_timeout: DurationText = "10m"
    """Time for pods to leave a node."""
    node_timeout: DurationText = "30m"
    """Time for one node from start to healthy."""


@record
class ClassUpgrade(Traced):
    """Exceptions for the nodes of one class."""

    strategy: Strategy | None = None
    """None: as for all."""
    width: Annotated[int, Between(1, 100)] | None = None
    """None: as for all."""


@record
class Upgrade(Traced):
    """How Talos and Kubernetes are upgraded. One engine owns it, never two."""

    engine: Literal["stockman", "tuppr"] = "stockman"
    """Who carries upgrades out: stockman itself, or the tuppr controller in the cluster."""
    strategy: Strategy = "pets"
    """pets: in place. cattle: a new VM for each node. Controllers are always one at a time."""
    width: Annotated[int, Between(1, 100)] = 1
    """Workers in work at once."""
    domains: Literal["host", "region", "none"] = "host"
    """Two nodes of one domain are never in work together."""
    canary: tuple[NodeNameText, ...] = ()
    """Nodes that go first, alone."""
    soak: DurationText = "10m"
    """How long canaries have to stay healthy before the rest follows."""
    windows: tuple[Window, ...] = ()
    """When upgrades begin, and restarts that a change needs. Empty: any time."""
    gates: tuple[HealthGate, ...] = ()
    """Conditions besides those that stockman always checks."""
    budgets: Budgets = Budgets()
    """Limits that stop an upgrade."""
    classes: dict[str, ClassUpgrade] = field(default_factory=dict)
    """Exceptions by node class."""
