"""Compares a Talos machine of yours with the lab, read-only: shapes of answers, never their values.

    python -m scripts.compare_with_talos --talosconfig FILE --node ADDRESS [--context NAME]

A talosconfig with the role `os:reader` is enough. Only calls that read are made, none of secrets
or machine configurations among them, and the same ones to machines of a lab in memory that run the
same release. What is printed are names of calls, fields and kinds of resources: nothing that a
machine, a user or a pod is called. Exits with 0 where nothing differs, with 1 where something does,
with 2 where nobody could be asked.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import NamedTuple, Protocol

import yaml
from grpclib.client import Channel, UnaryStreamMethod, UnaryUnaryMethod
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError, StreamTerminatedError
from stockman_lab.doors.talos_memory import TalosMemoryDoor
from stockman_lab.factory.state import FactoryState
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.tables import DEFINITIONS, META, definitions, shape_of
from stockman_lab.talos.machine import Machine
from stockman_lab.world.preset import Wish, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

from scripts.talos_shapes import MOST_ROWS, UNKNOWN, Message, message_places, spec_places
from stockman.model.compatibility import talos_line
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.talosconfig import TalosContext, read_talosconfig
from stockman.talos.wire.schema import ApiSchema, UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS
from stockman.talos.wire.values import new_message

Places = dict[str, set[str]]
"""Kinds of what stands somewhere in an answer, by place."""

_MACHINE = "machine.MachineService"
_STATE = "cosi.resource.State"
_PODS = {"namespace": "k8s.io", "driver": 1}
CALLS: tuple[tuple[str, str, Mapping[str, object]], ...] = (
    *((_MACHINE, name, {}) for name in (
        "Version", "Hostname", "LoadAvg", "Memory", "CPUInfo", "CPUFreqStats", "SystemStat",
        "DiskStats", "NetworkDeviceStats", "Mounts", "Processes", "ServiceList",
        "EtcdMemberList", "EtcdStatus", "EtcdAlarmList",
    )),
    (_MACHINE, "Containers", _PODS),
    (_MACHINE, "Stats", _PODS),
    (_MACHINE, "Netstat", {"filter": 0}),
    (_MACHINE, "ImageList", {"namespace": 1}),
    (_MACHINE, "List", {"root": "/"}),
    ("storage.StorageService", "Disks", {}),
    ("time.TimeService", "Time", {}),
    ("inspect.InspectService", "ControllerRuntimeDependencies", {}),
)  # fmt: skip
"""Calls that read, each with what is asked for."""
LEFT_OUT = frozenset({"MachineConfigs.config.talos.dev"})
"""Kinds that are not looked at, besides those that hold secrets."""
_SECONDS = 60.0
_REFUSED = "(refused)"


class NotAsked(Exception):
    """Nobody could be asked."""


class Asked(Protocol):
    """Somebody who answers calls."""

    wire: ApiSchema

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """All messages of an answer; raises `LookupError` where it is refused."""
        ...


class _Bytes(CodecBase):
    """Messages are bytes."""

    __content_subtype__ = "proto"

    def encode(self, message: bytes, message_type: object) -> bytes:
        del message_type
        return message

    def decode(self, data: bytes, message_type: object) -> bytes:
        del message_type
        return data


class Real:
    """The machine that is asked."""

    def __init__(self, channel: Channel, node: str, wire: ApiSchema) -> None:
        self._channel = channel
        self._node = node
        self.wire = wire

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """All messages of an answer; raises `LookupError` where it is refused."""
        method = self.wire.method(service, name)
        given = new_message(self.wire, method.request, fields).SerializeToString()
        kind = UnaryStreamMethod if method.server_stream else UnaryUnaryMethod
        call = kind(self._channel, f"/{service}/{name}", bytes, bytes)
        try:
            found = await call(given, timeout=_SECONDS, metadata={"node": self._node})
        except GRPCError as error:
            raise LookupError(error.status.name) from None
        pieces = found if isinstance(found, list) else [found]
        made = self.wire.message(method.response)
        return [made.FromString(one) for one in pieces]


class Lab:
    """One machine of the lab that it is compared with."""

    def __init__(self, machine: Machine, door: TalosMemoryDoor) -> None:
        self._door = door
        self.wire = load_api_schema(machine.minor)

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """All messages of an answer; raises `LookupError` where it is refused."""
        try:
            return [one async for one in self._door.stream(f"{service}/{name}", **fields)]
        except Refusal as refusal:
            raise LookupError(refusal.code.name) from None


def labs(version: str) -> list[Lab]:
    """A control plane and a worker that run a release, or the newest known of its line."""
    network = IPv4Network("127.66.0.0/16")
    parsed = Version.parse(version)
    line = talos_line(parsed)
    known = parsed.tagged in FactoryState().versions
    wanted = parsed.bare if known or line is None else line.newest.bare
    world = preset_world(Wish("fifteen-node", network))
    stage_cluster(world, Staging(preset="fifteen-node", network=network, talos_version=wanted))
    by_kind = {one.is_controlplane: one for one in world.talos.machines}
    return [Lab(one, TalosMemoryDoor(world, one)) for one in by_kind.values()]


async def answered(asked: Asked) -> dict[str, Places]:
    """Places of all answers, by call and by kind of resource."""
    found: dict[str, Places] = {}
    for service, name, fields in CALLS:
        place = f"{service}/{name}"
        try:
            messages = await asked.ask(service, name, fields)
        except UnknownApiName:
            continue
        except LookupError as refused:
            found[place] = {_REFUSED: {str(refused)}}
            continue
        _gather(found.setdefault(place, {}), messages, place)
    for kind, namespace in await _kinds(asked):
        place = f"{_STATE} {kind}"
        found[place] = {}
        if kind in LEFT_OUT or _is_sensitive(asked.wire.minor, kind):
            continue
        try:
            listed = await asked.ask(_STATE, "List", {"type": kind, "namespace": namespace})
        except LookupError as refused:
            found[place] = {_REFUSED: {str(refused)}}
            continue
        for reply in listed[:MOST_ROWS]:
            for where, what in _resource_places(kind, asked.wire.minor, reply, place):
                found[place].setdefault(where, set()).add(what)
    return found


def _gather(places: Places, messages: list[Message], place: str) -> None:
    for message in messages[:MOST_ROWS]:
        for where, what in message_places(message, place):
            places.setdefault(where, set()).add(what)


def _resource_places(
    kind: str, minor: str, reply: Message, place: str
) -> Iterator[tuple[str, str]]:
    shape = shape_of(kind)
    if shape:
        spec = yaml.safe_load(reply.resource.spec.yaml_spec)
        yield from spec_places(shape, minor, spec, place)
    else:
        yield place, "resource"


async def _kinds(asked: Asked) -> list[tuple[str, str]]:
    """All kinds of resources with their namespaces, as definitions tell them."""
    listed = await asked.ask(_STATE, "List", {"type": DEFINITIONS, "namespace": META})
    specs = [yaml.safe_load(one.resource.spec.yaml_spec) for one in listed]
    return sorted((one["type"], one["defaultNamespace"]) for one in specs)


def _is_sensitive(minor: str, kind: str) -> bool:
    """Whether a kind holds secrets, or is not known so that nobody can tell."""
    found = definitions(minor).get(kind.lower())
    return found is None or found.is_sensitive


def differences(mine: dict[str, Places], lab: dict[str, Places]) -> Iterator[str]:
    """Where an answer has something that the lab does not know, or has as another kind."""
    for call, seen in mine.items():
        if call not in lab:
            yield f"{call} is not known to the lab"
            continue
        known = lab[call]
        codes = seen.get(_REFUSED)
        if codes is not None:
            if _REFUSED not in known and codes == {"UNIMPLEMENTED"}:
                yield f"{call} is not there, and is in the lab"
            continue
        if set(known) == {_REFUSED}:
            yield f"{call} is refused in the lab: {_listed(known[_REFUSED])}"
            continue
        if seen and not known:
            yield f"{call} has none in the lab"
            continue
        yield from _different_places(seen, known)
    yield from (f"{call} is there in the lab alone" for call in lab if call not in mine)


def _different_places(seen: Places, known: Places) -> Iterator[str]:
    for place, found in sorted(seen.items()):
        expected = known.get(place)
        if expected is not None:
            if not found & expected:
                yield f"{place} is {_listed(found)}, and {_listed(expected)} in the lab"
        elif UNKNOWN in found:
            yield f"{place} is not known to the lab"
        elif not place.startswith(_STATE):
            yield f"{place} is never told by the lab"


def _listed(words: set[str]) -> str:
    return " or ".join(sorted(words))


class Target(NamedTuple):
    """Whom to ask, and as whom."""

    context: TalosContext
    node: str


def target(file: Path, name: str, node: str) -> Target:
    """The context of a talosconfig; raises `NotAsked`."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise NotAsked(f"{file} cannot be read: {error}") from None
    problems = Problems()
    config = read_talosconfig(str(file), Secret(text), problems)
    chosen = None if config is None else config.contexts.get(name or config.context)
    if chosen is None or chosen.key is None or not chosen.endpoints:
        raise NotAsked(f"{file} has no context with endpoints and a client certificate")
    return Target(chosen, node or next(iter(chosen.nodes), chosen.endpoints[0]))


def _context(context: TalosContext) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.set_alpn_protocols(["h2"])
    made.load_verify_locations(cadata=context.ca)
    key = "" if context.key is None else context.key.reveal()
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as pem:  # readable by its owner only
        pem.write(key.replace("ED25519 PRIVATE", "PRIVATE") + context.crt)
        pem.flush()
        made.load_cert_chain(pem.name)
    return made


@asynccontextmanager
async def _connected(context: TalosContext) -> AsyncIterator[Channel]:
    host, _, port = context.endpoints[0].partition(":")
    channel = Channel(host, int(port or 50000), codec=_Bytes(), ssl=_context(context))
    try:
        yield channel
    finally:
        channel.close()
        await asyncio.sleep(0.1)  # for the farewell of TLS


async def _version(channel: Channel, node: str) -> str:
    (reply,) = await Real(channel, node, load_api_schema(MINORS[0])).ask(_MACHINE, "Version", {})
    return str(reply.messages[0].version.tag)


async def compared(whom: Target) -> tuple[int, list[str]]:
    """How many calls and kinds were compared, and what differs; raises `NotAsked`."""
    try:
        async with _connected(whom.context) as channel:
            version = await _version(channel, whom.node)
            minor = ".".join(version.removeprefix("v").split(".")[:2])
            if minor not in MINORS:
                raise NotAsked(f"it runs Talos {version}, which the lab does not know")
            mine = await answered(Real(channel, whom.node, load_api_schema(minor)))
    except (OSError, ValueError, LookupError, StreamTerminatedError, TimeoutError) as error:
        raise NotAsked(f"{whom.context.endpoints[0]} does not answer: {error}") from None
    known: dict[str, Places] = {}
    for one in labs(version):
        for call, places in (await answered(one)).items():
            _merge(known, call, places)
    return len(mine), list(differences(mine, known))


def _merge(known: dict[str, Places], call: str, places: Places) -> None:
    """What one machine of the lab answers, added to what others do; a refusal only if all do."""
    there = known.get(call)
    if there is None or set(there) == {_REFUSED}:
        known[call] = {place: set(kinds) for place, kinds in places.items()}
    elif set(places) != {_REFUSED}:
        for place, kinds in places.items():
            there.setdefault(place, set()).update(kinds)


def main(arguments: list[str]) -> int:
    """Ask, compare, print; exits with 1 where something differs, with 2 where nobody answers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--talosconfig", required=True, type=Path)
    parser.add_argument("--context", default="")
    parser.add_argument("--node", default="")
    given = parser.parse_args(arguments)
    try:
        count, found = asyncio.run(compared(target(given.talosconfig, given.context, given.node)))
    except NotAsked as why:
        print(why, file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"{count} calls and kinds compared, {len(found)} differences", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
