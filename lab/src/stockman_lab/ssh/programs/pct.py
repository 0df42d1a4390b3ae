"""`pct`: containers on the command line."""

from __future__ import annotations

from stockman_lab.pve.errors import ApiError
from stockman_lab.ssh.programs.console import FAILED, Console, is_refused_to, options, refused
from stockman_lab.ssh.programs.pvesm import unlock
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams

_USAGE = "USAGE: pct <COMMAND> [ARGS] [OPTIONS]\n"
_FIRST_ID, _IDS = 100_000, 65_536


async def pct(console: Console, shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Configurations, states, and files of containers; anything else is not known here."""
    if is_refused_to(shell, streams):
        return FAILED
    try:
        match arguments:
            case ["config", vmid]:
                return await _config(console, vmid, streams)
            case ["status", vmid]:
                path = f"/nodes/{console.host.name}/lxc/{vmid}/status/current"
                found = await console.ask("GET", path, {})
                streams.out.write(f"status: {dict(found)['status']}\n")  # type: ignore[call-overload]
                return 0
            case ["unlock", vmid]:
                unlock(console, "lxc", vmid)
                return 0
            case ["destroy", *words] if words:
                (vmid, *_), given = options(words)
                path = f"/nodes/{console.host.name}/lxc/{vmid}"
                upid = await console.ask("DELETE", path, given)
                return await console.ended(str(upid), streams)
            case ["help"] | ["--help"]:
                streams.out.write(_USAGE)
                return 0
    except ApiError as error:
        return refused(error, streams)
    streams.err.write(f"ERROR: unknown command 'pct {' '.join(arguments[:1])}'\n{_USAGE}")
    return FAILED


async def _config(console: Console, vmid: str, streams: Streams) -> int:
    found = await console.ask("GET", f"/nodes/{console.host.name}/lxc/{vmid}/config", {})
    for name, value in sorted(dict(found).items()):  # type: ignore[call-overload]
        if name not in ("digest", "lxc"):
            streams.out.write(f"{name}: {value}\n")
    for name, value in dict(found).get("lxc", ()):  # type: ignore[call-overload]
        streams.out.write(f"{name}: {value}\n")
    return 0
