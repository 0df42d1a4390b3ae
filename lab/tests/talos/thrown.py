"""Requests of every method of every minor, thrown at machines in every state."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from stockman_lab.core.dice import Dice
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.doors.talos_memory import NothingMoves, WorldPatience
from stockman_lab.pve.invariants import broken as broken_cluster
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Asked, Cut, Refusal
from stockman_lab.talos.api.proxy import perform
from stockman_lab.talos.api.registry import Around, all_methods
from stockman_lab.talos.invariants import broken
from stockman_lab.talos.machine import Machine
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.nasty import NASTY
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.troubles import installer
from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import ApiMethod, load_api_schema
from stockman.talos.wire.tables import package_entries, packages

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
SCENES = ("maintenance", "booting", "running", "without quorum")
ROLES = ("os:admin", "os:operator", "os:reader", "os:etcd:backup", "os:impersonator")
_IN_ONE_WORLD = 25
_MOST_ANSWERS = 30
_OF_PYTHON = re.compile(
    r"Traceback|NoneType|(Key|Value|Type|Attribute|Index|Lookup)Error|has no attribute|unpack"
    r"|not subscriptable|invalid literal|unhashable|codec can't|object at 0x|stockman"
)
_UNREADABLE = "grpc: error unmarshalling request"
_MAY_BE_INTERNAL = (
    _UNREADABLE,
    "EOF",
    "invalid target",
    "upgrade failed: installer image",
    "installation failed: installer image",
)
_WORDS = (
    "etcd", "kubelet", "apid", "machined", "cri", "nothing", "talos-1", "talos-neo", "127.67.0.11",
    "/", "/proc/cmdline", "/etc/os-release", "/var", "../..", "system", "k8s.io", "runtime",
    "network", "config", "MachineConfigs.config.talos.dev", "LinkStatuses.net.talos.dev",
    "v1alpha1", "STATE", "EPHEMERAL", "/dev/sda", "/dev/sr0", "eth0", "os:admin", "os:reader",
    "1.36.3", "3.5", "3.6", "pool.ntp.org", "/dev/ptp0", "tcp", "0.0.0.0:0",
)  # fmt: skip
_NASTY = tuple(one for one in NASTY if isinstance(one, str))
_NUMBERS = (0, 1, 2, 3, 12, 255, 65536, (1 << 31) - 1, (1 << 63) - 1)


@dataclass(slots=True)
class Findings:
    """What came of a run."""

    wrong: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)


@cache
def methods_of(minor: str) -> tuple[ApiMethod, ...]:
    """Everything that can be called in a minor, at whichever door."""
    wire = load_api_schema(minor)
    return tuple(
        method
        for package in packages()
        for service, _ in package_entries(package, "services", minor)
        for method in wire.service(service).values()
    )


@cache
def _scene(name: str, version: str) -> bytes:
    if name == "without quorum":
        world = staged("three-node", version)
        for one in ("talos-neo", "talos-niobe"):
            world.talos.power_off(machine(world, one))
        world.settle()
        return world_file(world.state)
    if name == "running":
        world = staged("single", version)
        acting.reboot(machine(world), "default")
        world.advance(400)
        return world_file(world.state)
    world = staged("single", version, bootstrap=False)
    (cluster,) = world.clusters
    door = MemoryDoor(world, cluster)
    vmid, guest = next(iter(door.cluster.state.guests.items()))
    path = f"/nodes/{guest.node}/qemu/{vmid}"
    if name == "maintenance":
        door.put(f"{path}/config", delete="ide2")
    door.post(f"{path}/status/start")
    world.settle()
    return world_file(world.state)


def scene(name: str, version: str) -> tuple[World, Machine]:
    """A world in which a machine of a version is in some state."""
    world = World(read_world(_scene(name, version)))
    return world, next(one for one in world.talos.machines if one.state.is_on)


def run(version: str, seed: int, count: int) -> Findings:
    """Throw so many requests, one after the other."""
    dice, findings = Dice(seed), Findings()
    world, asked = scene(SCENES[0], version)
    for number in range(count):
        if number % _IN_ONE_WORLD == 0:
            name = SCENES[number // _IN_ONE_WORLD % len(SCENES)]
            world, asked = scene(name, version)
        every = methods_of(asked.minor) if asked.minor else methods_of("1.13")
        method = every[dice.below(len(every))]
        findings.asked.add(f"{method.service}/{method.name}")
        roles = (
            frozenset({ROLES[dice.below(len(ROLES))]}) if dice.below(4) else frozenset({ROLES[0]})
        )
        pieces = [_request(asked, method, dice) for _ in range(1 + 2 * method.client_stream)]
        label = f"{number}: {asked.minor} {method.service}/{method.name} {pieces[0]!r} as {roles}"
        try:
            code = asyncio.run(_thrown(world, asked, method, roles, pieces, _headers(asked, dice)))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what we look for
            findings.wrong.append(f"{label[:300]}: {type(error).__name__}: {error}")
            code = "?"
        findings.codes[code.partition(":")[0]] += 1
        _judge(findings, label, code)
        if dice.below(3) == 0:
            world.advance(float(dice.below(120)))
        findings.wrong += [
            f"{label[:300]}: {contradiction}" for contradiction in _contradictions(world)
        ]
        if number % _IN_ONE_WORLD == _IN_ONE_WORLD - 1:
            world.settle()
            findings.wrong += [
                f"{label[:300]}, at rest: {contradiction}"
                for contradiction in _contradictions(world)
            ]
            content = world_file(world.state)
            if world_file(read_world(content)) != content:
                findings.wrong.append(f"{label[:300]}: the world is not what was saved")
    return findings


def _contradictions(world: World) -> Iterator[str]:
    yield from broken(world.talos)
    for cluster in world.clusters.values():
        yield from broken_cluster(cluster)


def _judge(found: Findings, label: str, code: str) -> None:
    name, _, text = code.partition(": ")
    if name == GrpcCode.INTERNAL.name and not text.startswith(_MAY_BE_INTERNAL):
        found.wrong.append(f"{label[:300]}: {code}")
    if _OF_PYTHON.search(text):
        found.wrong.append(f"{label[:300]}: {code}")


async def _thrown(
    world: World,
    asked: Machine,
    method: ApiMethod,
    roles: frozenset[str],
    pieces: list[bytes],
    headers: dict[str, list[str]],
) -> str:
    async def sent() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    around = Around(world.talos, WorldPatience(world), all_methods())
    request = Asked(
        path=f"/{method.service}/{method.name}",
        pieces=sent(),
        headers=headers,
        roles=roles,
        peer="127.0.0.1",
    )
    reply = load_api_schema(asked.minor or "1.13").message(method.response)
    answers = 0
    try:
        async with aclosing(perform(around, asked, request)) as answer:
            async for piece in answer:
                reply.FromString(piece)
                answers += 1
                if answers >= _MOST_ANSWERS:
                    break
    except Refusal as refusal:
        return f"{refusal.code.name}: {refusal.message}"
    except NothingMoves:
        return "waits"
    except Cut:
        return "cut"
    return "answered"


def _headers(asked: Machine, dice: Dice) -> dict[str, list[str]]:
    some = dice.below(12)
    if some == 0:
        return {"node": [asked.address or "127.0.0.1"]}
    if some == 1:
        return {"nodes": [asked.address or "127.0.0.1", "127.67.99.99"]}
    if some == 2:
        return {"node": [_NASTY[dice.below(len(_NASTY))]]}
    return {}


def _request(asked: Machine, method: ApiMethod, dice: Dice) -> bytes:
    kind = dice.below(10)
    if kind == 0:
        return dice.random_bytes(1 + dice.below(40))
    made = load_api_schema(asked.minor or "1.13").message(method.request)()
    _fill(made, asked, dice, 3)
    if method.name == "HealthCheck":
        # Who waits for years is answered in years.
        made.wait_timeout.seconds = dice.below(60)  # type: ignore[attr-defined]
    content = made.SerializeToString()
    if kind == 1:
        return content + b"\xf2\x7f\x04wool"  # a field that nobody knows
    if kind == 2:
        return content[: dice.below(len(content) + 1)]
    return content


def _fill(message: Message, asked: Machine, dice: Dice, depth: int) -> None:
    described: Any = message.DESCRIPTOR
    if described.full_name in ("google.protobuf.Duration", "google.protobuf.Timestamp"):
        message.seconds = _NUMBERS[dice.below(len(_NUMBERS))]  # type: ignore[attr-defined]
        return
    if described.full_name.startswith("google.protobuf."):
        return
    for one in described.fields:
        if dice.below(5) == 0:
            continue
        if one.message_type is not None and one.message_type.GetOptions().map_entry:
            continue
        if one.message_type is not None:
            if depth:
                into: Any = getattr(message, one.name)
                _fill(into.add() if _repeats(one) else into, asked, dice, depth - 1)
                if not _repeats(one):
                    into.SetInParent()
            continue
        value = _value(one, asked, dice)
        if _repeats(one):
            getattr(message, one.name).append(value)
        else:
            setattr(message, one.name, value)


def _repeats(one: Any) -> bool:  # a description of protobuf
    return bool(one.is_repeated)


def _value(one: Any, asked: Machine, dice: Dice) -> object:  # as above
    kind = one.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return bool(dice.below(2))
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        values = one.enum_type.values
        return values[dice.below(len(values))].number if dice.below(9) else 77
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return float(dice.below(1000)) - 500.0
    if one.type == FieldDescriptor.TYPE_STRING:
        if one.name in ("image", "image_ref", "image_name", "reference") and dice.below(2):
            return installer(VERSIONS[dice.below(len(VERSIONS))])
        nasty = _NASTY if dice.below(6) == 0 else _WORDS
        return nasty[dice.below(len(nasty))]
    if one.type == FieldDescriptor.TYPE_BYTES:
        return asked.state.config if dice.below(2) else dice.random_bytes(dice.below(60))
    number = _NUMBERS[dice.below(len(_NUMBERS))]
    most = 31 if kind in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32) else 63
    return number & ((1 << most) - 1)
