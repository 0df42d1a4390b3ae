"""Programs that are part of the shell, and who runs it."""

from __future__ import annotations

import shlex

from stockman_lab.ssh.host_files import ROOT
from stockman_lab.ssh.shell.interpreter import Exit, Shell
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
