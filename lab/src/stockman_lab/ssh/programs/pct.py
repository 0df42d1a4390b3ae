"""`pct`: containers on the command line, and a look into those that run."""

from __future__ import annotations

from stockman_lab.pve.errors import ApiError, die
from stockman_lab.pve.guest import Guest
from stockman_lab.ssh.programs.console import FAILED, Console, is_refused_to, options, refused
from stockman_lab.ssh.programs.pvesm import unlock
from stockman_lab.ssh.shell.interpreter import NOT_FOUND, Shell
from stockman_lab.ssh.shell.streams import Streams

_USAGE = "USAGE: pct <COMMAND> [ARGS] [OPTIONS]\n"
_FIRST_ID, _IDS = 100_000, 65_536
_EVERYBODY = 4_294_967_295


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
            case ["exec", vmid, "--", *command] | ["exec", vmid, *command] if command:
                return _inside(console, vmid, command, streams)
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


def _inside(console: Console, vmid: str, command: list[str], streams: Streams) -> int:
    number = int(vmid) if vmid.isdigit() else 0
    guest = console.api.cluster.guest(console.host.name, number, "lxc")
    if not guest.is_running:
        raise die(f"container '{vmid}' not running!")
    program, *paths = command
    if program != "cat":
        streams.err.write(
            f"lxc-attach: {vmid}: attach.c: lxc_attach_run_command: 1841 No such file or directory"
            f' - Failed to exec "{program}"\n'
        )
        return NOT_FOUND
    status = 0
    for path in paths:
        content = _files(guest).get(path)
        if content is None:
            streams.err.write(f"cat: can't open '{path}': No such file or directory\n")
            status = 1
        else:
            streams.out.write(content)
    return status


def _files(guest: Guest) -> dict[str, str]:
    return {
        "/etc/hostname": f"{guest.name}\n",
        "/proc/self/uid_map": _map(guest, "u"),
        "/proc/self/gid_map": _map(guest, "g"),
    }


def _map(guest: Guest, kind: str) -> str:
    """Whose numbers inside are which outside, as the kernel prints it."""
    rows = [value.split()[1:] for name, value in guest.config.raw if _is_map(name, value, kind)]
    if not rows:
        unprivileged = guest.config.values.get("unprivileged") == "1"
        rows = [["0", str(_FIRST_ID), str(_IDS)] if unprivileged else ["0", "0", str(_EVERYBODY)]]
    return "".join("".join(f"{number:>11}" for number in row)[1:] + "\n" for row in rows)


def _is_map(name: str, value: str, kind: str) -> bool:
    return name == "lxc.idmap" and value.startswith(f"{kind} ")
