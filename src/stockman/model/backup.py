"""Etcd backups: where they go, how often, how long they stay, who can open them."""

from __future__ import annotations

from typing import Annotated, Literal

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.shapes import (
    HTTP_URL,
    LOCK_HOME,
    AgeRecipient,
    Between,
    CronText,
    Example,
    Name,
)


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
    recipients: tuple[AgeRecipient, ...] = ()
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
