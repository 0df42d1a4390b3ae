"""Compare your Talos machine with the lab, read-only: types of values, never the values.

    python -m scripts.compare_with_talos --talosconfig FILE --node ADDRESS [--context NAME]

A talosconfig with the role `os:reader` is sufficient. Only read calls are made, none of them for
secrets or machine configurations. The same calls are made to machines of a lab in memory with the
same release. Only names of calls, fields and kinds of resources are printed. Exit
status: 0 no differences, 1 differences, 2 not possible.
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
from stockman_lab.factory.state import FactoryState
from stockman_lab.servers.talos_port import TalosMemoryClient
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.tables import DEFINITIONS, META, definitions, shape_of
from stockman_lab.talos.machine import Machine
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.staging import Staging, stage_cluster

from scripts.talos_shapes import MOST_ROWS, UNKNOWN, Message, message_paths, spec_paths
from stockman.model.compatibility import talos_line
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.talos.credentials.talosconfig import TalosContext, read_talosconfig
from stockman.talos.wire.schema import ApiSchema, UnknownApiName, load_api_schema
from stockman.talos.wire.tables import MINORS
from stockman.talos.wire.values import new_message

KindsByPath = dict[str, set[str]]
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


class ComparisonFailed(Exception):
    """Nobody could be asked."""


class AnswerSource(Protocol):
    """A machine that answers calls."""

    wire: ApiSchema

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """Return all messages of an answer; raises `LookupError` if the call is refused."""
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
    """A real machine."""

    def __init__(self, channel: Channel, node: str, wire: ApiSchema) -> None:
        self._channel = channel
        self._node = node
        self.wire = wire

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """Return all messages of an answer; raises `LookupError` if the call is refused."""
        method = self.wire.method(service, name)
        request = new_message(self.wire, method.request, fields).SerializeToString()
        kind = UnaryStreamMethod if method.server_stream else UnaryUnaryMethod
        call = kind(self._channel, f"/{service}/{name}", bytes, bytes)
        try:
            reply = await call(request, timeout=_SECONDS, metadata={"node": self._node})
        except GRPCError as error:
            raise LookupError(error.status.name) from None
        pieces = reply if isinstance(reply, list) else [reply]
        message_class = self.wire.message(method.response)
        return [message_class.FromString(piece) for piece in pieces]


class Lab:
    """A machine of the lab."""

    def __init__(self, machine: Machine, api: TalosMemoryClient) -> None:
        self._door = api
        self.wire = load_api_schema(machine.minor)

    async def ask(self, service: str, name: str, fields: Mapping[str, object]) -> list[Message]:
        """Return all messages of an answer; raises `LookupError` if the call is refused."""
        try:
            return [message async for message in self._door.stream(f"{service}/{name}", **fields)]
        except Refusal as refusal:
            raise LookupError(refusal.code.name) from None


def labs(version: str) -> list[Lab]:
    """Return a control plane and a worker with a release, or the newest known one of its line."""
    network = IPv4Network("127.66.0.0/16")
    parsed = Version.parse(version)
    line = talos_line(parsed)
    known = parsed.tagged in FactoryState().versions
    release = parsed.bare if known or line is None else line.newest.bare
    world = preset_world(PresetOptions("fifteen-node", network))
    stage_cluster(world, Staging(preset="fifteen-node", network=network, talos_version=release))
    by_kind = {machine.is_controlplane: machine for machine in world.talos.machines}
    return [Lab(machine, TalosMemoryClient(world, machine)) for machine in by_kind.values()]


async def collect_answers(source: AnswerSource) -> dict[str, KindsByPath]:
    """Return the paths and types in all answers, by call and kind of resource."""
    answers: dict[str, KindsByPath] = {}
    for service, name, fields in CALLS:
        path = f"{service}/{name}"
        try:
            messages = await source.ask(service, name, fields)
        except UnknownApiName:
            continue
        except LookupError as refused:
            answers[path] = {_REFUSED: {str(refused)}}
            continue
        _gather(answers.setdefault(path, {}), messages, path)
    for kind, namespace in await _kinds(source):
        path = f"{_STATE} {kind}"
        answers[path] = {}
        if kind in LEFT_OUT or _is_sensitive(source.wire.minor, kind):
            continue
        try:
            replies = await source.ask(_STATE, "List", {"type": kind, "namespace": namespace})
        except LookupError as refused:
            answers[path] = {_REFUSED: {str(refused)}}
            continue
        for reply in replies[:MOST_ROWS]:
            for where, value_kind in _resource_paths(kind, source.wire.minor, reply, path):
                answers[path].setdefault(where, set()).add(value_kind)
    return answers


def _gather(kinds: KindsByPath, messages: list[Message], path: str) -> None:
    for message in messages[:MOST_ROWS]:
        for where, kind in message_paths(message, path):
            kinds.setdefault(where, set()).add(kind)


def _resource_paths(kind: str, minor: str, reply: Message, path: str) -> Iterator[tuple[str, str]]:
    shape = shape_of(kind)
    if shape:
        spec = yaml.safe_load(reply.resource.spec.yaml_spec)
        yield from spec_paths(shape, minor, spec, path)
    else:
        yield path, "resource"


async def _kinds(source: AnswerSource) -> list[tuple[str, str]]:
    """Return all kinds of resources with their namespaces."""
    replies = await source.ask(_STATE, "List", {"type": DEFINITIONS, "namespace": META})
    specs = [yaml.safe_load(reply.resource.spec.yaml_spec) for reply in replies]
    return sorted((spec["type"], spec["defaultNamespace"]) for spec in specs)


def _is_sensitive(minor: str, kind: str) -> bool:
    """Whether a kind contains secrets, or is unknown."""
    definition = definitions(minor).get(kind.lower())
    return definition is None or definition.is_sensitive


def differences(mine: dict[str, KindsByPath], lab: dict[str, KindsByPath]) -> Iterator[str]:
    """Return what the lab does not know, or has with another type."""
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
            yield f"{call} is refused in the lab: {_join(known[_REFUSED])}"
            continue
        if seen and not known:
            yield f"{call} has none in the lab"
            continue
        yield from _different_paths(seen, known)
    yield from (f"{call} is there in the lab alone" for call in lab if call not in mine)


def _different_paths(seen: KindsByPath, known: KindsByPath) -> Iterator[str]:
    for path, kinds in sorted(seen.items()):
        expected = known.get(path)
        if expected is not None:
            if not kinds & expected:
                yield f"{path} is {_join(kinds)}, and {_join(expected)} in the lab"
        elif UNKNOWN in kinds:
            yield f"{path} is not known to the lab"
        elif not path.startswith(_STATE):
            yield f"{path} is never told by the lab"


def _join(names: set[str]) -> str:
    return " or ".join(sorted(names))


class Target(NamedTuple):
    """A machine, and the credentials for it."""

    context: TalosContext
    node: str


def target(file: Path, name: str, node: str) -> Target:
    """Return the context of a talosconfig; raises `ComparisonFailed`."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ComparisonFailed(f"{file} cannot be read: {error}") from None
    problems = Problems()
    config = read_talosconfig(str(file), Secret(text), problems)
    chosen = None if config is None else config.contexts.get(name or config.context)
    if chosen is None or chosen.key is None or not chosen.endpoints:
        raise ComparisonFailed(f"{file} has no context with endpoints and a client certificate")
    return Target(chosen, node or next(iter(chosen.nodes), chosen.endpoints[0]))


def _context(context: TalosContext) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.set_alpn_protocols(["h2"])
    tls.load_verify_locations(cadata=context.ca)
    key = "" if context.key is None else context.key.reveal()
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as pem:  # readable by its owner only
        pem.write(key.replace("ED25519 PRIVATE", "PRIVATE") + context.crt)
        pem.flush()
        tls.load_cert_chain(pem.name)
    return tls


@asynccontextmanager
async def _connect(context: TalosContext) -> AsyncIterator[Channel]:
    host, _, port = context.endpoints[0].partition(":")
    channel = Channel(host, int(port or 50000), codec=_Bytes(), ssl=_context(context))
    try:
        yield channel
    finally:
        channel.close()
        await asyncio.sleep(0.1)  # for the close notification of TLS


async def _version(channel: Channel, node: str) -> str:
    (reply,) = await Real(channel, node, load_api_schema(MINORS[0])).ask(_MACHINE, "Version", {})
    return str(reply.messages[0].version.tag)


async def compare(machine: Target) -> tuple[int, list[str]]:
    """How many calls and kinds were compared, and what differs; raises `NotAsked`."""
    try:
        async with _connect(machine.context) as channel:
            version = await _version(channel, machine.node)
            minor = ".".join(version.removeprefix("v").split(".")[:2])
            if minor not in MINORS:
                raise ComparisonFailed(f"it runs Talos {version}, which the lab does not know")
            mine = await collect_answers(Real(channel, machine.node, load_api_schema(minor)))
    except (OSError, ValueError, LookupError, StreamTerminatedError, TimeoutError) as error:
        raise ComparisonFailed(f"{machine.context.endpoints[0]} does not answer: {error}") from None
    known: dict[str, KindsByPath] = {}
    for lab in labs(version):
        for call, kinds in (await collect_answers(lab)).items():
            _merge(known, call, kinds)
    return len(mine), list(differences(mine, known))


def _merge(known: dict[str, KindsByPath], call: str, answers: KindsByPath) -> None:
    """Add the answers of a machine of the lab; a refusal only counts if all machines refuse."""
    existing = known.get(call)
    if existing is None or set(existing) == {_REFUSED}:
        known[call] = {path: set(kinds) for path, kinds in answers.items()}
    elif set(answers) != {_REFUSED}:
        for path, kinds in answers.items():
            existing.setdefault(path, set()).update(kinds)


def main(arguments: list[str]) -> int:
    """Compare and print; returns 1 if there are differences, 2 if it was not possible."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--talosconfig", required=True, type=Path)
    parser.add_argument("--context", default="")
    parser.add_argument("--node", default="")
    options = parser.parse_args(arguments)
    try:
        count, lines = asyncio.run(
            compare(target(options.talosconfig, options.context, options.node))
        )
    except ComparisonFailed as why:
        print(why, file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    print(f"{count} calls and kinds compared, {len(lines)} differences", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
