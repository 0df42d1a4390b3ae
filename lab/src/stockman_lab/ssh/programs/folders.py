"""Programs about files and folders: ls, stat, mkdir, chmod, rm."""

from __future__ import annotations

import stat as modes

from stockman_lab.ssh.host_files import MISSING, FileTrouble
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams


def _split(arguments: list[str]) -> tuple[set[str], list[str]]:
    flags = {
        letter
        for argument in arguments
        if argument.startswith("-") and argument not in ("-", "--")
        for letter in argument.lstrip("-")
    }
    return flags, [argument for argument in arguments if not argument.startswith("-")]


async def ls(shell: Shell, arguments: list[str], streams: Streams) -> int:
    flags, paths = _split(arguments)
    status = 0
    for path in paths or ["."]:
        try:
            is_folder = shell.files.facts(path).is_folder and "d" not in flags
            names = shell.files.listed(path) if is_folder else [path]
        except FileTrouble as trouble:
            streams.err.write(f"ls: cannot access '{path}': {trouble.text}\n")
            status = 2
            continue
        for name in names:
            full = f"{path.rstrip('/')}/{name}" if is_folder else path
            streams.out.write(_long(shell, full, name) if "l" in flags else f"{name}\n")
    return status


def _long(shell: Shell, path: str, name: str) -> str:
    facts = shell.files.facts(path)
    return f"{modes.filemode(facts.mode)} 1 root root {facts.size} {name}\n"


async def stat(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """`stat [-c FORMAT] PATH`: %s size, %a permissions, %n name, %F kind."""
    given = list(arguments)
    form = ""
    if given[:1] in (["-c"], ["--format"]) and len(given) > 1:
        form = given[1]
        given = given[2:]
    status = 0
    for path in given:
        try:
            facts = shell.files.facts(path)
        except FileTrouble as trouble:
            streams.err.write(f"stat: cannot statx '{path}': {trouble.text}\n")
            status = 1
            continue
        kind = "directory" if facts.is_folder else "regular file"
        shown = form or "  File: %n\n  Size: %s\t%F\nAccess: (%a)"
        values = {"%s": str(facts.size), "%n": path, "%F": kind, "%a": f"{facts.mode & 0o7777:o}"}
        for sign, value in values.items():
            shown = shown.replace(sign, value)
        streams.out.write(f"{shown}\n")
    return status


async def mkdir(shell: Shell, arguments: list[str], streams: Streams) -> int:
    flags, paths = _split(arguments)
    status = 0
    for path in paths:
        try:
            shell.files.make_folder(path, parents="p" in flags)
        except FileTrouble as trouble:
            streams.err.write(f"mkdir: cannot create directory '{path}': {trouble.text}\n")
            status = 1
    return status


async def chmod(shell: Shell, arguments: list[str], streams: Streams) -> int:
    mode, *paths = arguments or [""]
    if not mode or set(mode) - set("01234567"):
        streams.err.write(f"chmod: invalid mode: '{mode}'\n")
        return 1
    status = 0
    for path in paths:
        try:
            shell.files.change_mode(path, int(mode, 8))
        except FileTrouble as trouble:
            said = "cannot access" if trouble.text == MISSING else "changing permissions of"
            streams.err.write(f"chmod: {said} '{path}': {trouble.text}\n")
            status = 1
    return status


async def rm(shell: Shell, arguments: list[str], streams: Streams) -> int:
    flags, paths = _split(arguments)
    status = 0
    for path in paths:
        try:
            _remove(shell, path, with_folders=bool(flags & {"r", "R"}))
        except FileTrouble as trouble:
            if "f" in flags and trouble.text == MISSING:
                continue
            streams.err.write(f"rm: cannot remove '{path}': {trouble.text}\n")
            status = 1
    return status


def _remove(shell: Shell, path: str, *, with_folders: bool) -> None:
    files = shell.files
    if not (with_folders and files.facts(path).is_folder):
        files.remove(path)
        return
    for name in files.listed(path):
        _remove(shell, f"{path.rstrip('/')}/{name}", with_folders=True)
    files.remove_folder(path)
