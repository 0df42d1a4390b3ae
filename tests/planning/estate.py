"""A world of a preset with the product in front of it: observed, planned, and carried out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from ipaddress import IPv4Network

from stockman_lab.pve.access.identity import Caller
from stockman_lab.servers.images_port import memory_images
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.servers.port import SELDOM, WorldClock, WorldWire
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.world import World

from stockman.config.load import load
from stockman.config.presets import Answers, render_preset
from stockman.config.resolve import resolve
from stockman.engine.observe.proxmox import observe_proxmox
from stockman.model.desired import Desired
from stockman.model.errors import Denied, NotFound
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret
from stockman.planning.change import ProxmoxChange, lane_widths, unique_steps
from stockman.planning.desired import ProxmoxOptions
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.planning.stages.proxmox import plan_proxmox_changes, proxmox_query
from stockman.ports.system import Timekeeper
from stockman.proxmox.access import Privileges
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.transport import Reply, Request, Transport
from stockman.steps.access.admin import admin_client_name
from stockman.steps.base import Action, GateAnswer
from stockman.steps.plan import Plan, build_plan
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.step import Step
from stockman.talos.schematic import ImageSchematic, canonical_text
from tests.planning.outside import FactoryOutside

NETWORK = IPv4Network("127.66.0.0/16")
FINGERPRINT = "0f1e2d3c4b5a6978"
NO_HA = r"      ha:\n(        \S.*\n)+"
"""What is taken out of the preset so that stockman alone moves and starts machines."""


class Killed(BaseException):
    """The product is gone at this point."""


@dataclass
class Trigger:
    """Kills at one call; counts down over all doors."""

    left: int = -1
    """Calls until then; negative: never."""
    after: bool = False
    """Whether the call itself still comes through."""
    log: list[str] = field(default_factory=list)

    def strike(self) -> None:
        self.left = -1
        raise Killed


class DeadlyWire:
    """A wire on which the product may die."""

    def __init__(self, inner: Transport, trigger: Trigger, name: str) -> None:
        self._inner = inner
        self._trigger = trigger
        self._name = name

    async def call(self, request: Request) -> Reply:
        trigger = self._trigger
        trigger.log.append(f"{self._name} {request.shown}")
        is_last = trigger.left == 1
        if trigger.left > 0:
            trigger.left -= 1
        if is_last and not trigger.after:
            trigger.strike()
        reply = await self._inner.call(request)
        if is_last:
            trigger.strike()
        return reply


class KeptSecrets:
    """`steps.secret_ref.Secrets` in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def read(self, ref: SecretRef) -> Secret:
        if ref.place not in self.kept:
            raise NotFound(Problem(code="test", what="nothing is kept there", why="", fix=""))
        return Secret(self.kept[ref.place], resolved=True)

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        self.kept[ref.place] = secret.reveal()


class WorldTrial:
    """`steps.access_trial.TokenTrial`: a door with the token, which the world knows or not."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def privileges(
        self, cluster: str, token: str, secret: Secret, paths: Iterable[str]
    ) -> Privileges:
        user, _, name = token.partition("!")
        first = next(iter(self._world.clusters))
        access = self._world.clusters[first].state.access
        if access.users[user].tokens[name].secret != secret.reveal():
            raise Denied(Problem(code="test", what="no", why="the secret is another", fix=""))
        pve = ProxmoxClient(
            WorldWire(MemoryClient(self._world, first, caller=Caller(user, name))),
            WorldClock(self._world),
        )
        return {path: (await pve.permissions(path)).get(path, frozenset()) for path in paths}


class Dice:
    def random_bytes(self, count: int) -> bytes:
        return bytes(count)


@dataclass
class Outcome:
    """A plan and what was found on the way to it."""

    changes: tuple[ProxmoxChange, ...]
    plan: Plan
    problems: Problems
    observed: dict[str, ObservedProxmox]

    @property
    def codes(self) -> list[str]:
        return [problem.code for problem in self.problems]


class Estate:
    """Files, the world that they are about, and doors to it."""

    def __init__(self, preset: str, pve: str = "9.1") -> None:
        self.outside = FactoryOutside()
        self.world = World(read_world(_world(preset, pve)), self.outside)
        self.outside.world = self.world
        self.texts = dict(preset_texts(preset))
        self.trigger = Trigger()
        self.secrets = KeptSecrets()
        self.fingerprint = FINGERPRINT
        """Of the secrets of the cluster."""
        self.clock: Timekeeper = WorldClock(self.world)
        """Of all doors."""
        self.token: Caller | None = None
        """The token of stockman itself. None: the one that the files name."""

    def edit(self, file: str, old: str, new: str) -> None:
        """Change the files as a user does."""
        text, count = re.subn(old, new, self.texts[file], flags=re.MULTILINE)
        if count == 0:
            raise ValueError(f"{old!r} is not in {file}")
        self.texts[file] = text

    @property
    def desired(self) -> Desired:
        return replace(_desired(tuple(self.texts.items())), fingerprint=self.fingerprint)

    @property
    def region(self) -> str:
        return str(self.desired.proxmox[0].region)

    @property
    def pve(self) -> MemoryClient:
        """Root, for looking at the world and meddling with it."""
        return MemoryClient(self.world, next(iter(self.world.clusters)))

    def ports(self, *, administrator: bool = True) -> Ports:
        """Doors; the one of stockman itself has no more rights than its token."""
        first = next(iter(self.world.clusters))
        clients: dict[str, ProxmoxClient] = {}
        for proxmox in self.desired.proxmox:
            region = str(proxmox.region)
            cluster = region if region in self.world.clusters else first
            user, _, token = (proxmox.token_id or "").partition("!")
            clients[region] = self._door(cluster, self.token or Caller(user, token))
            if administrator:
                clients[admin_client_name(region)] = self._door(cluster, None)
        return Ports(
            clock=self.clock,
            entropy=Dice(),
            proxmox=clients,
            images=memory_images(self.world),
            secrets=self.secrets,
            trial=WorldTrial(self.world),
        )

    def _door(self, cluster: str, caller: Caller | None) -> ProxmoxClient:
        wire = WorldWire(MemoryClient(self.world, cluster, caller=caller))
        name = caller.authid if caller is not None else "root@pam"
        return ProxmoxClient(DeadlyWire(wire, self.trigger, name), self.clock, SELDOM)

    async def observe(self, *, administrator: bool = True) -> ObservedProxmox:
        """The first region."""
        return (await self.observe_all(administrator=administrator))[self.region]

    async def observe_all(self, *, administrator: bool = True) -> dict[str, ObservedProxmox]:
        ports, desired = self.ports(administrator=administrator), self.desired
        return {
            str(cluster.region): await observe_proxmox(
                str(cluster.region),
                ports.on(str(cluster.region)),
                ports.clock,
                proxmox_query(desired, cluster),
                ports.proxmox.get(admin_client_name(str(cluster.region))),
            )
            for cluster in desired.proxmox
        }

    async def plan(
        self, *, administrator: bool = True, options: ProxmoxOptions | None = None
    ) -> Outcome:
        desired, problems = self.desired, Problems()
        observed = await self.observe_all(administrator=administrator)
        proxmox_changes = plan_proxmox_changes(
            desired, observed, problems, options or ProxmoxOptions()
        )
        steps = unique_steps(proxmox_changes)
        plan = Plan(
            cluster="test",
            made_at=WorldClock(self.world).now(),
            steps=steps,
            lanes=lane_widths(steps),
        )
        return Outcome(proxmox_changes, build_plan(plan), problems, observed)

    async def apply(
        self, *, administrator: bool = True, options: ProxmoxOptions | None = None
    ) -> Outcome:
        """Plan and do it all, one step after the other."""
        outcome = await self.plan(administrator=administrator, options=options)
        assert [problem for problem in outcome.problems if problem.is_error] == []
        ports = self.ports(administrator=administrator)
        for step in outcome.plan.steps:
            for gate in step.gates:
                verdict = await gate.check(ports)
                assert verdict.answer is GateAnswer.GO, (step.id, verdict)
            await perform(step.action, ports)
        self.world.settle()
        return outcome

    def config(self, vmid: int) -> Mapping[str, str]:
        """The keys of a guest, as they are."""
        for cluster in self.world.clusters.values():
            if vmid in cluster.state.guests:
                return cluster.state.guests[vmid].config.values
        raise KeyError(vmid)


async def died_at_every_call(estate: Estate, steps: Iterable[Step], *, after: bool | None) -> int:
    """How often the product died: once at each call of each step, until the step came through.

    Before a call or after it; None: in turn.
    """
    deaths = 0
    for step in steps:
        call, finished = 0, False
        while not finished:
            call += 1
            estate.trigger.left = call
            estate.trigger.after = call % 2 == 0 if after is None else after
            try:
                await perform(step.action, estate.ports())
            except Killed:
                deaths += 1
            else:
                finished = True
            estate.trigger.left = -1
    return deaths


async def perform(action: Action, ports: Ports) -> bool:
    """Look, act, look again; whether it had to act."""
    if await action.done(ports):
        return False
    await action.run(ports)
    assert await action.done(ports), action.summary
    return True


@cache
def preset_texts(preset: str) -> Mapping[str, str]:
    return render_preset(preset, network=NETWORK, answers=Answers())


@lru_cache(maxsize=32)
def _desired(texts: tuple[tuple[str, str], ...]) -> Desired:
    """What files say; tests ask for it again and again between changes."""
    return resolve(load({name: text.encode() for name, text in texts}))


@cache
def _world(preset: str, pve: str) -> bytes:
    world = preset_world(PresetOptions(preset=preset, network=NETWORK, profile=pve))
    _register(world, preset)
    return world_file(world.state)


def _register(world: World, preset: str) -> None:
    """Somebody told the factory of the schematics that a preset names by their id."""
    texts = {name: text.encode() for name, text in preset_texts(preset).items()}
    agent = canonical_text(ImageSchematic(extensions=("siderolabs/qemu-guest-agent",)))
    for node in resolve(load(texts)).nodes:
        if node.schematic.id is not None:
            world.factory.schematics.setdefault(str(node.schematic.id), agent)
