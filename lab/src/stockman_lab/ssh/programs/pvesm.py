"""`pvesm`: storages on the command line."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import parse_volume_id
from stockman_lab.pve.storages.places import path_of
from stockman_lab.ssh.programs.console import FAILED, Console, is_refused_to, options, refused
from stockman_lab.ssh.shell.interpreter import Shell
from stockman_lab.ssh.shell.streams import Streams


def unlock(console: Console, kind: str, vmid: str) -> None:
    """Let a guest go of whatever lock it has; raises `ApiError` where there is no such guest."""
    number = int(vmid) if vmid.isdigit() else 0
    console.passing.catch_up()
    cluster = console.api.cluster
    guest = cluster.guest(console.host.name, number, kind)
    if guest.config.values.pop("lock", None) is not None:
        guest.changed_at = cluster.now
        cluster.changed()


_VERSIONS = {"8.4": (11, 2), "9.1": (13, 4)}
_USAGE = "USAGE: pvesm <COMMAND> [ARGS] [OPTIONS]\n"


async def pvesm(console: Console, shell: Shell, arguments: list[str], streams: Streams) -> int:
    """Paths of volumes, and which interface plugins are written for."""
    if is_refused_to(shell, streams):
        return FAILED
    match arguments:
        case ["path", volid]:
            return _path(console, volid, streams)
        case ["apiinfo"]:
            version, age = _VERSIONS[console.api.cluster.state.profile]
            streams.out.write(f"APIVER {version}\nAPIAGE {age}\n")
            return 0
        case ["help"] | ["--help"]:
            streams.out.write(_USAGE)
            return 0
        case _:
            text = " ".join(["pvesm", *arguments[:1]])
            streams.err.write(f"ERROR: unknown command '{text}'\n{_USAGE}")
            return FAILED


def _path(console: Console, volid: str, streams: Streams) -> int:
    try:
        streams.out.write(f"{volume_path(console, volid)}\n")
    except ApiError as error:
        return refused(error, streams)
    return 0


def volume_path(console: Console, volid: str) -> str:
    """Where a volume is, whether it exists or not."""
    try:
        storage_id, name = parse_volume_id(volid)
    except FormatError as error:
        raise bad_parameters({"volume": f"invalid format - {error.message}"}) from None
    storage = space.find_storage(console.api.cluster, storage_id)
    try:
        return path_of(storage, name)
    except FormatError as error:
        raise die(error.message) from None


_USAGE_PCT = "USAGE: pct <COMMAND> [ARGS] [OPTIONS]\n"
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
                streams.out.write(_USAGE_PCT)
                return 0
    except ApiError as error:
        return refused(error, streams)
    streams.err.write(f"ERROR: unknown command 'pct {' '.join(arguments[:1])}'\n{_USAGE_PCT}")
    return FAILED


async def _config(console: Console, vmid: str, streams: Streams) -> int:
    found = await console.ask("GET", f"/nodes/{console.host.name}/lxc/{vmid}/config", {})
    for name, value in sorted(dict(found).items()):  # type: ignore[call-overload]
        if name not in ("digest", "lxc"):
            streams.out.write(f"{name}: {value}\n")
    for name, value in dict(found).get("lxc", ()):  # type: ignore[call-overload]
        streams.out.write(f"{name}: {value}\n")
    return 0
