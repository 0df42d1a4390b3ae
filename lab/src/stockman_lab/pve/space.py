"""Space of storages: where volumes are, how much they take, and when there is no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.host import Host, Pool
from stockman_lab.pve.storage import Storage, Volume

PATIENCE = 10.0
LONGEST_WORK = 60.0
"""Seconds after which work under a lock of the cluster is given up."""
_LOCAL, _SHARED = 0.1, 0.25
"""Seconds that an allocation holds a lock."""


class StorageBusy(ApiError):
    """A lock that was not to be had."""


def lock_wait(cluster: Cluster, storage: Storage, host: str) -> float:
    """Seconds until the lock of a storage is free."""
    until = cluster.state.storage_locks.get(_place(storage, host), 0.0)
    return max(until - cluster.now, 0.0)


def take_lock(cluster: Cluster, storage: Storage, host: Host, held: float | None = None) -> float:
    """Queue for the lock of a storage; returns seconds until the work under it is done.

    The lock of a shared storage belongs to the cluster, and is not to be had without quorum.
    """
    if storage.is_shared:
        cluster.require_quorum(f"storage-{storage.id}")
    waited = lock_wait(cluster, storage, host.name)
    if waited > PATIENCE:
        raise StorageBusy(500, _timeout(storage))
    return waited + hold_lock(cluster, storage, host.name, held)


def hold_lock(cluster: Cluster, storage: Storage, host: str, held: float | None = None) -> float:
    """Keep a storage busy after all who wait for it already; returns for how long."""
    seconds = (_SHARED if storage.is_shared else _LOCAL) if held is None else held
    place = _place(storage, host)
    begins = max(cluster.state.storage_locks.get(place, 0.0), cluster.now)
    cluster.state.storage_locks[place] = begins + seconds
    return seconds


def work_timeout(storage: Storage) -> ApiError:
    """What work says that took too long under a lock of the cluster."""
    return ApiError(500, f"'storage-{storage.id}'-locked command timed out - aborting")


def _place(storage: Storage, host: str) -> str:
    return f"{'' if storage.is_shared else host}/{storage.id}"


def _timeout(storage: Storage) -> str:
    if storage.is_shared:
        return f"cfs-lock 'storage-{storage.id}' error: got lock request timeout"
    return f"can't lock file '/var/lock/pve-manager/pve-storage-{storage.id}' - got timeout"


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


_UNITS = {"zfspool": 1 << 20, "rbd": 1 << 20, "lvm": 4 << 20, "lvmthin": 4 << 20}
_SECTOR = 512


def given_size(storage_type: str, form: str, size: int) -> int:
    """Bytes of a new volume that was asked for with so many."""
    if form == "subvol":
        return size
    unit = _UNITS.get(storage_type, _SECTOR)
    return -(-size // unit) * unit


_DISKS = frozenset({"images", "rootdir"})
_FOREVER = 86_400.0
_LARGEST = 1 << 60
"""Bytes of a volume: no storage makes a larger one, though it only promised the space."""
THIN = frozenset({"lvmthin", "rbd"})
"""Storages whose volumes take only what was written."""


Taken: TypeAlias = dict[tuple[str, str], int]
"""Bytes by storage and host; the host is empty where the storage is shared."""


@dataclass(slots=True)
class Space:
    """Bytes of a storage on one host."""

    total: int
    used: int

    @property
    def avail(self) -> int:
        return max(self.total - self.used, 0)


@dataclass(slots=True)
class NewVolume:
    """What a volume is to be."""

    name: str
    content: str
    format: str
    size: int
    vmid: int = 0
    written: int = 0
    """Bytes that it begins with."""
    blob: str = ""
    parent: str = ""


def find_storage(cluster: Cluster, storage: str) -> Storage:
    """A storage of the configuration."""
    found = cluster.state.storages.get(storage)
    if found is None:
        raise die(f"storage '{storage}' does not exist")
    return found


def usable(cluster: Cluster, storage: str, host: Host) -> Storage:
    """A storage that is enabled and there on a host."""
    found = find_storage(cluster, storage)
    if not found.is_enabled:
        raise die(f"storage '{storage}' is disabled")
    if not found.is_on(host.name):
        raise die(f"storage '{storage}' is not available on node '{host.name}'")
    return found


def require_content(storage: Storage, content: str) -> None:
    """Refuse a storage that does not take a kind of content."""
    if content not in storage.content:
        words = {"images": "vm images", "rootdir": "container directories"}
        text = f"storage '{storage.id}' does not support {words.get(content, content)}"
        raise bad_parameters({"storage": f"{text}\n"})


def key(storage: Storage, host: str, name: str) -> str:
    """The name of a volume among all of a cluster."""
    return f"{'' if storage.is_shared else host}/{storage.id}:{name}"


def find(cluster: Cluster, host: str, volid: str) -> Volume | None:
    """A volume as a host sees it; None: there is none."""
    storage, _, name = volid.partition(":")
    found = cluster.state.storages.get(storage)
    return cluster.state.volumes.get(key(found, host, name)) if found is not None else None


def volumes_on(cluster: Cluster, storage: Storage, host: str) -> Iterator[Volume]:
    """Volumes of a storage as a host sees them, sorted."""
    place = "" if storage.is_shared else host
    mine = (
        volume
        for volume in cluster.state.volumes.values()
        if volume.storage == storage.id and volume.host == place
    )
    yield from sorted(mine, key=lambda one: one.name)


def pool_of(cluster: Cluster, storage: Storage, host: Host) -> Pool | None:
    """Where the space of a storage comes from; None: it is not there."""
    if storage.pool in cluster.state.pools:
        return cluster.state.pools[storage.pool]
    exact = host.pools.get(storage.pool)
    if exact is not None:
        return exact
    if not storage.pool.startswith("fs:"):
        return None
    # A directory lies on the file system that is mounted nearest above it.
    path = storage.pool.removeprefix("fs:")
    mounted = [pool for pool in host.pools if pool.startswith("fs:")]
    above = [one for one in mounted if f"{path}/".startswith(f"{one[3:].rstrip('/')}/")]
    return host.pools[max(above, key=len)] if above else None


def taken(cluster: Cluster) -> Taken:
    """Bytes of volumes by storage and host, in one walk over all of them."""
    found: Taken = {}
    for volume in cluster.state.volumes.values():
        place = (volume.storage, volume.host)
        found[place] = found.get(place, 0) + volume.used
    return found


def space(cluster: Cluster, storage: Storage, host: Host, known: Taken | None = None) -> Space:
    """How large a storage is on a host, and what of it is taken: by all that share its pool.

    Who asks for many storages finds out once what is taken.
    """
    pool = pool_of(cluster, storage, host)
    if pool is None:
        return Space(0, 0)
    sharing = _sharing(cluster, pool, host)
    if known is None:
        known = taken(cluster)
    everywhere = pool.name in cluster.state.pools
    used = sum(
        size
        for (name, place), size in known.items()
        if name in sharing and (everywhere or place in ("", host.name))
    )
    return Space(pool.size, pool.other + used)


def activate(cluster: Cluster, storage: str, host: Host) -> Storage:
    """A storage that a host can work with; refused as the host says why it cannot."""
    found = usable(cluster, storage, host)
    why = absence(found)
    if why and pool_of(cluster, found, host) is None:
        raise die(why)
    return found


def allocate(cluster: Cluster, storage: Storage, host: Host, new: NewVolume) -> Volume:
    """Make a volume; refused where there is one, or no space for it, or too many wait.

    Its size is what the storage makes of what is asked for.
    """
    fault = cluster.fault(
        Point.ALLOCATE, {"node": host.name, "storage": storage.id, "vmid": new.vmid}
    )
    if fault is not None:
        _struck(cluster, storage, host, fault)
    if pool_of(cluster, storage, host) is None:
        raise die(absence(storage) or no_room_at_all(storage))
    take_lock(cluster, storage, host)
    volume = _allocate(cluster, storage, host, new)
    if fault is not None and fault.effect is Effect.DO_THEN_FAIL:
        raise cluster.raise_fault(fault, f"unable to create image '{volume.name}' - got timeout")
    return volume


def _struck(cluster: Cluster, storage: Storage, host: Host, fault: Fault) -> None:
    match fault.effect:
        case Effect.FAIL:
            raise cluster.raise_fault(
                fault, f"cfs-lock 'storage-{storage.id}' error: got lock request timeout"
            )
        case Effect.DELAY | Effect.HANG:
            seconds = fault.seconds if fault.effect is Effect.DELAY else _FOREVER
            hold_lock(cluster, storage, host.name, min(seconds, _FOREVER))
            if storage.is_shared and seconds > LONGEST_WORK:
                raise work_timeout(storage)
        case _:
            pass


def _allocate(cluster: Cluster, storage: Storage, host: Host, new: NewVolume) -> Volume:
    place = key(storage, host.name, new.name)
    if place in cluster.state.volumes:
        raise die(_taken(storage, new.name))
    size = given_size(storage.type, new.format, new.size) if new.content in _DISKS else new.size
    needed = new.written if _is_thin(storage, new.format) else max(size, new.written)
    if size > _LARGEST or needed > space(cluster, storage, host).avail:
        raise _full(storage, new.name)
    volume = Volume(
        storage=storage.id,
        host="" if storage.is_shared else host.name,
        name=new.name,
        content=new.content,
        format=new.format,
        size=size,
        used=needed,
        vmid=new.vmid,
        parent=new.parent,
        created_at=cluster.now,
        blob=new.blob,
    )
    cluster.state.volumes[place] = volume
    if new.blob:
        cluster.around.blobs.hold(new.blob)
    return volume


def resize(cluster: Cluster, volume: Volume, size: int, host: Host) -> None:
    """Make a volume larger."""
    storage = find_storage(cluster, volume.storage)
    if not _is_thin(storage, volume.format):
        if size - volume.size > space(cluster, storage, host).avail:
            raise _full(storage, volume.name)
        volume.used += size - volume.size
    volume.size = size


def free(cluster: Cluster, volume: Volume) -> None:
    """Destroy a volume; refused while others are linked clones of it."""
    clones = [
        one
        for one in cluster.state.volumes.values()
        if one.parent == volume.name and one.storage == volume.storage and one.host == volume.host
    ]
    if clones:
        raise die(f"base volume '{volume.name}' is still in use by linked cloned")
    place = f"{volume.host}/{volume.id}"
    del cluster.state.volumes[place]
    if volume.blob:
        cluster.around.blobs.release(volume.blob)
    storage = cluster.state.storages.get(volume.storage)
    if storage is not None:
        hold_lock(cluster, storage, volume.host)


def rename(cluster: Cluster, volume: Volume, name: str) -> None:
    """Give a volume another name on its storage."""
    del cluster.state.volumes[f"{volume.host}/{volume.id}"]
    volume.name = name
    cluster.state.volumes[f"{volume.host}/{volume.id}"] = volume


def _sharing(cluster: Cluster, pool: Pool, host: Host) -> frozenset[str]:
    """Storages whose volumes are in a pool, also those that nobody configures any more."""
    state = cluster.state
    known = (*state.storages.values(), *state.removed_storages.values())
    return frozenset(one.id for one in known if pool_of(cluster, one, host) is pool)


def _is_thin(storage: Storage, form: str) -> bool:
    if storage.type in THIN or form == "qcow2":
        return True
    return storage.type == "zfspool" and storage.options.get("sparse", "0") == "1"


def _taken(storage: Storage, name: str) -> str:
    options = storage.options
    match storage.type:
        case "zfspool":
            shown = f"{options.get('pool', '')}/{name}"
            return f"zfs error: cannot create '{shown}': dataset already exists"
        case "lvm" | "lvmthin":
            group = options.get("vgname", "")
            why = f'Logical Volume "{name}" already exists in volume group "{group}"'
            return f"lvcreate '{group}/{name}' error:   {why}"
        case "rbd":
            why = f"rbd: create error: (17) File exists: rbd image {name} already exists"
            return f"rbd create '{name}' error: {why}"
        case _:
            return f"disk image '{_shown(storage, name)}' already exists"


def _shown(storage: Storage, name: str) -> str:
    return f"{storage.path}/images/{name}" if storage.is_files else name


def _full(storage: Storage, name: str) -> ApiError:
    match storage.type:
        case "zfspool":
            where = f"{storage.options.get('pool', '')}/{name}"
            return die(f"zfs error: cannot create '{where}': out of space")
        case "lvm":
            group = storage.options.get("vgname", "")
            return die(f"lvcreate '{group}/{name}' error:   Volume group \"{group}\" has"
                       " insufficient free space")  # fmt: skip
        case "rbd":
            return die("rbd error: rbd: create error: (28) No space left on device")
        case _:
            return die(f"unable to create image: {_shown(storage, name)}: No space left on device")
