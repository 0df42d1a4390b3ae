"""Where storages and volumes are: paths, pools, and volumes that outlive their configuration."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.formats.volume_name import FOLDERS, parse_volume_name
from stockman_lab.pve.host import GIB, Host, Pool
from stockman_lab.pve.space import absence
from stockman_lab.pve.storage import Storage


def folder_of(storage: Storage, content: str) -> str:
    """The folder that a file storage keeps a kind of content in."""
    return f"{storage.path}/{_overrides(storage).get(content, FOLDERS[content])}"


def path_of(storage: Storage, name: str) -> str:
    """The path of a volume; raises `FormatError` where the name is none."""
    parsed = parse_volume_name(storage.type, name)
    options = storage.options
    if storage.is_files:
        owner = f"/{parsed.owner}" if parsed.content == "images" else ""
        return f"{folder_of(storage, parsed.content)}{owner}/{parsed.name}"
    match storage.type:
        case "zfspool" if parsed.format == "subvol":
            mounted = options.get("mountpoint", f"/{options['pool']}")
            return f"{mounted}/{parsed.name}"
        case "zfspool":
            return f"/dev/zvol/{options['pool']}/{parsed.name}"
        case "lvm" | "lvmthin":
            return f"/dev/{options['vgname']}/{parsed.name}"
        case "rbd":
            return _rbd(storage, parsed.name)
        case "pbs":
            return _backup_server(storage, parsed.name)
        case _:
            return f"/dev/disk/by-id/{parsed.name}"


def _overrides(storage: Storage) -> dict[str, str]:
    content_dirs = storage.options.get("content-dirs", "")
    return dict(
        content_dir.split("=", 1) for content_dir in content_dirs.split(",") if "=" in content_dir
    )


def _rbd(storage: Storage, name: str) -> str:
    options = storage.options
    pool = "/".join(filter(None, (options.get("pool", "rbd"), options.get("namespace", ""))))
    if options.get("krbd") == "1":
        return f"/dev/rbd/{pool}/{name}"
    config = "/etc/pve/ceph.conf"
    if "monhost" not in options:
        return f"rbd:{pool}/{name}:conf={config}"
    hosts = ";".join(options["monhost"].replace(",", " ").split()).replace(":", "\\:")
    user = options.get("username", "admin")
    keyring = f"/etc/pve/priv/ceph/{storage.id}.keyring"
    return f"rbd:{pool}/{name}:mon_host={hosts}:auth_supported=cephx:id={user}:keyring={keyring}"


def _backup_server(storage: Storage, name: str) -> str:
    options = storage.options
    user = options.get("username", "root@pam")
    port = f":{options['port']}" if options.get("port", "8007") != "8007" else ""
    space = options.get("namespace", "").replace("/", "%2f")
    shown = f"?ns={space}" if space else ""
    return f"pbs://{user}@{options['server']}{port}:{options['datastore']}/{name}{shown}"


_REMOTE_SIZE = 8 * 1024 * GIB
_REMOTE = frozenset({"nfs", "cifs", "pbs", "cephfs"})


def location(storage: Storage) -> str:
    """What two storages have in common whose volumes are the same."""
    options = storage.options
    if storage.type == "zfspool":
        return f"zfs:{options.get('pool', '')}"
    if storage.type == "rbd":
        return f"{storage.pool}/{options.get('namespace', '')}"
    return storage.pool


def reach(cluster: Cluster, storage: Storage) -> None:
    """Let the server be there that a storage names: in the world it answers from now on."""
    remote = storage.type in _REMOTE or (storage.type == "rbd" and "monhost" in storage.options)
    if remote and storage.pool not in cluster.state.pools:
        cluster.state.pools[storage.pool] = Pool(storage.pool, _REMOTE_SIZE)


def activation_problem(cluster: Cluster, storage: Storage, host: Host) -> str:
    """Why a host cannot work with a storage. Empty: it can, or will not find out yet."""
    if storage.type in ("dir", "btrfs"):
        return _directory_problem(cluster, storage, host)
    return absence(storage) if space.pool_of(cluster, storage, host) is None else ""


def _directory_problem(cluster: Cluster, storage: Storage, host: Host) -> str:
    mounted = storage.options.get("is_mountpoint", "no")
    if mounted not in ("no", "0", "off", "false"):
        where = storage.path if mounted in ("yes", "1", "on", "true") else mounted
        if f"fs:{where}" not in host.pools:
            return (
                f"unable to activate storage '{storage.id}' - "
                f"directory is expected to be a mount point but is not mounted: '{where}'"
            )
    options = storage.options
    makes = options.get("create-base-path", options.get("mkdir", "1")) != "0"
    return "" if makes or directory_exists(cluster, host, storage.path) else absence(storage)


def directory_exists(cluster: Cluster, host: Host, path: str) -> bool:
    """Whether a host has a folder."""
    state = cluster.state
    known = [pool.removeprefix("fs:") for pool in host.pools if pool.startswith("fs:")]
    known += host.directories
    storages = (*state.storages.values(), *state.removed_storages.values())
    known += [storage.path for storage in storages if storage.is_on(host.name) and storage.path]
    return any(f"{one.rstrip('/')}/".startswith(f"{path.rstrip('/')}/") for one in known)


def set_aside(cluster: Cluster, storage: Storage) -> None:
    """Keep the volumes of a storage that goes where they are: others may be there too."""
    state = cluster.state
    if not any(volume.storage == storage.id for volume in state.volumes.values()):
        return
    for other in state.storages.values():
        if other.id != storage.id and _is_same_place(storage, other):
            _rename(cluster, storage.id, other.id)
            return
    numbers = (int(name[1:]) for name in state.removed_storages)
    hidden = f"?{max(numbers, default=0) + 1}"
    _rename(cluster, storage.id, hidden)
    state.removed_storages[hidden] = Storage(hidden, storage.type, dict(storage.options))


def find_again(cluster: Cluster, storage: Storage) -> None:
    """Give a storage the volumes that were left where it is now."""
    for hidden, left in list(cluster.state.removed_storages.items()):
        if _is_same_place(left, storage):
            _rename(cluster, hidden, storage.id)
            del cluster.state.removed_storages[hidden]


def _is_same_place(one: Storage, other: Storage) -> bool:
    return location(one) == location(other) and one.is_shared == other.is_shared


def share(cluster: Cluster, storage: Storage, *, was_shared: bool) -> None:
    """Volumes of a storage after it was declared to be shared, or no longer to be."""
    if was_shared == storage.is_shared:
        return
    hosts = [host for host in cluster.state.hosts if storage.is_on(host)]
    volumes = cluster.state.volumes
    for place, volume in list(volumes.items()):
        if volume.storage != storage.id:
            continue
        moved = f"{'' if storage.is_shared else hosts[0]}/{volume.id}" if hosts else place
        if moved in volumes:
            continue
        del volumes[place]
        volume.host = "" if storage.is_shared else hosts[0]
        volumes[moved] = volume


def _rename(cluster: Cluster, old: str, new: str) -> None:
    volumes = cluster.state.volumes
    for place, volume in list(volumes.items()):
        if volume.storage == old:
            del volumes[place]
            volume.storage = new
            if f"{volume.host}/{volume.id}" in volumes:
                cluster.around.blobs.release(volume.blob)
                continue
            volumes[f"{volume.host}/{volume.id}"] = volume
