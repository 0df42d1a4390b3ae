"""The cloud-init drive of a machine: made anew at every start, and kept with its volume."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from stockman_lab.pve import space
from stockman_lab.pve.cloudinit.drive import drive as make_drive
from stockman_lab.pve.cloudinit.drive import dump
from stockman_lab.pve.cloudinit.settings import CloudInitError, Resolver, Settings
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import die
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import has_cloud_init
from stockman_lab.pve.host import Host
from stockman_lab.pve.storage import Volume

_FILES = "cloud-init"


def settings_of(cluster: Cluster, guest: Guest) -> Settings:
    """What the drive is made of."""
    host = cluster.state.hosts[guest.node]
    return Settings(vmid=guest.vmid, values=guest.config.values, resolver=_resolver(host))


def _resolver(host: Host) -> Resolver:
    servers = tuple(host.dns[key] for key in ("dns1", "dns2", "dns3") if host.dns.get(key))
    return Resolver(servers=servers, search=host.dns.get("search", ""))


def regenerate(cluster: Cluster, guest: Guest) -> None:
    """Write the drive anew, where there is one; the machine's values are then all known to it."""
    key = has_cloud_init(guest.config.values)
    if not key:
        return
    volume = space.find(cluster, guest.node, guest.config.values[key].split(",")[0])

    def snippet(volid: str) -> bytes:
        return _snippet(cluster, guest, volid)

    try:
        drive = make_drive(settings_of(cluster, guest), snippet)
    except CloudInitError as error:
        raise die(str(error)) from None
    if volume is not None:
        volume.contents[_FILES] = {
            path: base64.b64encode(content).decode() for path, content in drive.files.items()
        }
    guest.config.cloud_init.clear()


def _snippet(cluster: Cluster, guest: Guest, volid: str) -> bytes:
    storage_id, _, name = volid.partition(":")
    storage = space.usable(cluster, storage_id, cluster.state.hosts[guest.node])
    found = space.find(cluster, guest.node, volid)
    if found is None:
        raise die(f"can't open '{storage.path}/{name}' - No such file or directory")
    return cluster.around.blobs.get(found.blob)


def kept_files(volume: Volume) -> dict[str, bytes] | None:
    """The files on a drive. None: nobody wrote any yet."""
    kept = volume.contents.get(_FILES)
    if not isinstance(kept, Mapping):
        return None
    return {str(path): base64.b64decode(str(content)) for path, content in kept.items()}


def dump_text(cluster: Cluster, guest: Guest, kind: str) -> str:
    """The text of one file, as it would be made now."""
    try:
        return dump(settings_of(cluster, guest), kind)
    except CloudInitError as error:
        raise die(str(error)) from None
