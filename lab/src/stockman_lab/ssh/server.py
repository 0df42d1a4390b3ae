"""An SSH server for one host: who may log in, and what becomes of commands."""

from __future__ import annotations

from collections.abc import Callable
from socket import socket

import asyncssh

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.login import check_password
from stockman_lab.pve.errors import ApiError
from stockman_lab.ssh.host_files import HostFiles
from stockman_lab.ssh.keys import authorized_keys, host_key
from stockman_lab.ssh.programs.console import Console, forever
from stockman_lab.ssh.programs.host_programs import HostPrograms
from stockman_lab.ssh.sftp import HostSftp, Troubles
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams, Wire

_PIECE = 1 << 16
_MOST_INPUT = 1 << 30
_VERSIONS = {"8.4": "OpenSSH_9.2p1 Debian-2+deb12u5", "9.1": "OpenSSH_10.0p2 Debian-7"}
_BEFORE = frozenset({Effect.FAIL, Effect.CLAIM, Effect.CUT, Effect.HANG})


class Listening:
    """A server that runs, with all who are connected to it."""

    def __init__(self, console: Console, seen: Callable[[str], None]) -> None:
        self.console = console
        self.seen = seen
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self.acceptor: asyncssh.SSHAcceptor | None = None

    async def stop(self) -> None:
        """Close every connection, and accept no more."""
        for connection in list(self.connections):
            connection.abort()
        if self.acceptor is not None:
            self.acceptor.close()
            await self.acceptor.wait_closed()

    def files(self, user: str) -> HostFiles:
        return HostFiles(self.console.api.cluster, self.console.host, user)

    def fault(self, command: str) -> Fault | None:
        """What goes wrong with a command."""
        facts: dict[str, object] = {"node": self.console.host.name, "command": command}
        return self.console.api.cluster.fault(Point.SSH, facts)

    def sftp(self, channel: asyncssh.SSHServerChannel[bytes]) -> HostSftp:
        """What serves files over a channel."""
        files = self.files(str(channel.get_extra_info("username")))
        troubles = Troubles(self.fault, self.console.passing.wait)
        return HostSftp(channel, self.console.host, files, troubles)

    async def handle(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run the command of a session; without one, what comes from the input is run."""
        command = process.command
        program = (command or "shell").split(maxsplit=1)[0]  # its arguments may be secrets
        self.seen(f"{self.console.host.name} SSH {program}")
        fault = self.fault(command or "")
        streams = Streams(Wire(lambda: _all(process)))
        status = await self._status(process, streams, fault)
        if status is None:
            process.channel.get_connection().abort()
            return
        process.stdout.write(bytes(streams.out.content))
        process.stderr.write(bytes(streams.err.content))
        process.exit(status)

    async def _status(
        self, process: asyncssh.SSHServerProcess[bytes], streams: Streams, fault: Fault | None
    ) -> int | None:
        """How a command ends. None: the connection breaks."""
        if not self.console.host.has_power:
            return None
        if fault is not None and fault.effect in _BEFORE:
            return await _struck(fault, streams)
        if fault is not None and fault.effect is Effect.DELAY:
            await self.console.passing.wait(fault.seconds)
        status = await self._run(process, streams)
        if fault is None or fault.effect not in (Effect.DO_THEN_FAIL, Effect.DO_THEN_CUT):
            return status
        return await _struck(fault, streams)

    async def _run(self, process: asyncssh.SSHServerProcess[bytes], streams: Streams) -> int:
        user = str(process.get_extra_info("username"))
        files = self.files(user)
        variables = {"HOME": files.home, "USER": user, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        shell = Shell(files, HostPrograms(self.console), variables=variables)
        self.console.passing.catch_up()
        script = process.command
        if script is None:
            script = (await streams.source.read()).decode("utf-8", "surrogateescape")
        status = await shell.run(script, streams)
        self.console.passing.go_on()
        return status


class HostServer(asyncssh.SSHServer):
    """One connection: lets in who has a key of the lab, or the password of the system."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._listening.connections.add(conn)
        if not self._listening.console.host.has_power:
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._connection is not None:
            self._listening.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        del username
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        shown = " ".join(key.export_public_key().decode().split()[:2])
        state = self._listening.console.api.cluster.state
        return self._knows(username) and shown in authorized_keys(state)

    def validate_password(self, username: str, password: str) -> bool:
        access = self._listening.console.api.cluster.state.access
        try:
            check_password(access, f"{username}@pam", password)
        except ApiError:
            return False
        return self._knows(username)

    def _knows(self, username: str) -> bool:
        return username in self._listening.console.host.ssh_users


async def listening(console: Console, accepting: socket, seen: Callable[[str], None]) -> Listening:
    """A server on a socket that listens already."""
    listening = Listening(console, seen)
    cluster = console.api.cluster
    key = host_key(cluster.state, console.host, cluster.around.dice.seed)
    listening.acceptor = await asyncssh.listen(
        sock=accepting,
        server_factory=lambda: HostServer(listening),
        server_host_keys=[asyncssh.import_private_key(key.private)],
        process_factory=listening.handle,
        sftp_factory=listening.sftp,
        encoding=None,
        line_editor=False,
        agent_forwarding=False,
        config=None,
        server_version=_VERSIONS[cluster.state.profile],
    )
    return listening


async def _all(process: asyncssh.SSHServerProcess[bytes]) -> bytes:
    found = bytearray()
    while piece := await process.stdin.read(_PIECE):
        found += piece
        if len(found) > _MOST_INPUT:
            process.channel.get_connection().abort()
            await forever()
    return bytes(found)


async def _struck(fault: Fault, streams: Streams) -> int | None:
    match fault.effect:
        case Effect.CUT | Effect.DO_THEN_CUT:
            return None
        case Effect.HANG:
            await forever()
            return None
        case Effect.CLAIM:
            return 0
        case _:
            streams.err.write(f"{fault.message or 'got timeout'}\n")
            return fault.status or 1
