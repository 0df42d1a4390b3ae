"""Hosts to log in to, without a wire."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from stockman_lab.servers.memory import MemoryClient
from stockman_lab.ssh.host_files import ROOT, HostFiles
from stockman_lab.ssh.programs.console import Console
from stockman_lab.ssh.programs.host_programs import HostPrograms
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Bytes, Streams
from stockman_lab.world.world import World

from lab.tests.worlds import door


@dataclass(slots=True)
class AtOnce:
    """Time that passes as soon as somebody waits."""

    world: World

    def catch_up(self) -> None:
        return None

    def go_on(self) -> None:
        return None

    async def wait(self, seconds: float) -> None:
        self.world.advance(seconds)


@dataclass(slots=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


class Login:
    """Somebody who is logged in on a host."""

    def __init__(self, asked: MemoryClient | None = None, user: str = ROOT, host: str = "pve1"):
        self.door = asked or door()
        self.cluster = self.door.cluster
        self.host = self.cluster.state.hosts[host]
        self.files = HostFiles(self.cluster, self.host, user)
        self.console = Console(self.door.api, self.host, AtOnce(self.door.world))

    def run(self, script: str, given: bytes = b"") -> Ran:
        """Run a script, with something to read."""
        streams = Streams(Bytes(given))
        shell = Shell(self.files, HostPrograms(self.console))
        status = asyncio.run(shell.run(script, streams))
        texts = (one.content.decode("utf-8", "replace") for one in (streams.out, streams.err))
        return Ran(status, *texts)
