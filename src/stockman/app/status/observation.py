"""Observe everything that status is assessed from, once or until the cluster is healthy."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.app.client_config.certificate_list import list_certificates
from stockman.app.runs.history import RecordedRun, load_plan, load_run
from stockman.app.runs.session import SessionContext, open_session
from stockman.app.runs.workspace import RunWorkspace
from stockman.assessment.status.findings import StatusCheck
from stockman.assessment.status.observed import (
    CertificateList,
    ObservedBackup,
    ObservedLease,
    ObservedRepository,
    ObservedRun,
    ObservedRuns,
    StatusInput,
)
from stockman.assessment.status.status import ALL, Status, assess
from stockman.catalog.registry import names
from stockman.catalog.selection import active_components
from stockman.engine.holds import hold_summary
from stockman.engine.journal import open_journal
from stockman.engine.lifecycle import RunHome
from stockman.engine.state import RunState, fold_entries
from stockman.kubernetes.calls.leases import LeaseCalls
from stockman.kubernetes.leases import RUN_LEASE_NAME, RUN_LEASE_NAMESPACE
from stockman.model.desired import Desired
from stockman.model.errors import NotFound, StockmanError
from stockman.model.policies import BackupTarget
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.ports.objects import ObjectStore
from stockman.ports.repository import GitRepository
from stockman.ports.system import Clock, Timekeeper
from stockman.steps.kubernetes.nodes import Cordon
from stockman.steps.ports import Ports
from stockman.steps.repository import REPOSITORY_PATHS, files_to_commit
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import EtcdAlarm

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


_PROXMOX = frozenset({StatusCheck.PROXMOX, StatusCheck.VMS})
_TALOS = frozenset({StatusCheck.TALOS, StatusCheck.ETCD})
_KUBERNETES = frozenset({StatusCheck.KUBERNETES, StatusCheck.FLUX, StatusCheck.COMPONENTS})


@record
class StatusSources:
    """Clients and files that the observation reads."""

    desired: Desired
    ports: Ports
    home: RunHome
    observe: Callable[[Ports], Coroutine[object, object, Observed]]
    certificates: Callable[[], CertificateList]
    desired_kubernetes: DesiredKubernetes | None = None
    backup_stores: tuple[BackupStore, ...] = ()


class StatusObserver:
    """Observes one cluster repeatedly."""

    def __init__(self, sources: StatusSources) -> None:
        self._sources = sources
        on = active_components(sources.desired) if sources.desired.cluster is not None else {}
        self._components = {name: name in on for name in names()}

    @property
    def clock(self) -> Timekeeper:
        return self._sources.ports.clock

    @property
    def home(self) -> RunHome:
        return self._sources.home

    async def current_run(self) -> RecordedRun | None:
        """Return the newest run while it holds the lock. None: no run is executing."""
        try:
            holder = await self.home.lock.held_by()
            names = await self.home.runs.list_runs() if holder else ()
            if not names or names[-1] not in holder:
                return None
            return await load_run(self.home, names[-1], self.clock)
        except StockmanError:  # the part `runs` of the status reports it
            return None

    async def status(self, checks: Collection[StatusCheck] = ALL) -> Status:
        """Observe and assess."""
        return assess(await self.observe(checks), checks)

    async def observe(self, checks: Collection[StatusCheck] = ALL) -> StatusInput:
        """Query only the systems that the checks need, all at once."""
        wanted_checks, sources = frozenset(checks), self._sources
        ports = sources.ports
        async with asyncio.TaskGroup() as group:
            observed = group.create_task(sources.observe(_select_clients(ports, wanted_checks)))
            runs = group.create_task(observe_runs(sources.home, ports.clock))
            leases = ports.kubernetes if StatusCheck.RUNS in wanted_checks else None
            lease = group.create_task(observe_lease(leases, ports.clock))
            backups = group.create_task(
                observe_backups(
                    sources.backup_stores if StatusCheck.BACKUPS in wanted_checks else ()
                )
            )
            repository = group.create_task(
                observe_repository(ports.repo if StatusCheck.FLUX in wanted_checks else None)
            )
        observed_state = observed.result()
        return StatusInput(
            at=ports.clock.now(),
            desired=sources.desired,
            observed=observed_state,
            desired_kubernetes=sources.desired_kubernetes,
            alarms=await _observe_alarms(ports.talos, observed_state.talos),
            repository=repository.result(),
            certificates=sources.certificates()
            if StatusCheck.CERTIFICATES in wanted_checks
            else None,
            backups=backups.result(),
            runs=replace(runs.result(), lease=lease.result()),
            components=self._components,
        )


def _select_clients(ports: Ports, status_checks: frozenset[StatusCheck]) -> Ports:
    """Return only the clients that the checks need."""
    return replace(
        ports,
        proxmox=ports.proxmox if status_checks & _PROXMOX else {},
        talos=ports.talos if status_checks & _TALOS else None,
        kubernetes=ports.kubernetes if status_checks & _KUBERNETES else None,
    )


async def observe_repository(repo: GitRepository | None) -> ObservedRepository | None:
    """Return the state of the work tree and its remote. None: it is not read."""
    if repo is None:
        return None
    try:
        state = await repo.state()
    except StockmanError as error:
        return ObservedRepository(why=f"{error.problem.what}: {error.problem.why}")
    repository = ObservedRepository(
        branch=state.branch or "",
        local=state.commit or "",
        uncommitted=files_to_commit(state, REPOSITORY_PATHS),
    )
    try:
        return replace(repository, pushed=await repo.fetch() or "")
    except StockmanError as error:
        return replace(repository, why=f"{error.problem.what}: {error.problem.why}")


async def _observe_alarms(
    talos: TalosClient | None, observed: ObservedTalos | None
) -> tuple[EtcdAlarm, ...] | None:
    """Return the alarms of all members, from the first member that answers."""
    if talos is None or observed is None:
        return None
    for answer in observed.etcd.answers:
        machine = observed.machine(answer.node)
        if answer.status is None or machine is None:
            continue
        try:
            return await talos.etcd_alarms(machine.address)
        except StockmanError:
            continue
    return None


@asynccontextmanager
async def open_observer(context: SessionContext) -> AsyncIterator[StatusObserver]:
    """Open an observer of a directory's cluster with all clients."""
    async with open_session(context, only_looks=True) as session, AsyncExitStack() as stack:
        targets = [
            await stack.enter_async_context(backup_target)
            for backup_target in _backup_targets(session.workspace, context)
        ]
        workspace = session.workspace

        def certificates() -> CertificateList:
            return list_certificates(
                workspace.directory,
                workspace.context.keyring,
                workspace.environment,
                context.clock.now(),
            )

        yield StatusObserver(
            StatusSources(
                desired=workspace.desired,
                ports=session.ports,
                home=session.home,
                observe=session.planner.observe,
                certificates=certificates,
                desired_kubernetes=session.planner.desired_kubernetes,
                backup_stores=tuple(targets),
            )
        )


def _backup_targets(
    workspace: RunWorkspace, session_context: SessionContext
) -> Iterator[AbstractAsyncContextManager[BackupStore]]:
    context = BackupContext(
        directory=session_context.directory,
        environment=session_context.environment,
        clock=session_context.clock,
    )
    name = workspace.cluster.name if workspace.cluster is not None else ""
    for target in workspace.desired.backup.targets if workspace.desired.backup.enabled else ():
        try:
            yield open_backup_target(workspace.resolve(target), name, context)
        except StockmanError as error:
            yield nullcontext(unreachable_target(target.name, target.name, error))


POLL_SECONDS = 3.0
"""Seconds between two observations."""

StatusCallback = Callable[[Status, timedelta], None]
"""Called after every observation with the elapsed time."""


async def wait_until_healthy(
    looker: StatusObserver,
    longest: timedelta,
    on_status: StatusCallback,
    pause: float = POLL_SECONDS,
) -> Status:
    """Return the first healthy status, or the last one before the timeout."""
    clock = looker.clock
    began = clock.now()
    while True:
        status = await looker.status()
        passed = clock.now() - began
        on_status(status, passed)
        if status.healthy or passed + timedelta(seconds=pause) > longest:
            return status
        await clock.sleep(pause)


async def watch_status(
    looker: StatusObserver, pause: float = POLL_SECONDS
) -> AsyncIterator[Status]:
    """Yield the status forever."""
    while True:
        yield await looker.status()
        await looker.clock.sleep(pause)


@record
class _RecordedRun:
    state: RunState
    steps: int


async def observe_runs(home: RunHome, clock: Clock) -> ObservedRuns:
    """Return the newest run, unfinished runs, and the holder of the lock."""
    try:
        names = await home.runs.list_runs()
        runs = []
        for name in reversed(names):
            runs.append(await _read_run(home, name, clock))
            if _is_over(runs[-1].state):
                break
        lock = await home.lock.held_by()
    except StockmanError as error:
        return ObservedRuns(why=f"{error.problem.what}: {error.problem.why}")
    still = [run for run in runs if not _is_over(run.state)]
    return ObservedRuns(
        count=len(names),
        newest=_summarize_run(runs[0]) if runs else None,
        unfinished=tuple(_summarize_run(run) for run in still),
        cordoned=frozenset(name for run in still for name in _cordons(run.state)),
        lock=lock,
    )


async def observe_lease(leases: LeaseCalls | None, clock: Clock) -> ObservedLease | None:
    """Return the Lease of the cluster. None: there is no client."""
    if leases is None:
        return None
    try:
        lease = await leases.lease(RUN_LEASE_NAMESPACE, RUN_LEASE_NAME)
    except NotFound:
        return ObservedLease()
    except StockmanError as error:
        return ObservedLease(why=f"{error.problem.what}: {error.problem.why}")
    return ObservedLease(
        holder=lease.holder, renewed=lease.renewed, is_free=lease.is_free(clock.now())
    )


async def _read_run(home: RunHome, name: str, clock: Clock) -> _RecordedRun:
    journal = await open_journal(await home.runs.lines(name), clock)
    state = fold_entries(name, journal.entries)
    plan = await load_plan(home, state, clock)
    return _RecordedRun(state=state, steps=max(len(plan.steps), len(state.steps)))


def _is_over(state: RunState) -> bool:
    return state.result is not None and state.result.is_final


def _summarize_run(run: _RecordedRun) -> ObservedRun:
    state = run.state
    return ObservedRun(
        run=state.run,
        result=state.result.value if state.result is not None else "open",
        last=state.last,
        done=sum(state.is_done(name) for name in state.steps),
        steps=run.steps,
        held=tuple(hold_summary(held) for held in state.held.values()),
    )


def _cordons(state: RunState) -> list[str]:
    return [
        str(hold.hold.get("node"))
        for hold in state.held.values()
        if hold.hold.get("kind") == Cordon.kind
    ]
