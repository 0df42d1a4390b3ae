"""Why a storage is not there: what a host says when it tries to activate one."""

from __future__ import annotations

from stockman_lab.pve.storage import Storage


def absence(storage: Storage) -> str:
    """What activation says of a storage without a pool. Empty: nothing, it is only inactive."""
    options = storage.options
    match storage.type:
        case "zfspool":
            pool = options.get("pool", "").split("/")[0]
            why = f"zfs error: cannot import '{pool}': no such pool available"
            return f"could not activate storage '{storage.id}', {why}"
        case "lvmthin":
            name = f"{options.get('vgname', '')}/{options.get('thinpool', '')}"
            return f"no such logical volume {name}"
        case "lvm" | "rbd":
            return ""
        case "dir" | "btrfs":
            return (
                f"unable to activate storage '{storage.id}' - "
                f"directory '{storage.path}' does not exist or is unreachable"
            )
        case "pbs":
            server = f"{options.get('server', '')}:{options.get('port', '8007')}"
            why = f"500 Can't connect to {server} (No route to host)"
            return f"{storage.id}: error fetching datastores - {why}"
        case _:
            return f"storage '{storage.id}' is not online"


def no_room_at_all(storage: Storage) -> str:
    """What allocation says where activation said nothing."""
    if storage.type == "lvm":
        return f"no such volume group '{storage.options.get('vgname', '')}'"
    return "rbd error: rbd: couldn't connect to the cluster!"
