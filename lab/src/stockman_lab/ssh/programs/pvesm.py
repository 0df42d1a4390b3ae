"""`pvesm`: storages on the command line."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import parse_volume_id
from stockman_lab.pve.storages.places import path_of
from stockman_lab.ssh.programs.console import FAILED, Console, is_refused_to, refused
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
