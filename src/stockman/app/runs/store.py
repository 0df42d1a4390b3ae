"""The store of runs and the lock, as configured by `lock.home`."""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from getpass import getuser
from pathlib import Path

from stockman.app.workspace.validation import load_desired
from stockman.engine.lifecycle import RunHome
from stockman.engine.local_lock import LocalLock, LockProcess, process_start_time
from stockman.engine.local_runs import LocalRunStore
from stockman.engine.problems import lock_unreadable
from stockman.model.errors import Refused
from stockman.model.policies import Lock
from stockman.model.secret import Secret
from stockman.ports.system import Timekeeper

RUNS = ".stockman/runs"
_LOCAL = "local"
_KEY = "AWS_ACCESS_KEY_ID"
_SECRET = "AWS_SECRET_ACCESS_KEY"


@asynccontextmanager
async def open_run_store(
    directory: Path, environment: Mapping[str, str], clock: Timekeeper
) -> AsyncIterator[RunHome]:
    """Open the run store and lock of a directory's cluster."""
    desired = load_desired(directory)
    if desired.lock.home == _LOCAL:
        yield local_run_store(directory, clock)
        return

    from stockman.adapters.s3 import S3Objects
    from stockman.engine.object_lock import ObjectLock
    from stockman.engine.object_runs import ObjectRunStore
    from stockman.s3.credentials import S3Credentials
    from stockman.s3.location import S3Location

    lock = _with_secrets(desired.lock, directory, environment)
    bucket, _, prefix = lock.home.removeprefix("s3://").partition("/")
    name = desired.cluster.name if desired.cluster is not None else ""
    s3_place = S3Location(
        bucket=bucket, endpoint=lock.endpoint, region=lock.region, prefix=prefix.strip("/") or name
    )
    credentials = S3Credentials(
        access_key=_credential(lock.access_key, environment, _KEY, lock.home),
        secret_key=_credential(lock.secret_key, environment, _SECRET, lock.home),
    )
    async with S3Objects(s3_place, credentials, clock.now) as objects:
        yield RunHome(
            runs=ObjectRunStore(objects, clock),
            lock=ObjectLock(objects, clock, s3_place.shown("lock")),
        )


def local_run_store(directory: Path, clock: Timekeeper) -> RunHome:
    """Return the run store and lock inside the directory."""
    folder = directory / RUNS
    return RunHome(
        runs=LocalRunStore(folder), lock=LocalLock(folder / "lock", clock, current_process())
    )


def current_process() -> LockProcess:
    """Return the identity of this process."""
    return LockProcess(
        host=platform.node(), pid=os.getpid(), started=process_start_time(os.getpid())
    )


def current_user() -> str:
    """Return the current user and host, shown when the lock is held."""
    process = current_process()
    try:
        user = getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{process.host}, process {process.pid}"


def _with_secrets(lock: Lock, directory: Path, environment: Mapping[str, str]) -> Lock:
    from stockman.app.secrets.keyring import find_keyring
    from stockman.app.secrets.references import ReferenceContext, resolve_section

    keyring = find_keyring(directory, environment)
    context = ReferenceContext(directory=directory, keyring=keyring, environment=environment)
    resolved, problems = resolve_section(lock, context)
    for problem in problems.errors:
        raise Refused(problem)
    return resolved


def _credential(
    secret: Secret | None, environment: Mapping[str, str], name: str, home: str
) -> Secret:
    if secret is not None:
        return secret
    if not environment.get(name):
        why = f"the configuration gives no key for it, and {name} is not set"
        raise Refused(lock_unreadable(home, why))
    return Secret(environment[name], resolved=True)
