"""Space of storages: where volumes are, how much they take, and when there is no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stockman.lab.core.faults import Effect, Point
from stockman.lab.pve.cluster import Cluster
from stockman.lab.pve.errors import ApiError, bad_parameters, die
from stockman.lab.pve.host import Host, Pool
from stockman.lab.pve.storage import Storage
from stockman.lab.pve.volume import Volume

THIN = frozenset({"lvmthin", "rbd"})
"""Storages whose volumes take only what was written."""


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


def configured(cluster: Cluster, storage: str) -> Storage:
    """A storage of the configuration."""
    found = cluster.state.storages.get(storage)
    if found is None:
        raise die(f"storage '{storage}' does not exist")
    return found


def usable(cluster: Cluster, storage: str, host: Host) -> Storage:
    """A storage that is enabled and there on a host."""
    found = configured(cluster, storage)
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
        one
        for one in cluster.state.volumes.values()
        if one.storage == storage.id and one.host == place
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
    mounted = [one for one in host.pools if one.startswith("fs:")]
    above = [one for one in mounted if f"{path}/".startswith(f"{one[3:].rstrip('/')}/")]
    return host.pools[max(above, key=len)] if above else None


def space(cluster: Cluster, storage: Storage, host: Host) -> Space:
    """How large a storage is on a host, and what of it is taken: by all that share its pool."""
    pool = pool_of(cluster, storage, host)
    if pool is None:
        return Space(0, 0)
    return Space(pool.size, pool.other + sum(one.used for one in _in_pool(cluster, pool, host)))


def allocate(cluster: Cluster, storage: Storage, host: Host, new: NewVolume) -> Volume:
    """Make a volume; refused where there is one, or no space for it."""
    fault = cluster.fault(
        Point.ALLOCATE, {"node": host.name, "storage": storage.id, "vmid": new.vmid}
    )
    if fault is not None and fault.effect in (Effect.FAIL, Effect.CLAIM):
        raise cluster.raise_fault(
            fault, f"cfs-lock 'storage-{storage.id}' error: got lock request timeout"
        )
    place = key(storage, host.name, new.name)
    if place in cluster.state.volumes:
        raise die(f"disk image '{_shown(storage, new.name)}' already exists")
    taken = new.written if _is_thin(storage, new.format) else max(new.size, new.written)
    if taken > space(cluster, storage, host).avail:
        raise _full(storage, new.name)
    made = Volume(
        storage=storage.id,
        host="" if storage.is_shared else host.name,
        name=new.name,
        content=new.content,
        format=new.format,
        size=new.size,
        used=taken,
        vmid=new.vmid,
        parent=new.parent,
        created_at=cluster.now,
        blob=new.blob,
    )
    cluster.state.volumes[place] = made
    if new.blob:
        cluster.around.blobs.hold(new.blob)
    return made


def resize(cluster: Cluster, volume: Volume, size: int, host: Host) -> None:
    """Make a volume larger."""
    storage = configured(cluster, volume.storage)
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


def rename(cluster: Cluster, volume: Volume, name: str) -> None:
    """Give a volume another name on its storage."""
    del cluster.state.volumes[f"{volume.host}/{volume.id}"]
    volume.name = name
    cluster.state.volumes[f"{volume.host}/{volume.id}"] = volume


def _in_pool(cluster: Cluster, pool: Pool, host: Host) -> Iterator[Volume]:
    shared = pool.name in cluster.state.pools
    sharing = {
        one.id for one in cluster.state.storages.values() if pool_of(cluster, one, host) is pool
    }
    for volume in cluster.state.volumes.values():
        if volume.storage in sharing and (shared or volume.host in ("", host.name)):
            yield volume


def _is_thin(storage: Storage, form: str) -> bool:
    if storage.type in THIN or form == "qcow2":
        return True
    return storage.type == "zfspool" and storage.options.get("sparse", "0") == "1"


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
