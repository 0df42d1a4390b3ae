"""Observe everything that status is assessed from, once or until the cluster is healthy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import replace
from datetime import timedelta

from stockman.app.client_config.certificate_list import list_certificates
from stockman.app.runs.history import load_plan
from stockman.app.runs.session import SessionContext, open_session
from stockman.app.runs.workspace import RunWorkspace
from stockman.app.status.backups import (
    BackupContext,
    BackupStore,
    observe_backups,
    open_backup_target,
    unreachable_target,
)
from stockman.assessment.status.findings import StatusCheck
from stockman.assessment.status.observed import (
    CertificateList,
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
from stockman.model.record import record
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.observed.systems import Observed
from stockman.planning.observed.talos import ObservedTalos
from stockman.ports.repository import GitRepository
from stockman.ports.system import Clock, Timekeeper
from stockman.steps.kubernetes.nodes import Cordon
from stockman.steps.ports import Ports
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import EtcdAlarm

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
    repository = ObservedRepository(branch=state.branch or "", local=state.commit or "")
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
