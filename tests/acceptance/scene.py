"""A cluster-to-be: files in a directory, a world in memory, and lives of the product between."""

from __future__ import annotations

import pickle
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from stockman_lab.core.dice import Dice as LabDice
from stockman_lab.images.blobs import Blobs
from stockman_lab.pve.access.accounts import TokenChange, create_token
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.servers.images_port import FACTORY_URL
from stockman_lab.servers.port import SELDOM
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.state import WorldState
from stockman_lab.world.world import World

from stockman.adapters.git.repository import LocalGitRepository
from stockman.app.runs.apply import ApplyOptions, execute_plan, plan_and_execute
from stockman.app.runs.plans import Planner, PlanOptions
from stockman.app.runs.session import Session
from stockman.app.runs.workspace import RunWorkspace
from stockman.crypto.certificates import (
    CertificateRequest,
    Purpose,
    ValidityPeriod,
    issue_certificate,
)
from stockman.crypto.pem import CertificateAndKey
from stockman.engine.context import StopRequest
from stockman.engine.etcd_records import EtcdRecords
from stockman.engine.executor import RunOutcome
from stockman.engine.journal import Watcher, open_journal
from stockman.engine.lifecycle import RunHome, RunOptions, resume_run
from stockman.engine.state import RunResult, RunState, fold_entries
from stockman.kubernetes.client import KubernetesClient
from stockman.model.errors import Denied, NotFound, StockmanError
from stockman.model.problem import Problem
from stockman.model.proxmox import OWN_TOKEN
from stockman.planning.planned import Planned
from stockman.proxmox.client import ProxmoxClient
from stockman.steps.access.admin import admin_client_name
from stockman.steps.plan import Plan, parse_plan
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.talos.api.client import TalosClient
from stockman.talos.image_api.client import ImageApi
from tests.acceptance.doors import (
    CountedRepo,
    CountedSecrets,
    CountedTree,
    Kept,
    KeptLock,
    KeptRuns,
)
from tests.acceptance.files import NETWORK, NOW, URL, Files, place, prepare
from tests.acceptance.loop import LoopClock, in_world
from tests.acceptance.process import Killed, Process
from tests.acceptance.remembered import RememberedWorkspace
from tests.acceptance.wires import ImagesWire, KubernetesWire, ProxmoxWire, TalosWire
from tests.engine.simulated import Dice
from tests.planning.outside import FactoryOutside

ADMIN_TOKEN = "lab"
PUSHING = PlanOptions(push=True)


@dataclass(frozen=True)
class Versions:
    """What is tried together."""

    talos: str = "1.13.9"
    pve: str = "9.1"


@cache
def _first_world(preset: str, pve: str) -> bytes:
    world = preset_world(PresetOptions(preset=preset, network=NETWORK, profile=pve, now=NOW))
    for cluster in world.clusters.values():
        change = TokenChange(privsep=False)
        access = cluster.state.access
        create_token(access, Caller(ROOT, ADMIN_TOKEN), change, world.state.dice.random_bytes)
    return world_file(world.state)


@dataclass
class Life:
    """What one process of the product came to."""

    process: Process
    planned: Planned | None = None
    outcome: RunOutcome | None = None
    refused: tuple[Problem, ...] = ()
    """Why nothing was begun at all."""

    @property
    def was_killed(self) -> bool:
        return self.process.is_dead

    @property
    def is_done(self) -> bool:
        return self.outcome is not None and self.outcome.result is RunResult.DONE

    @property
    def why(self) -> list[str]:
        """Codes of what went wrong."""
        told = self.outcome.problems if self.outcome is not None else ()
        return [one.code for one in (*self.refused, *told)]


@dataclass
class Scene:
    """Files, a world, and what runs left behind."""

    files: Files
    world: World
    kept: Kept = field(default_factory=Kept)
    environment: Mapping[str, str] = field(default_factory=dict)
    lives: int = 0
    administrator: bool = True
    processes: list[Process] = field(default_factory=list)
    allowed: Counter[str] = field(default_factory=Counter)
    """What may be done again, as somebody destroyed it meanwhile."""
    spoofed: Mapping[str, str] = field(default_factory=dict)
    """Addresses of nodes that other machines have taken, with those of these machines."""

    @classmethod
    def made(cls, root: Path, versions: Versions = Versions(), preset: str = "three-node") -> Scene:  # noqa: B008  # never changes
        """Before the first run."""
        files = prepare(versions.talos, preset).copy(root)
        return cls(files, _world(read_world(_first_world(preset, versions.pve))))

    def __post_init__(self) -> None:
        self.world.state.repositories[URL] = str(self.files.bare)

    def snapshot(self, files: Files | None = None) -> Snapshot:
        """Everything as it is now; `files` are a copy of ours where nothing changed since."""
        state = self.world.state
        bare = replace(state, blobs=Blobs(holders=state.blobs.holders))
        return Snapshot(
            world=zlib.compress(pickle.dumps(bare, pickle.HIGHEST_PROTOCOL), 1),
            blobs=dict(state.blobs.contents),
            kept=self.kept.copy(),
            files=files or self.files.copy(fresh()),
            lives=self.lives,
        )

    def session(self, process: Process) -> Session:
        """Everything that one process of the product has at hand."""
        workspace, ports, home = self.open_workspace(process)
        planner = Planner(workspace, records=EtcdRecords(home.runs, ports.clock, home.signer))
        return Session(workspace=workspace, planner=planner, ports=ports, home=home)

    def open_workspace(self, process: Process) -> tuple[RunWorkspace, Ports, RunHome]:
        """The files, doors and runs of one process; who only goes on with a run plans nothing."""
        clock = LoopClock(self.world)
        self.lives += 1
        self.processes.append(process)
        entropy = Dice(f"life {self.lives}")
        workspace = RememberedWorkspace(self.files.directory, self.environment, clock, entropy)
        ports = Ports(
            clock=clock,
            entropy=entropy,
            proxmox=self._proxmox(workspace, process),
            talos=TalosClient(TalosWire(self.world, process, self.spoofed)),
            kubernetes=self._kubernetes(workspace, process),
            images=ImageApi(ImagesWire(self.world, process), FACTORY_URL),
            repo=CountedRepo(LocalGitRepository(self.files.directory), process),
            secrets=CountedSecrets(workspace.secrets(), process),
            tree=CountedTree(workspace.tree, process),
        )
        home = RunHome(
            runs=KeptRuns(self.kept, process),
            lock=KeptLock(self.kept, process),
            signer=workspace.signer,
        )
        return workspace, ports, home

    def _proxmox(self, workspace: RunWorkspace, process: Process) -> dict[str, ProxmoxClient]:
        cluster = workspace.desired.proxmox[0]
        region, clock = str(cluster.region), LoopClock(self.world)
        token_id = cluster.token_id or OWN_TOKEN
        kept = SecretRef(place=f"token:{region}/{token_id}")

        known: list[str] = []

        def own() -> str:
            """Read until it is there, and then never again, as the real door does it."""
            if not known:
                try:
                    secret = workspace.secret_locations.read_now(kept).reveal()
                except NotFound as error:
                    raise Denied(replace_code(error.problem)) from None
                known.append(f"PVEAPIToken={token_id}={secret}")
            return known[0]

        doors = {region: ProxmoxClient(ProxmoxWire(self.world, process, own), clock, SELDOM)}
        if self.administrator:
            secret = self.admin_secret
            shown = f"PVEAPIToken={ROOT}!{ADMIN_TOKEN}={secret}"
            wire = ProxmoxWire(self.world, process, lambda: shown, "proxmox-admin")
            doors[admin_client_name(region)] = ProxmoxClient(wire, clock, SELDOM)
        return doors

    def _kubernetes(self, workspace: RunWorkspace, process: Process) -> KubernetesClient:
        assert workspace.cluster is not None
        address = str(workspace.cluster.kubernetes.api_addr)
        wire = KubernetesWire(self.world, process, address, _shown(workspace.bundle.certs.k8s))
        return KubernetesClient(wire, LoopClock(self.world))

    @property
    def admin_secret(self) -> str:
        cluster = next(iter(self.world.clusters.values()))
        return cluster.state.access.users[ROOT].tokens[ADMIN_TOKEN].secret

    # -- lives ----------------------------------------------------------------------------------

    def plan(self, wish: PlanOptions = PUSHING, process: Process | None = None) -> Planned:
        """What a plan would be."""
        session = self.session(process or Process())
        return in_world(self.world, session.plan(wish))

    def apply(
        self,
        process: Process | None = None,
        wish: PlanOptions = PUSHING,
        watchers: tuple[Watcher, ...] = (),
        stop: StopRequest | None = None,
    ) -> Life:
        """Plan, and carry it out, as `stockman apply` does; the process may die on the way."""
        life = Life(process or Process())

        async def work() -> None:
            session = self.session(life.process)
            manner = ApplyOptions(by="test", stop=stop or StopRequest(), watchers=watchers)

            async def carry_out_plan(planned: Planned) -> None:
                life.planned, life.refused = planned, tuple(planned.problems.errors)
                if not life.refused:
                    agreed = frozenset(planned.plan.destroyed_guests)
                    how = replace(manner, allow_destroy=agreed)
                    life.outcome = await execute_plan(session, planned.plan, how)

            await plan_and_execute(session, wish, carry_out_plan)

        self._live(life, work)
        return life

    def resume(
        self,
        process: Process | None = None,
        watchers: tuple[Watcher, ...] = (),
        stop: StopRequest | None = None,
    ) -> Life:
        """Go on with the last run, as `stockman runs resume` does."""
        life = Life(process or Process())

        async def work() -> None:
            _, ports, home = self.open_workspace(life.process)
            way = RunOptions(by="test", stop=stop or StopRequest(), watchers=watchers)
            run = max(self.kept.plans)
            life.outcome = await resume_run(home, run, ports, way)

        self._live(life, work)
        return life

    def _live(self, life: Life, work: Callable[[], Coroutine[object, object, None]]) -> None:
        try:
            in_world(self.world, work())
        except Killed:
            pass
        except StockmanError as error:
            life.refused = (error.problem,)
        except BaseExceptionGroup as several:
            if not life.process.is_dead:
                raise
            del several

    @property
    def last_plan(self) -> Plan:
        """What the last run is about to do."""
        run = max(self.kept.plans)
        return parse_plan(self.kept.plans[run], run)

    def state(self) -> RunState:
        """Where the last run stands."""
        run = max(self.kept.plans)

        async def read() -> RunState:
            lines = await KeptRuns(self.kept, Process()).lines(run)
            return fold_entries(run, (await open_journal(lines, LoopClock(self.world))).entries)

        return in_world(self.world, read())


@cache
def _shown(authority: CertificateAndKey) -> str:
    """The certificate that an administrator shows to the API, made once for each authority."""
    leaf = CertificateRequest(
        period=ValidityPeriod.lasting(datetime.fromtimestamp(NOW, UTC), timedelta(days=365)),
        purposes=(Purpose.CLIENT,),
        organizations=("system:masters",),
        common_name="admin",
    )
    return issue_certificate(authority, leaf, LabDice(5).random_bytes).crt


def replace_code(problem: Problem) -> Problem:
    return replace(problem, code="proxmox.no-token")


@dataclass(frozen=True)
class Snapshot:
    """What whoever comes after a process finds: a world, files, journals."""

    world: bytes
    blobs: dict[str, bytes]
    kept: Kept
    files: Files
    lives: int

    def scene(self, root: Path) -> Scene:
        """A scene that goes on from there."""
        state = pickle.loads(zlib.decompress(self.world))  # noqa: S301  # our own
        state.blobs.contents = dict(self.blobs)
        files = self.files.copy(root)
        return Scene(files, _world(state), self.kept.copy(), lives=self.lives)


def fresh() -> Path:
    return Path(tempfile.mkdtemp(dir=place()))


def _world(state: WorldState) -> World:
    outside = FactoryOutside()
    world = World(state, outside)
    outside.world = world
    return world


WORKER = """
  - name: talos-tank
    address: 127.68.0.31
    controller: false
    class: controller
    mac_addr: "bc:24:11:03:00:19"
    vm: {vmid: 1033, host: neo}
"""
CONTROLLER = """
  - name: talos-dozer
    address: 127.68.0.32
    controller: true
    mac_addr: "bc:24:11:03:00:20"
    vm: {vmid: 1034, host: niobe}
"""
"""Nodes that are added to those of the preset."""
