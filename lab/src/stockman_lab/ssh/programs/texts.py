"""Programs that read and change texts: cat, tee, grep, cut, wc, sed."""

from __future__ import annotations

import re

from stockman_lab.ssh.host_files import FileTrouble
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams

_ENCODING = ("utf-8", "surrogateescape")
_LINE_FEED = b"\n"
_DELETION = re.compile(r"/((?:[^/\\]|\\.)*)/d")


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


async def grep(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Lines in which a text is; a pattern is a regular expression of the basic kind."""
    flags, rest = _flags(arguments)
    if not rest or flags - set("qvci"):
        streams.err.write("grep: not known in this lab\n")
        return 2
    pattern = _pattern(rest[0], re.IGNORECASE if "i" in flags else 0)
    if pattern is None:
        streams.err.write("grep: Invalid regular expression\n")
        return 2
    lines: list[str] = []
    try:
        contents = [shell.files.read(path) for path in rest[1:]] or [await streams.source.read()]
    except FileTrouble as trouble:
        streams.err.write(f"grep: {rest[1]}: {trouble.text}\n")
        return 2
    for content in contents:
        lines += content.decode(*_ENCODING).splitlines()
    found = [line for line in lines if bool(pattern.search(line)) != ("v" in flags)]
    if "c" in flags:
        streams.out.write(f"{len(found)}\n")
    elif "q" not in flags:
        streams.out.write("".join(f"{line}\n" for line in found))
    return int(not found)


async def cut(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Fields of lines; lines without the separator are printed whole."""
    del shell
    separator, number = "\t", 0
    given = list(arguments)
    while given:
        option = given.pop(0)
        value = option[2:] or (given.pop(0) if given else "")
        if option.startswith("-d") and len(value) == 1:
            separator = value
        elif option.startswith("-f") and value.isdigit() and int(value):
            number = int(value)
        else:
            streams.err.write(f"cut: not known in this lab: {option} {value}\n")
            return 1
    if not number:
        streams.err.write("cut: you must specify a list of bytes, characters, or fields\n")
        return 1
    for line in (await streams.source.read()).decode(*_ENCODING).splitlines():
        fields = line.split(separator)
        shown = line if len(fields) == 1 else "".join(fields[number - 1 : number])
        streams.out.write(f"{shown}\n")
    return 0


async def wc(shell: Shell, arguments: list[str], streams: Streams) -> int:
    del shell
    content = await streams.source.read()
    match arguments:
        case ["-l"]:
            streams.out.write(f"{content.count(_LINE_FEED)}\n")
        case ["-c"]:
            streams.out.write(f"{len(content)}\n")
        case _:
            streams.err.write("wc: not known in this lab\n")
            return 1
    return 0


async def sed(shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Deletes lines: `sed [-i] '/pattern/d' [FILE]`."""
    in_place = arguments[:1] == ["-i"]
    given = arguments[1:] if in_place else arguments
    script, paths = (given[0] if given else ""), given[1:]
    deletion = _DELETION.fullmatch(script)
    pattern = _pattern(deletion[1]) if deletion is not None else None
    if pattern is None or len(paths) > 1 or (in_place and not paths):
        streams.err.write(f"sed: not known in this lab: {script}\n")
        return 1
    try:
        content = shell.files.read(paths[0]) if paths else await streams.source.read()
        lines = content.decode(*_ENCODING).splitlines(keepends=True)
        kept = "".join(line for line in lines if not pattern.search(line.rstrip("\n")))
        if in_place:
            shell.files.write(paths[0], kept.encode(*_ENCODING))
        else:
            streams.out.write(kept)
    except FileTrouble as trouble:
        streams.err.write(f"sed: can't read {paths[0]}: {trouble.text}\n")
        return 2
    return 0


def _flags(arguments: list[str]) -> tuple[set[str], list[str]]:
    flags: set[str] = set()
    rest = list(arguments)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        flags |= set(rest.pop(0)[1:])
    return flags, rest


def _pattern(text: str, flags: int = 0) -> re.Pattern[str] | None:
    """A basic regular expression, in which brackets and such are characters. None: it is none."""
    try:
        return re.compile(re.sub(r"(?<!\\)([(){}|+?])", r"\\\1", text), flags)
    except re.error:
        return None
