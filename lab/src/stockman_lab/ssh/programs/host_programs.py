"""All programs of a host, by their names and places."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial

from stockman_lab.ssh.host_files import ROOT, FileTrouble
from stockman_lab.ssh.programs import folders
from stockman_lab.ssh.programs.console import Console
from stockman_lab.ssh.programs.pvesm import pct, pvesm
from stockman_lab.ssh.programs.qm import qm
from stockman_lab.ssh.shell.interpreter import Exit, Program, Shell
from stockman_lab.ssh.shell.streams import Streams

_FIRST_UID = 1000


async def true(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del shell, arguments, streams
    return 0


async def false(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del shell, arguments, streams
    return 1


async def echo(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del shell
    bare = arguments[:1] == ["-n"]
    streams.out.write(" ".join(arguments[1:] if bare else arguments) + ("" if bare else "\n"))
    return 0


async def leave(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del streams
    raise Exit(int(arguments[0]) & 0xFF if arguments and arguments[0].isdigit() else shell.status)


async def identity(shell: Shell, arguments: list[str], streams: Streams) -> int:
    user = shell.files.user
    number = 0 if user == ROOT else _FIRST_UID
    match arguments:
        case ["-u"]:
            streams.out.write(f"{number}\n")
        case ["-un"] | ["-u", "-n"]:
            streams.out.write(f"{user}\n")
        case []:
            shown = f"{number}({user})"
            streams.out.write(f"uid={shown} gid={shown} groups={shown}\n")
        case _:
            streams.err.write(f"id: not known in this lab: {shlex.join(arguments)}\n")
            return 1
    return 0


async def who_am_i(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del arguments
    streams.out.write(f"{shell.files.user}\n")
    return 0


async def cat(shell: Shell, arguments: list[str], streams: Streams) -> int:
    status = 0
    for path in arguments or ["-"]:
        try:
            streams.out.write(
                await streams.source.read() if path == "-" else shell.files.read(path)
            )
        except FileTrouble as trouble:
            streams.err.write(f"cat: {path}: {trouble.text}\n")
            status = 1
    return status


async def tee(shell: Shell, arguments: list[str], streams: Streams) -> int:
    append = arguments[:1] == ["-a"]
    content, status = await streams.source.read(), 0
    streams.out.write(content)
    for path in arguments[1:] if append else arguments:
        try:
            before = shell.files.read(path) if append and shell.files.is_file(path) else b""
            shell.files.write(path, before + content)
        except FileTrouble as trouble:
            streams.err.write(f"tee: {path}: {trouble.text}\n")
            status = 1
    return status


_BUILT_IN: dict[str, Program] = {
    ":": true,
    "echo": echo,
    "exit": leave,
    "false": false,
    "true": true,
}
_IN_BIN: dict[str, Program] = {
    "cat": cat,
    "chmod": folders.chmod,
    "echo": echo,
    "false": false,
    "id": identity,
    "ls": folders.ls,
    "mkdir": folders.mkdir,
    "rm": folders.rm,
    "stat": folders.stat,
    "tee": tee,
    "true": true,
    "whoami": who_am_i,
}
_BIN = ("/usr/bin/", "/bin/")
_SBIN = ("/usr/sbin/", "/sbin/")


@dataclass(slots=True)
class HostPrograms:
    """What can be run on a host."""

    console: Console

    def find(self, name: str) -> Program | None:
        if "/" not in name:
            return _BUILT_IN.get(name) or self._on_disk(name)
        for folder in (*_BIN, *_SBIN):
            bare = name.removeprefix(folder)
            if bare != name and "/" not in bare:
                return self._on_disk(bare, is_system=folder in _SBIN)
        return None

    def on_disk(self, name: str) -> Program | None:
        """A program that is a file, not part of the shell."""
        return self.find(name) if "/" in name else self._on_disk(name)

    def _on_disk(self, name: str, *, is_system: bool | None = None) -> Program | None:
        found = _IN_BIN.get(name) if not is_system else None
        if found is not None or is_system is True:
            return found or self._system(name)
        if name in ("bash", "sh"):
            return partial(_bash, f"/bin/{name}")
        if name == "sudo":
            return self._sudo
        if name == "hostname":
            return self._hostname
        return self._system(name) if is_system is None else None

    def _system(self, name: str) -> Program | None:
        tools = {"pct": pct, "pvesm": pvesm, "qm": qm}
        return partial(tools[name], self.console) if name in tools else None

    async def _hostname(self, shell: Shell, arguments: list[str], streams: Streams) -> int:
        del shell, arguments
        streams.out.write(f"{self.console.host.name}\n")
        return 0

    async def _sudo(self, shell: Shell, arguments: list[str], streams: Streams) -> int:
        """Run a program as root; everybody who may log in may do that without a password."""
        words = list(arguments)
        while words and words[0] in ("-n", "--non-interactive", "--"):
            words.pop(0)
        if not words or words[0].startswith("-"):
            streams.err.write("usage: sudo [-n] command [arg ...]\n")
            return 1
        program = self.on_disk(words[0])
        if program is None:
            streams.err.write(f"sudo: {words[0]}: command not found\n")
            return 1
        inner = Shell(shell.files.for_user(ROOT), self, shell.name, dict(shell.variables))
        return await program(inner, words[1:], streams)


async def _bash(name: str, shell: Shell, arguments: list[str], streams: Streams) -> int:
    """`bash -c SCRIPT`, or a script that is read from the input."""
    match arguments:
        case ["-c", script, *rest]:
            called = rest[0] if rest else name
            inner = Shell(shell.files, shell.programs, called, arguments=rest[1:])
        case [] | ["-s"]:
            script = (await streams.source.read()).decode("utf-8", "surrogateescape")
            inner = Shell(shell.files, shell.programs, name)
        case _:
            streams.err.write(f"{name}: not known in this lab: {' '.join(arguments)}\n")
            return 2
    inner.variables = dict(shell.variables)
    inner.depth = shell.depth + 1
    return await inner.run(script, streams)
