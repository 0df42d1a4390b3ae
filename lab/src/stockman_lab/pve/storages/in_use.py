"""Which guest has a volume in hand."""

from __future__ import annotations

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.volume import Volume


def running_user(cluster: Cluster, volume: Volume) -> Guest | None:
    """A running guest with a volume among its disks; None: there is none."""
    for guest in cluster.state.guests.values():
        if not guest.is_running or volume.host not in ("", guest.node):
            continue
        for value in guest.config.values.values():
            if value.removeprefix("file=").split(",", 1)[0] == volume.id:
                return guest
    return None


def busy_text(storage: Storage, volume: Volume) -> str:
    """How a storage refuses to destroy what somebody has open. Empty: it does not mind."""
    options = storage.options
    match storage.type:
        case "zfspool":
            where = f"{options['pool']}/{volume.name.rpartition('/')[2]}"
            return f"zfs error: cannot destroy '{where}': dataset is busy"
        case "lvm" | "lvmthin":
            where = f"{options['vgname']}/{volume.name}"
            return f"lvremove '{where}' error:   Logical volume {where} in use."
        case "rbd":
            name = volume.name.rpartition("/")[2]
            return f"rbd rm '{name}' error: rbd: error: image still has watchers"
        case _:
            return ""
