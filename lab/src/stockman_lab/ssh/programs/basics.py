"""What the shell itself knows: echo, tests, options, who one is."""

from __future__ import annotations

import shlex

from stockman_lab.ssh.host_files import ROOT
from stockman_lab.ssh.shell.interpreter import Exit, Shell
from stockman_lab.ssh.shell.streams import Streams

_FIRST_UID = 1000
_LETTERS = "eu"


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


async def export(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Variables; all are seen by everything that is run here."""
    del streams
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if sign:
            shell.variables[name] = value
    return 0


async def set_options(shell: Shell, arguments: list[str], streams: Streams) -> int:
    given = list(arguments)
    while given:
        option = given.pop(0)
        chosen = {"-": shell.options.add, "+": shell.options.discard}.get(option[:1])
        if chosen is None or len(option) == 1:
            shell.complain(streams, f"set: {option}: not known in this lab")
            return 2
        for letter in option[1:]:
            if letter == "o" and given[:1] == ["pipefail"]:
                chosen(given.pop(0))
            elif letter in _LETTERS:
                chosen(letter)
            else:
                shell.complain(streams, f"set: -{letter}: invalid option")
                return 2
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


async def bracket(shell: Shell, arguments: list[str], streams: Streams) -> int:
    if arguments[-1:] != ["]"]:
        shell.complain(streams, "[: missing `]'")
        return 2
    return await test(shell, arguments[:-1], streams)


async def test(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Tests of texts, numbers and files."""
    if arguments[:1] == ["!"]:
        status = await test(shell, arguments[1:], streams)
        return status if status > 1 else 1 - status
    match arguments:
        case []:
            return 1
        case [text]:
            return int(not text)
        case [sign, text]:
            return _about(shell, sign, text, streams)
        case [left, sign, right]:
            return _compare(shell, left, sign, right, streams)
        case _:
            shell.complain(streams, "[: too many arguments")
            return 2


def _about(shell: Shell, sign: str, text: str, streams: Streams) -> int:
    match sign:
        case "-z":
            return int(bool(text))
        case "-n":
            return int(not text)
        case "-f":
            return int(not shell.files.is_file(text))
        case "-d":
            return int(not shell.files.is_folder(text))
        case "-e":
            return int(not (shell.files.is_file(text) or shell.files.is_folder(text)))
        case _:
            shell.complain(streams, f"[: {sign}: unary operator expected")
            return 2


_NUMBERS = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}


def _compare(shell: Shell, left: str, sign: str, right: str, streams: Streams) -> int:
    if sign in ("=", "=="):
        return int(left != right)
    if sign == "!=":
        return int(left == right)
    if sign not in _NUMBERS:
        shell.complain(streams, f"[: {sign}: binary operator expected")
        return 2
    for text in (left, right):
        if not text.lstrip("-").isdigit():
            shell.complain(streams, f"[: {text}: integer expression expected")
            return 2
    first, second = int(left), int(right)
    found = {
        "-eq": first == second,
        "-ne": first != second,
        "-lt": first < second,
        "-le": first <= second,
        "-gt": first > second,
        "-ge": first >= second,
    }[sign]
    return int(not found)
