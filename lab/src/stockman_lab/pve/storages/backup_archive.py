"""Archives of backups: the configuration of a guest and the content of its disks, as bytes."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field

from stockman_lab.core.saved import Unreadable, plain, restored
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die

_MARK = b"stockman:backup:1\n"


@dataclass(slots=True)
class SavedDisk:
    """One disk in a backup."""

    key: str
    """`scsi0`, `rootfs`."""
    volid: str
    format: str
    size: int
    used: int
    content: str = ""
    """The bytes that it began with, as base64. Empty: zeros."""
    contents: dict[str, object] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.content)


@dataclass(slots=True)
class Archive:
    """A guest as it was."""

    kind: str
    """`qemu` or `lxc`."""
    vmid: int
    text: str
    """Its configuration file."""
    values: dict[str, str] = field(default_factory=dict)
    disks: list[SavedDisk] = field(default_factory=list)


def packed_archive(archive: Archive) -> bytes:
    """The bytes of an archive, the same for the same guest."""
    text = json.dumps(plain(archive), sort_keys=True, separators=(",", ":"))
    return _MARK + zlib.compress(text.encode())


def read_archive(content: bytes) -> Archive:
    """The archive in bytes; raises `Unreadable` where they are something else."""
    if not content.startswith(_MARK):
        raise Unreadable("it is no backup of this world")
    try:
        data = json.loads(zlib.decompress(content.removeprefix(_MARK)))
    except (zlib.error, ValueError) as error:
        raise Unreadable(f"it is damaged ({error})") from None
    return restored(Archive, data)


def archive_of(cluster: Cluster, host: str, volid: str) -> Archive:
    """The archive of a backup as a host sees it; refused where there is none."""
    volume = space.find(cluster, host, volid)
    if volume is None:
        raise die(f"can't find file '{volid}'")
    try:
        return read_archive(cluster.around.blobs.get(volume.blob))
    except Unreadable:
        raise die("unable to read vma archive: invalid header") from None
