"""Space is counted for all that share it, and ends."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve import space
from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import GIB, Host
from stockman_lab.pve.space import NewVolume
from stockman_lab.pve.storage import Storage

from lab.tests.worlds import NAME, small_world


def pieces(storage: str, host: str = "pve1") -> tuple[Cluster, Storage, Host]:
    cluster = small_world().clusters[NAME]
    return cluster, cluster.state.storages[storage], cluster.state.hosts[host]


def disk(size: int, name: str = "vm-100-disk-0", form: str = "raw", written: int = 0) -> NewVolume:
    return NewVolume(name, "images", form, size, 100, written)


def test_a_thick_volume_takes_its_size_at_once() -> None:
    cluster, storage, host = pieces("files")
    space.allocate(cluster, storage, host, disk(10 * GIB, "100/vm-100-disk-0.raw"))
    assert space.space(cluster, storage, host).used == 10 * GIB


@pytest.mark.parametrize("name", ["local-zfs", "thin", "ceph"])
def test_a_thin_one_takes_what_was_written(name: str) -> None:
    cluster, storage, host = pieces(name)
    space.allocate(cluster, storage, host, disk(100 * GIB, written=GIB))
    assert space.space(cluster, storage, host).used == GIB


def test_storages_on_one_pool_share_its_space() -> None:
    cluster, storage, host = pieces("local-zfs")
    other = Storage("other", "zfspool", {"pool": "rpool/other", "content": "images"})
    cluster.state.storages["other"] = other
    space.allocate(cluster, other, host, disk(50 * GIB))
    assert space.space(cluster, storage, host).used == 50 * GIB


def test_hosts_do_not_share_local_space() -> None:
    cluster, storage, host = pieces("files")
    space.allocate(cluster, storage, host, disk(GIB, "100/vm-100-disk-0.raw"))
    assert space.space(cluster, storage, cluster.state.hosts["pve2"]).used == 0
    assert space.find(cluster, "pve1", "files:100/vm-100-disk-0.raw") is not None
    assert space.find(cluster, "pve2", "files:100/vm-100-disk-0.raw") is None


def test_shared_space_is_seen_by_all_hosts() -> None:
    cluster, storage, host = pieces("ceph")
    space.allocate(cluster, storage, host, disk(GIB, written=GIB))
    assert space.space(cluster, storage, cluster.state.hosts["pve3"]).used == GIB
    assert space.find(cluster, "pve3", "ceph:vm-100-disk-0") is not None


def test_what_does_not_fit_is_refused() -> None:
    cluster, storage, host = pieces("files")
    with pytest.raises(ApiError, match="No space left on device"):
        space.allocate(cluster, storage, host, disk(501 * GIB, "100/vm-100-disk-0.raw"))
    assert not cluster.state.volumes


def test_a_name_is_taken_once() -> None:
    cluster, storage, host = pieces("thin")
    space.allocate(cluster, storage, host, disk(GIB))
    with pytest.raises(ApiError, match="already exists"):
        space.allocate(cluster, storage, host, disk(GIB))


def test_freed_space_is_there_again() -> None:
    cluster, storage, host = pieces("files")
    volume = space.allocate(cluster, storage, host, disk(400 * GIB, "100/vm-100-disk-0.raw"))
    space.free(cluster, volume)
    assert space.space(cluster, storage, host).used == 0


def test_a_base_with_linked_clones_stays() -> None:
    cluster, storage, host = pieces("thin")
    base = space.allocate(cluster, storage, host, disk(GIB, "base-9000-disk-0"))
    clone = NewVolume("vm-101-disk-0", "images", "raw", GIB, 101, parent="base-9000-disk-0")
    space.allocate(cluster, storage, host, clone)
    with pytest.raises(ApiError, match="still in use by linked cloned"):
        space.free(cluster, base)


def test_growing_needs_space_too() -> None:
    cluster, storage, host = pieces("files")
    volume = space.allocate(cluster, storage, host, disk(400 * GIB, "100/vm-100-disk-0.raw"))
    space.resize(cluster, volume, 450 * GIB, host)
    assert (volume.size, volume.used) == (450 * GIB, 450 * GIB)
    with pytest.raises(ApiError, match="No space left"):
        space.resize(cluster, volume, 600 * GIB, host)


def test_a_directory_lies_on_the_file_system_above_it() -> None:
    cluster, storage, host = pieces("local")
    assert space.space(cluster, storage, host).total == 100 * GIB
    assert space.space(cluster, storage, host).used == 5 * GIB


def test_blobs_live_as_long_as_a_volume_holds_them() -> None:
    cluster, storage, host = pieces("local")
    blob = cluster.around.blobs.put(b"wool")
    new = NewVolume("iso/a.iso", "iso", "iso", 4, written=4, blob=blob)
    volume = space.allocate(cluster, storage, host, new)
    assert blob in cluster.around.blobs
    space.free(cluster, volume)
    assert blob not in cluster.around.blobs


def test_a_fault_refuses_space() -> None:
    cluster, storage, host = pieces("ceph")
    cluster.around.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"storage": "ceph"}))
    with pytest.raises(ApiError, match="got lock request timeout"):
        space.allocate(cluster, storage, host, disk(GIB))
    space.allocate(cluster, storage, host, disk(GIB))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"disable": "1"}, "storage 'thin' is disabled"),
        ({"nodes": "pve2,pve3"}, "storage 'thin' is not available on node 'pve1'"),
    ],
)
def test_storages_that_cannot_be_used_say_why(change: dict[str, str], text: str) -> None:
    cluster, storage, host = pieces("thin")
    storage.options |= change
    with pytest.raises(ApiError, match=text):
        space.usable(cluster, "thin", host)


def test_a_storage_that_is_not_there_says_so() -> None:
    cluster, _, host = pieces("thin")
    with pytest.raises(ApiError, match="storage 'nowhere' does not exist"):
        space.usable(cluster, "nowhere", host)
