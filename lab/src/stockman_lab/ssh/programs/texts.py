"""Programs that read and write texts: cat and tee."""

from __future__ import annotations

from stockman_lab.ssh.host_files import FileTrouble
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams


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
