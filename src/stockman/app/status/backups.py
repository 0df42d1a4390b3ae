"""List the snapshots of backup targets: buckets and local directories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.assessment.status.observed import ObservedBackup
from stockman.model.errors import NotFound, StockmanError
from stockman.model.policies import BackupTarget
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.objects import ObjectStore
from stockman.ports.system import Clock

if TYPE_CHECKING:
    from stockman.s3.location import S3Location

_SNAPSHOT = ".snap"
_KEY = "AWS_ACCESS_KEY_ID"
_SECRET = "AWS_SECRET_ACCESS_KEY"
_SECONDS = 10.0
"""Timeout of a bucket request."""


@record
class Snapshot:
    """One snapshot at a target."""

    key: str
    size: int
    modified: datetime


@record
class BackupStore:
    """A target that can be listed."""

    target: str
    where: str
    list_snapshots: Callable[[], Awaitable[Iterable[Snapshot]]]
    """Raises `StockmanError` or `OSError` if listing fails."""
    is_directory: bool = False


async def observe_backups(stores: Iterable[BackupStore]) -> tuple[ObservedBackup, ...]:
    """List all targets at once; a failure is part of the result."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_observe_target(store)) for store in stores]
    return tuple(task.result() for task in tasks)


async def _observe_target(store: BackupStore) -> ObservedBackup:
    observed = ObservedBackup(
        target=store.target, where=store.where, is_directory=store.is_directory
    )
    try:
        snapshots = [
            snapshot
            for snapshot in await store.list_snapshots()
            if _SNAPSHOT in snapshot.key.rpartition("/")[2]
        ]
    except StockmanError as error:
        why = f"{error.problem.what}: {error.problem.why}"
        return replace(observed, why=why)
    except OSError as error:
        return replace(observed, why=f"the system says: {error.strerror or type(error).__name__}")
    newest = max(snapshots, key=lambda snapshot: snapshot.modified, default=None)
    return replace(
        observed,
        count=len(snapshots),
        newest=newest.modified if newest is not None else None,
        size=newest.size if newest is not None else 0,
    )


def bucket_target(target: str, where: str, objects: ObjectStore) -> BackupStore:
    """Return the target of a bucket, or of a prefix in it."""

    async def listed() -> Iterable[Snapshot]:
        return [
            Snapshot(key=stored.key, size=stored.size, modified=stored.modified)
            for stored in await objects.list_objects()
        ]

    return BackupStore(target=target, where=where, list_snapshots=listed)


def directory_target(target: str, directory: Path) -> BackupStore:
    """Return the target of a local directory."""

    async def listed() -> Iterable[Snapshot]:
        return await asyncio.to_thread(_files, directory)

    return BackupStore(
        target=target, where=str(directory), list_snapshots=listed, is_directory=True
    )


def _files(directory: Path) -> list[Snapshot]:
    directory.stat()
    files = []
    for path in directory.rglob(f"*{_SNAPSHOT}*"):
        facts = path.stat()
        modified = datetime.fromtimestamp(facts.st_mtime, UTC)
        files.append(Snapshot(key=path.name, size=facts.st_size, modified=modified))
    return files


def unreachable_target(target: str, where: str, error: StockmanError) -> BackupStore:
    """Return a target that cannot be opened."""

    async def listed() -> Iterable[Snapshot]:
        raise error

    return BackupStore(target=target, where=where, list_snapshots=listed)


@asynccontextmanager
async def open_backup_target(
    target: BackupTarget, cluster: str, context: BackupContext
) -> AsyncIterator[BackupStore]:
    """Open a target of the configuration with its secrets resolved."""
    if target.bucket is None:
        yield directory_target(target.name, context.directory / (target.directory or "."))
        return

    from stockman.adapters.s3 import S3Objects
    from stockman.s3.credentials import S3Credentials

    bucket = _s3_place(target, cluster)
    try:
        credentials = S3Credentials(
            access_key=context.credential(target.access_key, _KEY),
            secret_key=context.credential(target.secret_key, _SECRET),
        )
        client = S3Objects(bucket, credentials, context.clock.now, seconds=_SECONDS)
    except StockmanError as error:
        yield unreachable_target(target.name, bucket.shown(""), error)
        return
    async with client as objects:
        yield bucket_target(target.name, bucket.shown(""), objects)


def _s3_place(target: BackupTarget, cluster: str) -> S3Location:
    from stockman.s3.location import S3Location

    return S3Location(
        bucket=target.bucket or "",
        endpoint=target.endpoint,
        region=target.region,
        prefix=target.prefix.strip("/") or cluster,
        path_style=target.path_style,
    )


@record
class BackupContext:
    """What opening a target needs."""

    directory: Path
    environment: Mapping[str, str]
    clock: Clock

    def credential(self, secret: Secret | None, variable: str) -> Secret:
        """Return a credential from the configuration or the environment."""
        if secret is not None:
            return secret
        if not self.environment.get(variable):
            raise NotFound(_no_credential(variable))
        return Secret(self.environment[variable], resolved=True)


def _no_credential(variable: str) -> Problem:
    return Problem(
        code="status.backup-credentials",
        what="there are no credentials for a backup target",
        where="backup.targets",
        why=f"the configuration gives none, and {variable} is not set",
        fix=f"give `access_key` and `secret_key` of the target, or set {variable}",
    )
