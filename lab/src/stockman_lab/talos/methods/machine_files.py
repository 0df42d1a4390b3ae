"""The files of a machine that clients read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, streamed
from stockman_lab.talos.builds import build_of
from stockman_lab.talos.usage import uptime

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_CHUNK = 32 * 1024
_CHECKSUM = 32
"""Bytes at the end of a snapshot that the database file itself does not have."""
_OS_RELEASE = """NAME="Talos"
ID=talos
VERSION_ID={0}
PRETTY_NAME="Talos ({0})"
HOME_URL="https://www.talos.dev/"
BUG_REPORT_URL="https://github.com/siderolabs/talos/issues"
VENDOR_NAME="Sidero Labs"
VENDOR_URL="https://www.siderolabs.com/"
"""
_FILES: dict[str, Callable[[Machine], str]] = {
    "/etc/hostname": lambda machine: f"{machine.hostname}\n",
    "/etc/os-release": lambda machine: _OS_RELEASE.format(machine.version),
    "/etc/resolv.conf": lambda machine: "".join(
        f"nameserver {server}\n" for server in machine.state.network.resolvers
    ),
    "/proc/cmdline": lambda machine: " ".join(machine.state.cmdline) + "\n",
    "/proc/uptime": lambda machine: f"{uptime(machine):.2f} 0.00\n",
    "/proc/version": lambda machine: f"Linux version {build_of(machine).kernel} #1 SMP\n",
    "/proc/sys/kernel/random/boot_id": lambda machine: f"{machine.state.boot_id}\n",
}
_ETCD_DATA = "/var/lib/etcd"
_DIRECTORIES = ("/", "/etc", "/proc", "/var")


@streamed("machine.MachineService", "Read")
async def read_file(call: Call) -> AsyncIterator[Fields]:
    """The content of a file."""
    path = str(call.request.path)
    if path in _DIRECTORIES:
        raise Refusal(GrpcCode.UNKNOWN, "path must be a regular file")
    content = _content(call.machine, path)
    if content is None:
        raise Refusal(GrpcCode.NOT_FOUND, f"stat {path}: no such file or directory")
    for start in range(0, len(content), _CHUNK):
        yield {"bytes": content[start : start + _CHUNK]}


@streamed("machine.MachineService", "List")
async def list_files(call: Call) -> AsyncIterator[Fields]:
    """The files of a directory: of the data directory of etcd, all others are absent."""
    path = "/" + str(call.request.root).strip("/")
    names = _listing(call.machine, path)
    if names is None:
        raise Refusal(GrpcCode.UNKNOWN, f"lstat {path}: no such file or directory")
    for name in (".", *names):
        full = path if name == "." else f"{path}/{name}"
        yield {"name": full, "relative_name": name, "is_dir": True}


def _listing(machine: Machine, path: str) -> tuple[str, ...] | None:
    """The names in a directory. None: it does not exist."""
    disk = machine.disk
    # The volume is mounted, and its directory made, before etcd is prepared.
    etcd = machine.service("etcd")
    is_mounted = etcd is not None and etcd.state not in ("Initialized", "Waiting")
    if path != _ETCD_DATA or disk is None or not is_mounted:
        return None
    return ("member",) if disk.etcd else ()


def _content(machine: Machine, path: str) -> bytes | None:
    if path == "/var/lib/etcd/member/snap/db":
        return _etcd_database(machine)
    text = _FILES.get(path)
    return None if text is None else text(machine).encode()


def _etcd_database(machine: Machine) -> bytes | None:
    """The database file of etcd. None: the machine is not a member."""
    from stockman.etcd.snapshot import snapshot_pieces
    from stockman_lab.etcd.snapshots import content_of
    from stockman_lab.talos.etcd_member import cluster_of

    cluster = cluster_of(machine)
    if cluster is None:
        return None
    return b"".join(snapshot_pieces(content_of(cluster)))[:-_CHECKSUM]
