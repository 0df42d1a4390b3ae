"""Machines of a preset that were just made, and everything that steps about them need."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from ipaddress import IPv4Network
from typing import TypeVar, cast

from stockman_lab.core.dice import Dice
from stockman_lab.pve.guest_power import start
from stockman_lab.servers.port import WorldClock
from stockman_lab.servers.talos_port import memory_talos
from stockman_lab.talos.machine import Machine
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staged, Staging, bring_up, stage_files
from stockman_lab.world.world import World

from stockman.config.presets import Answers, render_preset
from stockman.crypto.certificates import key_fingerprint
from stockman.engine.observe.talos import TalosQuery, observe_talos
from stockman.model.desired import Desired, Vm
from stockman.model.errors import NotFound
from stockman.model.names import Datastore
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.planning.observed.talos import ObservedTalos
from stockman.planning.talos.changes import TalosChange, plan_talos_changes
from stockman.planning.talos.desired import DesiredTalos, client_files, talos_machine
from stockman.planning.talos.refusals import find_refusals
from stockman.planning.talos.steps import talos_steps
from stockman.planning.vm.seeds import NewMachine
from stockman.ports.environment import Network
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef
from stockman.steps.step import Stage, Step
from stockman.steps.talos.configuration import MachineConfigSecrets
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.power import StartVm
from stockman.talos.api.client import TalosClient
from stockman.talos.machine.assembly import ConfigurationAssembler
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.secrets.bundle import SecretsBundle

T = TypeVar("T")
NETWORK = IPv4Network("127.67.0.0/16")
MIXED = "mixed"
"""The three nodes, one of them a controller and the others workers."""
TRINITY, NEO, NIOBE = "talos-trinity", "talos-neo", "talos-niobe"
MINORS = ("1.11.5", "1.13.9", "1.14.1")
_PATIENCE = 3600.0
WRITES = frozenset(
    {
        "apply_configuration",
        "bootstrap",
        "leave_etcd",
        "remove_etcd_member",
        "reset",
        "reboot",
    }
)


class Killed(Exception):
    """The run ends here."""


class _Shifted(WorldClock):
    """A clock that is ahead of the world."""

    def __init__(self, world: World, span: timedelta) -> None:
        super().__init__(world)
        self._span = span

    def now(self) -> datetime:
        return super().now() + self._span


class Places:
    """Files that nobody encrypts, in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, Secret] = {}

    async def read(self, ref: SecretRef) -> Secret:
        if ref.place not in self.texts:
            raise NotFound(Problem(code="secret.missing", what=ref.place, why="none", fix="none"))
        return self.texts[ref.place]

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        self.texts[ref.place] = secret


class Watched:
    """A door that notes what is asked for, and lets the run end before or after a call."""

    def __init__(self, talos: TalosClient) -> None:
        self._talos = talos
        self.made: list[str] = []
        self.dies_before = 0
        """The number of a call, from 1; 0: never."""
        self.dies_after = 0

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        method = getattr(self._talos, name)

        async def watched(*arguments: object, **options: object) -> object:
            self.made.append(name)
            number = len(self.made)
            if number == self.dies_before:
                raise Killed
            answer = await method(*arguments, **options)
            if number == self.dies_after:
                raise Killed
            return answer

        return watched

    @property
    def door(self) -> TalosClient:
        return cast("TalosClient", self)

    @property
    def writes(self) -> list[str]:
        return [one for one in self.made if one in WRITES]


@dataclass
class Scene:
    """A world with machines, and the doors to them."""

    world: World
    staged: Staged
    places: Places = field(default_factory=Places)
    desired: Desired = field(init=False)
    watched: Watched = field(init=False)
    ports: Ports = field(init=False)

    def __post_init__(self) -> None:
        self.desired = self.staged.desired
        self.again()

    @property
    def bundle(self) -> SecretsBundle:
        return self.staged.bundle

    def again(self) -> None:
        """Another run, which knows nothing of the one before."""
        self.watched = Watched(memory_talos(self.world))
        self.ports = Ports(
            clock=WorldClock(self.world),
            entropy=Dice(7),
            talos=self.watched.door,
            secrets=MachineConfigSecrets(
                self.assembly, self.desired.nodes, self.bundle, self.places
            ),
        )

    def later(self, span: timedelta) -> None:
        """Let our own clock go on by a long span; the world stays where it is."""
        self.ports = replace(self.ports, clock=_Shifted(self.world, span))

    def wants(self, desired: Desired) -> None:
        """Other files."""
        self.desired = desired
        self.again()

    @property
    def assembly(self) -> ConfigurationAssembler:
        return ConfigurationAssembler(self.desired, self.bundle, PatchSet())

    def machine(self, name: str) -> Machine:
        return self.world.talos.machine(*self.staged.machines[name])

    def fingerprint(self, name: str) -> str:
        """What the console of a machine in maintenance mode shows. Empty: it does not run."""
        api = self.machine(name).api if name in self.staged.machines else None
        return key_fingerprint(ssl.PEM_cert_to_DER_cert(api.certificate)) if api else ""

    def target(self, name: str) -> TalosMachine:
        return next(talos_machine(node) for node in self.desired.nodes if node.name == name)

    @property
    def controllers(self) -> tuple[TalosMachine, ...]:
        return tuple(talos_machine(controller) for controller in self.wish().controllers)

    def start(self, names: Iterable[str] = ()) -> None:
        """Switch VMs on, all of them where none are named, and let them boot."""
        for name in names or self.staged.machines:
            cluster, vmid = self.staged.machines[name]
            proxmox = self.world.clusters[cluster]
            start(proxmox, proxmox.state.guests[vmid])
        self.world.advance(120.0)

    def power_off(self, name: str) -> None:
        self.world.talos.power_off(self.machine(name))
        self.world.settle()

    def wish(self, **more: object) -> DesiredTalos:
        assembly = self.assembly
        texts = {str(node.name): assembly.of(node).text() for node in self.desired.nodes}
        files = client_files(
            self.desired,
            SecretRef(place="private:talosconfig"),
            SecretRef(place="private:kubeconfig"),
        )
        confirmed = {
            str(node.name): self.fingerprint(str(node.name)) for node in self.desired.nodes
        }
        values: dict[str, object] = {"client_files": files, "confirmed": confirmed, **more}
        return DesiredTalos(desired=self.desired, configurations=texts, **values)  # type: ignore[arg-type]  # fields by name

    def new(self, *names: str) -> dict[str, NewMachine]:
        """Machines that were never configured and get their configuration from an image."""
        return {
            name: _new_machine(node.vm)
            for node in self.desired.nodes
            if (name := str(node.name)) in names and node.vm is not None
        }

    def observe(
        self, wish: DesiredTalos | None = None, network: Network | None = None
    ) -> ObservedTalos:
        wish = wish or self.wish()
        look = TalosQuery(
            desired=self.desired, leaving=wish.leaving, client_files=wish.client_files
        )
        return told(observe_talos(look, self.ports, network))

    def plan(self, **more: object) -> tuple[Step, ...]:
        desired = self.wish(**more)
        observed = self.observe(desired)
        return talos_steps(desired, observed, plan_talos_changes(desired, observed))

    def changes(self, **more: object) -> tuple[TalosChange, ...]:
        desired = self.wish(**more)
        return plan_talos_changes(desired, self.observe(desired))

    def refusals(self, **more: object) -> dict[str, list[str]]:
        """Problems by code, and where each is."""
        desired = self.wish(**more)
        by_node: dict[str, list[str]] = {}
        for refusal in find_refusals(desired, self.observe(desired)):
            by_node.setdefault(refusal.code, []).append(str(refusal.where))
        return by_node

    def carry_out(self, planned: Iterable[Step]) -> None:
        """All steps, one after the other."""
        waiting, finished = list(planned), set[str]()
        while waiting:
            ready = next(step for step in waiting if not set(step.needs) - finished)
            waiting.remove(ready)
            told(carry_out_step(ready, self.ports))
            finished.add(ready.id)


def _new_machine(vm: Vm) -> NewMachine:
    identity = GuestIdentity(cluster=str(vm.region), vmid=vm.vmid, name=vm.name, uuid=vm.uuid)
    start = Step(
        id=f"vms/start/{vm.name}", action=StartVm(vm=identity, host=vm.host), stage=Stage.VMS
    )
    return NewMachine(
        vm=identity,
        host=vm.host,
        storage=Datastore("local"),
        owner="k8s",
        files={},
        start=start,
    )


async def carry_out_step(step: Step, ports: Ports) -> bool:
    """Look, act, look again; False: it was done already."""
    if not step.action.always_gated and await step.action.done(ports):
        return False
    for gate in step.gates:
        await check_gate(gate, ports)
    return await perform_action(step.action, ports)


async def check_gate(gate: Gate, ports: Ports) -> Verdict:
    """What a gate says once it does not want to be asked again."""
    waited = 0.0
    while True:
        verdict = await gate.check(ports)
        if verdict.answer is GateAnswer.GO:
            return verdict
        assert verdict.answer is GateAnswer.WAIT, verdict.because
        assert waited < _PATIENCE, verdict.because
        await ports.clock.sleep(10.0)
        waited += 10.0


async def perform_action(action: Action, ports: Ports) -> bool:
    """Look, act, look again; False: it was done already."""
    if await action.done(ports):
        return False
    await action.run(ports)
    assert await action.done(ports)
    return True


def told(story: Coroutine[object, object, T]) -> T:
    """What a story comes to."""
    return asyncio.run(story)


@cache
def _made(preset: str, version: str, up: bool) -> tuple[bytes, Staged]:
    known = "three-node" if preset == MIXED else preset
    world = preset_world(PresetOptions(known, NETWORK))
    staging = Staging(
        preset=known,
        network=NETWORK,
        talos_version=version,
        bootstrap=False,
        configured=up,
    )
    answers = Answers(talos_version=version)
    texts = render_preset(known, network=NETWORK, answers=answers)
    if preset == MIXED:
        texts["nodes.yaml"] = _one_controller(texts["nodes.yaml"])
    found = stage_files(world, texts, staging)
    if up:
        bring_up(world, found)
    return world_file(world.state), found


def _one_controller(text: str) -> str:
    first, _, rest = text.partition("controller: true")
    worker = "controller: false\n    class: controller"
    return f"{first}controller: true{rest.replace('controller: true', worker)}"


def scene(preset: str = "three-node", version: str = "1.13.9", *, up: bool = False) -> Scene:
    """VMs that are off and will wait in maintenance, or with `up` a cluster that runs."""
    content, found = _made(preset, version, up)
    return Scene(World(read_world(content)), found)


def copied(of: Scene) -> Scene:
    """Another world in the same state."""
    cluster = Scene(World(read_world(world_file(of.world.state))), of.staged)
    cluster.places.texts = dict(of.places.texts)
    cluster.wants(of.desired)
    return cluster


def killed(of: Scene, action: Action) -> Iterator[Scene]:
    """Worlds in which an action was ended before its first call and after the others.

    Of reads that are repeated before something is written only the first counts.
    """
    cluster = copied(of)
    told(perform_action(action, cluster.ports))
    for number in (0, *_turns(cluster.watched.made)):
        running = copied(of)
        running.watched.dies_after = number
        running.watched.dies_before = int(number == 0)
        with suppress(Killed, ExceptionGroup):
            told(perform_action(action, running.ports))
        yield running


def _turns(calls: list[str]) -> Iterator[int]:
    seen: set[str] = set()
    for number, name in enumerate(calls, start=1):
        if name in WRITES:
            seen.clear()
        if name not in seen:
            yield number
        seen.add(name)
