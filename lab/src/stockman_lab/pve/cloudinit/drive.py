"""The drive: which files it holds, as whose label, and its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from stockman.talos.nocloud.iso_writer import LABEL, nocloud_image
from stockman_lab.pve.cloudinit.network_config import network_version_1
from stockman_lab.pve.cloudinit.settings import CloudInitError, Settings, pairs
from stockman_lab.pve.cloudinit.user_data import user_data

SIZE = 4 << 20
"""Bytes of the volume, whatever is on it."""
_MOST = 3 << 20
_PARTS = ("user", "network", "meta", "vendor")

Snippet: TypeAlias = Callable[[str], bytes]
"""The content of a snippet by its volume id.

Where there is none it raises what Proxmox VE says: `can't find file 'local:snippets/a.yaml'`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A drive, before it is bytes."""

    label: str
    files: dict[str, bytes]
    """By path, `user-data`."""

    def image(self, moment: datetime) -> bytes:
        """The bytes of the volume: an ISO image, and zeros up to its size."""
        return nocloud_image(self.files, moment).ljust(SIZE, b"\x00")


def drive(settings: Settings, snippet: Snippet) -> Drive:
    """What is on the drive of a VM when it is made now."""
    own = _snippets(settings, snippet)
    settings.require_nocloud()
    user = own.get("user", user_data(settings).encode())
    network = own["network"] if "network" in own else network_version_1(settings).encode()
    meta = own.get("meta", f"instance-id: {_instance(user, network)}\n".encode())
    vendor = own.get("vendor", b"")
    return _checked(
        LABEL,
        {"user-data": user, "network-config": network, "meta-data": meta, "vendor-data": vendor},
    )


def _snippets(settings: Settings, snippet: Snippet) -> dict[str, bytes]:
    snippets = {}
    for name, volume in pairs(settings.get("cicustom") or "").items():
        if name in _PARTS and volume:
            if not volume.partition(":")[2].startswith("snippets/"):
                raise CloudInitError(f"{volume} is not in the snippets directory")
            snippets[name] = snippet(volume)
    return snippets


def _instance(user: bytes, network: bytes) -> str:
    return hashlib.sha1(user + network, usedforsecurity=False).hexdigest()


def _checked(label: str, files: dict[str, bytes]) -> Drive:
    if sum(map(len, files.values())) > _MOST:
        raise CloudInitError("Cloud-Init sum of snippets too big (> 3 MiB)")
    return Drive(label=label, files=files)


def dump(settings: Settings, kind: str, *, mask_password: bool = False) -> str:
    """What `cloudinit/dump` shows: generated texts, whatever `cicustom` says."""
    settings.require_nocloud()
    if kind == "user":
        return user_data(settings, mask_password=mask_password)
    network = network_version_1(settings)
    if kind == "network":
        return network
    return f"instance-id: {_instance(user_data(settings).encode(), network.encode())}\n"
