"""`qm`: virtual machines on the command line."""

from __future__ import annotations

from stockman_lab.pve.errors import ApiError
from stockman_lab.ssh.programs.console import FAILED, Console, is_refused_to, options, refused
from stockman_lab.ssh.programs.pvesm import unlock
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams

_USAGE = "USAGE: qm <COMMAND> [ARGS] [OPTIONS]\n"
_MISSING = "property is missing and it is not optional"


async def qm(console: Console, shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Settings and disks of machines; anything else is not known here."""
    if is_refused_to(shell, streams):
        return FAILED
    words = list(arguments)
    command = words.pop(0) if words else ""
    if command == "disk" and words:
        command = f"disk {words.pop(0)}"
    try:
        match command:
            case "set":
                return await _set(console, words, streams)
            case "config":
                return await _config(console, words, streams)
            case "status":
                return await _status(console, words, streams)
            case "unlock":
                return _unlock(console, words)
            case "destroy":
                return await _destroy(console, words, streams)
            case "resize" | "disk resize":
                return await _resize(console, words, streams)
            case "help" | "--help":
                streams.out.write(_USAGE)
                return 0
    except ApiError as error:
        return refused(error, streams)
    streams.err.write(f"ERROR: unknown command 'qm {command}'\n{_USAGE}")
    return FAILED


def _arguments_by_name(texts: list[str], *names: str) -> dict[str, object]:
    """Arguments by the names that they have in their places."""
    bare, named = options(texts)
    missing = {name: _MISSING for name in names[len(bare) :] if name not in named}
    if missing:
        raise ApiError(400, "not enough arguments")
    if len(bare) > len(names):
        raise ApiError(400, "too many arguments")
    return {**dict(zip(names, bare, strict=False)), **named}


async def _set(console: Console, texts: list[str], streams: Streams) -> int:
    given = _arguments_by_name(texts, "vmid")
    vmid = given.pop("vmid")
    await console.ask("PUT", f"/nodes/{console.host.name}/qemu/{vmid}/config", given)
    shown = " ".join(f"-{name} {value}" for name, value in sorted(given.items()))
    streams.out.write(f"update VM {vmid}: {shown}\n")
    return 0


async def _config(console: Console, texts: list[str], streams: Streams) -> int:
    vmid = _arguments_by_name(texts, "vmid")["vmid"]
    found = await console.ask("GET", f"/nodes/{console.host.name}/qemu/{vmid}/config", {})
    for name, value in sorted(dict(found).items()):  # type: ignore[call-overload]
        if name != "digest":
            streams.out.write(f"{name}: {value}\n")
    return 0


async def _status(console: Console, texts: list[str], streams: Streams) -> int:
    vmid = _arguments_by_name(texts, "vmid")["vmid"]
    path = f"/nodes/{console.host.name}/qemu/{vmid}/status/current"
    found = await console.ask("GET", path, {})
    streams.out.write(f"status: {dict(found)['status']}\n")  # type: ignore[call-overload]
    return 0


def _unlock(console: Console, texts: list[str]) -> int:
    unlock(console, "qemu", str(_arguments_by_name(texts, "vmid")["vmid"]))
    return 0


async def _destroy(console: Console, texts: list[str], streams: Streams) -> int:
    given = _arguments_by_name(texts, "vmid")
    path = f"/nodes/{console.host.name}/qemu/{given.pop('vmid')}"
    return await console.ended(str(await console.ask("DELETE", path, given)), streams)


async def _resize(console: Console, texts: list[str], streams: Streams) -> int:
    given = _arguments_by_name(texts, "vmid", "disk", "size")
    vmid = given.pop("vmid")
    path = f"/nodes/{console.host.name}/qemu/{vmid}/resize"
    upid = await console.ask("PUT", path, given)
    return await console.ended(str(upid), streams)
