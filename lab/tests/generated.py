"""Requests that the schema allows, and some that it does not, thrown at a world one by one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from stockman_lab.core.dice import Dice
from stockman_lab.core.saved import plain
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.api.call import Upload
from stockman_lab.pve.api.request import ApiReply
from stockman_lab.pve.host_power import give_power
from stockman_lab.pve.invariants import broken
from stockman_lab.pve.schema.operation import Operation, keys_of
from stockman_lab.world.file import read_world, world_file

from lab.tests.complete import example
from lab.tests.departures import unpromised
from lab.tests.nasty import NASTY
from lab.tests.plausible import Scene, value
from lab.tests.populated import USER, populated

_IN_ONE_WORLD = 100
_SAVED_EVERY = 50
_OF_PYTHON = re.compile(
    r"Traceback|NoneType|(Key|Value|Type|Attribute|Index)Error|has no attribute|not subscriptable"
    r"|invalid literal|(to|cannot) unpack|unhashable|out of range: |codec can't"
)
_FIRST_PROXY_ERROR = 595


@dataclass(slots=True)
class Made:
    """A request."""

    operation: Operation
    path: str
    params: dict[str, object]
    caller: Caller
    upload: Upload | None = None

    def __str__(self) -> str:
        return f"{self.operation.method} {self.path} {self.params!r} as {self.caller.authid}"


@dataclass(slots=True)
class Findings:
    """What came of a run."""

    wrong: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    succeeded: set[tuple[str, str]] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)


def run(profile: str, seed: int, count: int) -> Findings:
    """Throw so many requests at worlds of a profile, each of which lives for a hundred."""
    findings = Findings()
    dice = Dice(seed)
    order: Iterator[Operation] = iter(())
    for number in range(count):
        if number % _IN_ONE_WORLD == 0:
            door = populated(profile, seed + number)
            excused: set[str] = set()
        operation = next(order, None)
        if operation is None:
            order = iter(_shuffled(door, dice))
            operation = next(order)
        made = request(door, dice, operation)
        findings.asked.add((operation.method, operation.path))
        findings.wrong += (
            f"#{number} {made}: {one}" for one in _judged(door, made, excused, findings)
        )
        if number % _SAVED_EVERY == 0:
            findings.wrong += (f"#{number} {made}: {one}" for one in _kept(door))
    return findings


def _shuffled(door: MemoryDoor, dice: Dice) -> list[Operation]:
    """Every operation that is answered, those that change something twice, in any order."""
    operations = door.api.schema.operations
    known = [operation for key, operation in operations.items() if key in door.api.endpoints]
    known += [one for one in known if one.method != "GET"]
    return sorted(known, key=lambda one: dice.below(1 << 30))


def request(door: MemoryDoor, dice: Dice, operation: Operation) -> Made:
    """A request for an operation: sensible as a whole, with something odd now and then."""
    scene = Scene(door.cluster, dice, operation.path)
    in_path = re.findall(r"{([^}]+)}", operation.path)
    odd = 0 if dice.below(4) else 8
    for name in sorted(in_path, key=_vmid_first):
        scene.chosen[name] = _value(scene, operation, name, odd)
    path = operation.path
    for name in in_path:
        path = path.replace(f"{{{name}}}", _written(scene.chosen[name]))
    params: dict[str, object] = {}
    for name in _names(operation, dice):
        if name not in in_path:
            params[name] = scene.chosen[name] = _value(scene, operation, name, odd)
    if dice.below(2):
        params |= example(dice, operation.method, operation.path)
    if not dice.below(60):
        params["no-such-parameter"] = 1
    if operation.method == "POST" and operation.path.endswith(("/qemu", "/lxc")):
        params["vmid"] = 100 + dice.below(150)
    upload = None
    if operation.path.endswith("/upload"):
        upload = Upload(str(params.get("filename", "cd.iso")), b"bytes of an upload")
    return Made(operation, path, params, _caller(door, dice), upload)


def _vmid_first(name: str) -> int:
    return {"vmid": 0, "node": 1}.get(name, 2)


def _names(operation: Operation, dice: Dice) -> Iterator[str]:
    """Parameters to give: nearly always what is required, and a few of the rest."""
    optional = [
        key
        for name, parameter in operation.parameters.items()
        if parameter.optional
        for key in keys_of(name, parameter)[:3]
        if not key.startswith("unused")
    ]
    for name in operation.required:
        if dice.below(40):
            yield name
    for _ in range(min(dice.below(4), len(optional))):
        yield dice.one_of(optional)


def _value(scene: Scene, operation: Operation, name: str, odd: int) -> object:
    if odd and not scene.dice.below(odd):
        return scene.dice.one_of(NASTY)
    rule = operation.rules.get(name)
    return value(scene, name, rule.shape) if rule is not None else "word"


def _written(found: object) -> str:
    return quote(str(found).encode("utf-8", "replace"), safe=":@!") or "-"


def _caller(door: MemoryDoor, dice: Dice) -> Caller:
    thrown = dice.below(20)
    if thrown == 0 and USER in door.cluster.state.access.users:
        return Caller(USER)
    return Caller(ROOT)


def _judged(door: MemoryDoor, made: Made, excused: set[str], found: Findings) -> Iterator[str]:
    before = set(door.cluster.state.volumes)
    speaker = door.as_caller(made.caller)
    reply = speaker.reply(made.operation.method, made.path, made.params, made.upload)
    found.statuses[reply.status] += 1
    if reply.status == 200:
        found.succeeded.add((made.operation.method, made.operation.path))
    yield from _reply(door, made, reply)
    door.world.settle()
    yield from (
        f"task {task.upid} goes on for ever"
        for task in door.cluster.state.tasks.values()
        if task.is_running
    )
    if made.operation.method == "DELETE" and "/content/" in made.operation.path:
        gone = before - set(door.cluster.state.volumes)
        excused |= {place.partition("/")[2] for place in gone}
    if made.operation.path.startswith("/storage") and made.operation.method != "GET":
        excused |= {volume.id for volume in door.cluster.state.volumes.values()}
    yield from broken(door.cluster, excused)
    for host in door.cluster.state.hosts.values():
        if not host.has_power:
            give_power(door.cluster, host)


def _reply(door: MemoryDoor, made: Made, reply: ApiReply) -> Iterator[str]:
    body = reply.body or {}
    json.dumps(body, allow_nan=False)
    message = str(body.get("message", ""))
    errors = json.dumps(body.get("errors", {}))
    if not reply.reason.strip():
        yield f"{reply.status} without a word"
    if _OF_PYTHON.search(message) or _OF_PYTHON.search(errors):
        yield f"{reply.status} in words of Python: {message!r} {errors}"
    match reply.status:
        case 200:
            meant = door.api.schema.route(made.operation.method, made.path).operation
            yield from unpromised(meant, body.get("data"))
        case 400:
            if not body.get("errors"):
                yield f"400 without errors: {message!r}"
        case 401 | 403 | 500:
            pass
        case 501:
            if not reply.reason.startswith("Method '"):
                yield f"501 {reply.reason}"
        case status:
            down = any(not host.has_power for host in door.cluster.state.hosts.values())
            if status < _FIRST_PROXY_ERROR or not down:
                yield f"{status} {reply.reason}"


def _kept(door: MemoryDoor) -> Iterator[str]:
    """What a saved world is, it is again after it was loaded."""
    saved = world_file(door.world.state)
    loaded = read_world(saved)
    if plain(loaded) != plain(door.world.state):
        yield "the world is another one after it was saved and loaded"
    if world_file(loaded) != saved:
        yield "the same world gives another file"
