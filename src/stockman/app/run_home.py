"""Where the runs and the lock of a cluster are, as `lock.home` in the configuration says."""

from __future__ import annotations

import os
import platform
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from getpass import getuser
from pathlib import Path

from stockman.app.show import desired
from stockman.engine.carrying_out import Home
from stockman.engine.local_lock import LocalLock, Machine, started
from stockman.engine.local_runs import LocalRuns
from stockman.engine.problems import lock_unreadable
from stockman.model.backup import Lock
from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.ports.clock import Timekeeper

RUNS = ".stockman/runs"
_LOCAL = "local"
_KEY = "AWS_ACCESS_KEY_ID"
_SECRET = "AWS_SECRET_ACCESS_KEY"


@asynccontextmanager
async def opened_home(
    directory: Path, environment: Mapping[str, str], clock: Timekeeper
) -> AsyncIterator[Home]:
    """The runs and the lock of the cluster that a directory describes."""
    wanted = desired(directory)
    if wanted.lock.home == _LOCAL:
        yield local_home(directory, clock)
        return

    from stockman.adapters.s3_objects.door import S3Objects
    from stockman.engine.object_lock import ObjectLock
    from stockman.engine.object_runs import ObjectRuns
    from stockman.s3.credentials import S3Credentials
    from stockman.s3.places import S3Place

    lock = _with_secrets(wanted.lock, directory, environment)
    bucket, _, prefix = lock.home.removeprefix("s3://").partition("/")
    name = wanted.cluster.name if wanted.cluster is not None else ""
    place = S3Place(
        bucket=bucket, endpoint=lock.endpoint, region=lock.region, prefix=prefix.strip("/") or name
    )
    credentials = S3Credentials(
        access_key=_given(lock.access_key, environment, _KEY, lock.home),
        secret_key=_given(lock.secret_key, environment, _SECRET, lock.home),
    )
    async with S3Objects(place, credentials, clock.now) as objects:
        yield Home(
            runs=ObjectRuns(objects, clock), lock=ObjectLock(objects, clock, place.shown("lock"))
        )


def local_home(directory: Path, clock: Timekeeper) -> Home:
    """Runs and lock in the directory itself."""
    folder = directory / RUNS
    return Home(runs=LocalRuns(folder), lock=LocalLock(folder / "lock", clock, this_process()))


def this_process() -> Machine:
    """The process that we are."""
    return Machine(host=platform.node(), pid=os.getpid(), started=started(os.getpid()))


def who() -> str:
    """Who runs this, for people who find the lock taken."""
    here = this_process()
    try:
        user = getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{here.host}, process {here.pid}"


def _with_secrets(lock: Lock, directory: Path, environment: Mapping[str, str]) -> Lock:
    from stockman.app.keyring import find_keyring
    from stockman.app.secret_resolving import Surroundings, resolved_part

    keyring = find_keyring(directory, environment)
    around = Surroundings(directory=directory, keyring=keyring, environment=environment)
    found, problems = resolved_part(lock, around)
    for problem in problems.errors:
        raise Refused(problem)
    return found


def _given(secret: Secret | None, environment: Mapping[str, str], name: str, home: str) -> Secret:
    if secret is not None:
        return secret
    if not environment.get(name):
        why = f"the configuration gives no key for it, and {name} is not set"
        raise Refused(lock_unreadable(home, why))
    return Secret(environment[name], resolved=True)
