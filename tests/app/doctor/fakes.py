"""A machine, a repository and a network that are what a test says, and a scene with them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from stockman.assessment.doctor.check import Check, CheckInput, CheckResult, Question
from stockman.config.load import load
from stockman.ports.environment import (
    Certificate,
    DirectorySpace,
    Exposure,
    FileStatus,
    GitFileState,
    NoAddress,
    NoAnswer,
    Remote,
    ServerAddress,
    Trust,
    WorkTree,
)

T = TypeVar("T")

HERE = Path("/here")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2031, 1, 1, tzinfo=UTC)
PRIVATE = FileStatus(mode=0o600, is_file=True, readable=True)
OPEN = FileStatus(mode=0o644, is_file=True, readable=True)
ORIGIN = Remote(name="origin", url="https://git.test/owner/repo.git")
PLANTED = "hunter2"
"""A secret that no output may show."""
FINGERPRINT = ":".join(["AB"] * 32)
TRUSTED = Certificate(fingerprint=FINGERPRINT, expires=LATER, flaw="")

CLUSTER = """\
cluster:
  name: meadow
network:
  node_cidr: 127.66.0.0/24
  dns_servers: [127.66.0.2]
  ntp_servers: [127.66.0.3]
kubernetes:
  api:
    addr: 127.66.0.10
repository:
  url: https://git.test/owner/repo.git
talos:
  factory_url: https://factory.test
"""
NODES = """\
nodes:
  - name: cp-1
    address: 127.66.0.21
    controller: true
    disk: /dev/sda
    mac_addr: bc:24:11:00:00:21
"""
CLASSIC = {"cluster.yaml": OPEN, "nodes.yaml": OPEN}


class FakeClock:
    """A clock that stands still."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now


class FakeMachine:
    """Files by name below `HERE`, and room everywhere."""

    def __init__(
        self,
        files: Mapping[str, FileStatus] = CLASSIC,
        *,
        contents: Mapping[str, bytes] | None = None,
        variables: Mapping[str, str] | None = None,
        room: DirectorySpace | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self._files = {HERE / name: facts for name, facts in files.items()}
        self._contents = {HERE / name: text for name, text in (contents or {}).items()}
        self._variables = variables or {}
        self._room = room
        self._encoding = encoding

    def file(self, path: Path) -> FileStatus | None:
        return self._files.get(path)

    def read(self, path: Path) -> bytes | None:
        return self._contents.get(path)

    def space(self, directory: Path) -> DirectorySpace | None:
        return self._room

    def temporary(self) -> Path:
        return Path("/tmp")

    def variable(self, name: str) -> str:
        return self._variables.get(name, "")

    def python(self) -> str:
        return "3.11.7"

    def encoding(self) -> str:
        return self._encoding


class FakeRepo:
    """A repository with one state; files that are not named are ignored."""

    def __init__(
        self,
        tree: WorkTree | None = None,
        *,
        version: str | None = "2.40.1",
        standings: Mapping[str, GitFileState] | None = None,
        silent: str = "",
    ) -> None:
        self._tree = tree
        self._version = version
        self._standings = standings or {}
        self._silent = silent

    def version(self) -> str | None:
        self._answer()
        return self._version

    def work_tree(self) -> WorkTree | None:
        self._answer()
        return self._tree

    def file_state(self, path: str) -> GitFileState:
        self._answer()
        return self._standings.get(path, "ignored") if self._tree else "outside"

    def exposure(self, name: str) -> Exposure:
        standing = self.file_state(name)
        return "tracked" if standing == "untracked" else standing

    def _answer(self) -> None:
        if self._silent:
            raise NoAnswer(self._silent)


class FakeNetwork:
    """Servers by `host:port`; what is not here does not answer, and every question is kept."""

    def __init__(
        self,
        *,
        names: Mapping[str, tuple[str, ...]] | None = None,
        open_ports: Iterable[str] = (),
        certificates: Mapping[str, Certificate] | None = None,
        ntp: Mapping[str, float] | None = None,
        web: Mapping[str, float] | None = None,
        name_servers: Iterable[str] = (),
    ) -> None:
        self._names = names or {}
        self._doors = set(open_ports)
        self._certificates = certificates or {}
        self._ntp = ntp or {}
        self._web = web or {}
        self._name_servers = set(name_servers)
        self.trusts: list[Trust] = []
        self.dialled: list[ServerAddress] = []

    async def resolve(self, host: str) -> tuple[str, ...]:
        if host[0].isdigit():
            return (host,)
        if host not in self._names:
            raise NoAddress("name or service not known")
        return self._names[host]

    async def connect(self, server_address: ServerAddress) -> None:
        await self._dial(server_address)
        if f"{server_address.host}:{server_address.port}" not in self._doors:
            raise NoAnswer("connection refused")

    async def certificate(self, server_address: ServerAddress, trust: Trust) -> Certificate:
        await self._dial(server_address)
        self.trusts.append(trust)
        return _known(self._certificates, f"{server_address.host}:{server_address.port}")

    async def http_clock(self, server_address: ServerAddress, *, tls: bool) -> float:
        await self._dial(server_address)
        return _known(self._web, f"{server_address.host}:{server_address.port}")

    async def ntp_clock(self, server: str, port: int = 123) -> float:
        await self.resolve(server)
        return _known(self._ntp, server)

    async def name_server(self, server: str, port: int = 53) -> None:
        if server not in self._name_servers:
            raise NoAnswer("no answer within 2 s")

    async def _dial(self, server_address: ServerAddress) -> None:
        self.dialled.append(server_address)
        await self.resolve(server_address.host)


def scene(cluster: str = CLUSTER, nodes: str = NODES, **changes: Any) -> CheckInput:
    """A scene with these files on a machine where all is well; `changes` are fields of it."""
    loaded = load({"cluster.yaml": cluster.encode(), "nodes.yaml": nodes.encode()})
    check_input = CheckInput(
        directory=HERE,
        estate=loaded.configuration,
        secrets=loaded.secrets,
        problems=tuple(loaded.problems),
        complete=loaded.complete,
        machine=FakeMachine(room=DirectorySpace(free=2**40, writable=True)),
        repo=FakeRepo(WorkTree(branch="main", has_commits=True, remotes=(ORIGIN,))),
        clock=FakeClock(),
    )
    return replace(check_input, **changes)


def found(check: Check, seen: CheckInput) -> list[CheckResult]:
    """What a check finds without the network."""
    return [result for result in check.look(seen) if isinstance(result, CheckResult)]


async def told(check: Check, seen: CheckInput, network: FakeNetwork) -> list[CheckResult]:
    """What the questions of a check come to, one after the other."""
    questions = [result for result in check.look(seen) if isinstance(result, Question)]
    return [finding for question in questions for finding in await question.ask(network)]


def _known(known: Mapping[str, T], name: str) -> T:
    if name not in known:
        raise NoAnswer("connection refused")
    return known[name]
