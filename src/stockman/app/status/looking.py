"""One look at everything that status is judged from; nothing is changed."""

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

from stockman.app.certificate_list import certificate_list
from stockman.app.certificate_records import CertificateList
from stockman.app.session import Place, opened_session
from stockman.app.status.backup_looking import (
    BackupAround,
    BackupPlace,
    look_at_backups,
    opened_place,
    unknown_place,
)
from stockman.app.status.finding import Check
from stockman.app.status.run_looking import look_at_lease, look_at_runs
from stockman.app.status.seen import RepositorySeen, Seen
from stockman.app.status.status import ALL, Status, judged
from stockman.app.workspace_plan import Workspace
from stockman.catalog.registry import names
from stockman.catalog.selection import enabled
from stockman.engine.carrying_out import Home
from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.record import record
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.observed import Observed
from stockman.planning.observed_talos import ObservedTalos
from stockman.ports.clock import Timekeeper
from stockman.ports.repo import Repo
from stockman.ports.talos import Talos
from stockman.ports.talos.etcd import EtcdAlarm
from stockman.steps.ports import Ports

_PROXMOX = frozenset({Check.PROXMOX, Check.VMS})
_TALOS = frozenset({Check.TALOS, Check.ETCD})
_KUBERNETES = frozenset({Check.KUBERNETES, Check.FLUX, Check.COMPONENTS})


@record
class Sources:
    """Where a look gets what it sees."""

    desired: Desired
    ports: Ports
    home: Home
    observe: Callable[[Ports], Coroutine[object, object, Observed]]
    certificates: Callable[[], CertificateList]
    wish: KubernetesWish | None = None
    places: tuple[BackupPlace, ...] = ()


class Looker:
    """Looks at one cluster, again and again."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        on = enabled(sources.desired) if sources.desired.cluster is not None else {}
        self._components = {name: name in on for name in names()}

    @property
    def clock(self) -> Timekeeper:
        return self._sources.ports.clock

    @property
    def home(self) -> Home:
        return self._sources.home

    async def status(self, checks: Collection[Check] = ALL) -> Status:
        """Look, and judge."""
        return judged(await self.look(checks), checks)

    async def look(self, checks: Collection[Check] = ALL) -> Seen:
        """Ask as few systems as the checks need, all at once."""
        wanted, sources = frozenset(checks), self._sources
        ports = sources.ports
        async with asyncio.TaskGroup() as group:
            observed = group.create_task(sources.observe(_needed(ports, wanted)))
            runs = group.create_task(look_at_runs(sources.home, ports.clock))
            asked = ports.kubernetes if Check.RUNS in wanted else None
            lease = group.create_task(look_at_lease(asked, ports.clock))
            backups = group.create_task(
                look_at_backups(sources.places if Check.BACKUPS in wanted else ())
            )
            repository = group.create_task(
                look_at_repository(ports.repo if Check.FLUX in wanted else None)
            )
        seen = observed.result()
        return Seen(
            at=ports.clock.now(),
            desired=sources.desired,
            observed=seen,
            wish=sources.wish,
            alarms=await _alarms(ports.talos, seen.talos),
            repository=repository.result(),
            certificates=sources.certificates() if Check.CERTIFICATES in wanted else None,
            backups=backups.result(),
            runs=replace(runs.result(), lease=lease.result()),
            components=self._components,
        )


def _needed(ports: Ports, wanted: frozenset[Check]) -> Ports:
    """Only the doors that the checks need."""
    return replace(
        ports,
        proxmox=ports.proxmox if wanted & _PROXMOX else {},
        talos=ports.talos if wanted & _TALOS else None,
        kubernetes=ports.kubernetes if wanted & _KUBERNETES else None,
    )


async def look_at_repository(repo: Repo | None) -> RepositorySeen | None:
    """Where the work tree and its remote stand. None: nobody looks."""
    if repo is None:
        return None
    try:
        state = await repo.state()
    except StockmanError as no:
        return RepositorySeen(why=f"{no.problem.what}: {no.problem.why}")
    found = RepositorySeen(branch=state.branch or "", local=state.commit or "")
    try:
        return replace(found, pushed=await repo.fetch() or "")
    except StockmanError as no:
        return replace(found, why=f"{no.problem.what}: {no.problem.why}")


async def _alarms(talos: Talos | None, seen: ObservedTalos | None) -> tuple[EtcdAlarm, ...] | None:
    """Alarms of all members, as the first that answers has them."""
    if talos is None or seen is None:
        return None
    for answer in seen.etcd.answers:
        machine = seen.machine(answer.node)
        if answer.status is None or machine is None:
            continue
        try:
            return await talos.etcd_alarms(machine.address)
        except StockmanError:
            continue
    return None


@asynccontextmanager
async def opened_looker(place: Place) -> AsyncIterator[Looker]:
    """Somebody who looks at the cluster of a directory, with every door open."""
    async with opened_session(place, only_looks=True) as session, AsyncExitStack() as stack:
        places = [
            await stack.enter_async_context(one) for one in _targets(session.workspace, place)
        ]
        workspace = session.workspace

        def certificates() -> CertificateList:
            return certificate_list(
                workspace.directory,
                workspace.around.keyring,
                workspace.environment,
                place.clock.now(),
            )

        yield Looker(
            Sources(
                desired=workspace.desired,
                ports=session.ports,
                home=session.home,
                observe=session.planner.observe,
                certificates=certificates,
                wish=session.planner.wish,
                places=tuple(places),
            )
        )


def _targets(
    workspace: Workspace, place: Place
) -> Iterator[AbstractAsyncContextManager[BackupPlace]]:
    around = BackupAround(
        directory=place.directory, environment=place.environment, clock=place.clock
    )
    name = workspace.cluster.name if workspace.cluster is not None else ""
    for target in workspace.desired.backup.targets if workspace.desired.backup.enabled else ():
        try:
            yield opened_place(workspace.resolved(target), name, around)
        except StockmanError as no:
            yield nullcontext(unknown_place(target.name, target.name, no))
