"""Policies of a cluster: upgrades, backups of etcd, the lock between operators, accepted drift."""

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
    Text,
)
from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret


@record
class BackupTarget(Traced):
    """A location for etcd snapshots: an S3 bucket, or a directory on the machine that runs
    stockman."""

    name: Name = "s3"
    """Name of the target in lists of snapshots."""
    endpoint: Annotated[str, HTTP_URL] | None = None
    """URL of the S3 endpoint. None: the endpoint of Amazon S3 for the region."""
    bucket: Annotated[Text, Example("etcd-backups")] | None = None
    """Name of the bucket. None: the target is a directory."""
    region: Text = "auto"
    """Region used to sign requests."""
    prefix: str = ""
    """Path prefix inside the bucket. Empty: the name of the cluster."""
    access_key: Secret | None = None
    """Access key of the bucket. None: read from the environment of the process."""
    secret_key: Secret | None = None
    """Secret key of the bucket. None: read from the environment of the process."""
    path_style: bool = True
    """Whether the bucket name is part of the path instead of the host name. Most S3 servers other
    than Amazon S3 need this."""
    directory: Text | None = None
    """Path of the directory. None: the target is a bucket."""


@record
class Retention(Traced):
    """Which snapshots are kept. A snapshot is kept if any rule selects it."""

    last: Annotated[int, Between(1, 10_000)] = 12
    """Number of most recent snapshots to keep."""
    daily: Annotated[int, Between(0, 3650)] = 7
    """Number of days for which one snapshot per day is kept."""
    weekly: Annotated[int, Between(0, 520)] = 4
    """Number of weeks for which one snapshot per week is kept."""
    monthly: Annotated[int, Between(0, 120)] = 6
    """Number of months for which one snapshot per month is kept."""


@record
class Backup(Traced):
    """Snapshots of etcd, encrypted for separate recipients."""

    enabled: bool = False
    """Whether snapshots are taken. A target enables backups by itself."""
    schedule: CronText = "0 */6 * * *"
    """When snapshots are taken, as five cron fields."""
    targets: tuple[BackupTarget, ...] = ()
    """Where snapshots are stored. Every target gets every snapshot."""
    retention: Retention = Retention()
    """How long snapshots are kept."""
    recipients: tuple[AgeRecipientText, ...] = ()
    """age recipients that can decrypt the snapshots. Use keys other than those of the repository,
    so that one lost key does not affect both. stockman does not create these keys: keep them
    offline. talos-backup encrypts for the first recipient only."""
    compression: Literal["zstd", "none"] = "zstd"
    """Compression that is applied before encryption."""


@record
class Lock(Traced):
    """Where the lock between operators is stored. It must be the same for everybody who works on
    the cluster."""

    home: Annotated[str, LOCK_HOME] = "local"
    """`local` for a single operator on one machine, or `s3://bucket/prefix` for several."""
    endpoint: Annotated[str, HTTP_URL] | None = None
    """URL of the S3 endpoint. None: the endpoint of Amazon S3 for the region."""
    region: Text = "auto"
    """Region used to sign requests."""
    access_key: Secret | None = None
    """Access key of the bucket. None: read from the environment of the process."""
    secret_key: Secret | None = None
    """Secret key of the bucket. None: read from the environment of the process."""


DriftLayer = Literal["vms", "placement", "talos", "kubernetes", "tree", "access"]


@record
class DriftRule(Traced):
    """A difference that `stockman drift` ignores. `stockman apply` still corrects it."""

    layer: DriftLayer
    """Layer of the difference: VMs, placement, Talos, Kubernetes, rendered tree or access."""
    reason: Annotated[Text, Example("bigger until the import is over")]
    """Why the difference is accepted. It is shown whenever the difference is ignored."""
    until: DateText
    """Last day on which the difference is ignored. From the next day on it is reported again."""
    subject: Annotated[Text, Example("work-1")] = "*"
    """Node, object, file or account with the difference; `*` matches any text."""
    field: Annotated[Text, Example("memory")] = "*"
    """Field with the difference; `*` matches any text."""

    @property
    def last_day(self) -> date:
        return date.fromisoformat(self.until)


@record
class DriftSettings(Traced):
    """Differences that `stockman drift` ignores."""

    ignore: tuple[DriftRule, ...] = ()
    """Rules for differences that are accepted for a limited time."""


Strategy = Literal["pets", "cattle"]


@record
class Window(Traced):
    """A time span in which upgrades and restarts of machines may start."""

    start: CronText
    """When the window opens, as five cron fields."""
    duration: DurationText = "4h"
    """How long the window stays open."""
    timezone: Annotated[Text, Example("Europe/Berlin")] = "UTC"
    """Time zone of `start`."""


@record
class HealthGate(Traced):
    """A condition on Kubernetes objects that must hold before each step of an upgrade."""

    name: Name
    """Name of the gate in plans."""
    api_version: Annotated[Text, Example("v1")]
    """API version of the objects."""
    kind: Annotated[Text, Example("Node")]
    """Kind of the objects."""
    expr: Annotated[Text, Example('status.phase == "Active"')]
    """CEL expression over `object` and `status`. The upgrade continues when it is true."""
    namespace: Text | None = None
    """Namespace of the objects. None: cluster-scoped objects, or all namespaces."""
    object_name: Text | None = None
    """Name of a single object. None: all objects that `selector` matches."""
    selector: Text | None = None
    """Label selector of the objects. None: all objects of the kind."""
    timeout: DurationText = "10m"
    """How long to wait until the condition holds."""


@record
class Budgets(Traced):
    """Limits that stop an upgrade."""

    max_unavailable: Annotated[int, Between(0, 1000)] = 1
    """Maximum number of nodes that may be unavailable at the same time, for any reason."""
    max_failures: Annotated[int, Between(0, 1000)] = 0
    """Maximum number of nodes that may fail before the run stops."""
    drain_timeout: DurationText = "10m"
    """Time limit for draining a node."""
    node_timeout: DurationText = "30m"
    """Time limit for one node, from start to healthy."""


@record
class ClassUpgrade(Traced):
    """Overrides for the nodes of one class."""

    strategy: Strategy | None = None
    """Upgrade strategy. None: the cluster-wide strategy."""
    width: Annotated[int, Between(1, 100)] | None = None
    """Maximum number of nodes to upgrade in parallel. None: the cluster-wide value."""


@record
class Upgrade(Traced):
    """How Talos and Kubernetes are upgraded."""

    engine: Literal["stockman", "tuppr"] = "stockman"
    """What performs upgrades: stockman itself, or the tuppr controller in the cluster."""
    strategy: Strategy = "pets"
    """pets: upgrade nodes in place. cattle: replace the VM of each node. Controllers are always
    upgraded one at a time."""
    width: Annotated[int, Between(1, 100)] = 1
    """Maximum number of workers to upgrade in parallel."""
    domains: Literal["host", "region", "none"] = "host"
    """Failure domain. Two nodes of the same domain are never upgraded at the same time."""
    canary: tuple[NodeNameText, ...] = ()
    """Nodes that are upgraded first, one at a time."""
    soak: DurationText = "10m"
    """How long canaries must stay healthy before the other nodes follow."""
    windows: tuple[Window, ...] = ()
    """Maintenance windows for upgrades, and for restarts that a change requires. Empty: any
    time."""
    gates: tuple[HealthGate, ...] = ()
    """Conditions in addition to those that stockman always checks."""
    budgets: Budgets = Budgets()
    """Limits that stop an upgrade."""
    classes: dict[str, ClassUpgrade] = field(default_factory=dict)
    """Overrides by node class."""
