"""Locks of storages."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve import space
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.worlds import door


def made(api: MemoryClient, storage: str, number: int, host: str = "pve1") -> None:
    """A volume, made at once, while others are."""
    cluster = api.cluster
    name = f"vm-{number}-disk-0"
    new = space.NewVolume(name, "images", "raw", 1 << 20, number)
    space.allocate(cluster, cluster.state.storages[storage], cluster.host(host), new)


def crowded(api: MemoryClient, storage: str, host: str = "pve1") -> ApiError:
    """The refusal that the first gets for whom the queue is too long."""
    for number in range(100, 1000):
        try:
            made(api, storage, number, host)
        except ApiError as error:
            return error
    raise AssertionError("nobody had to wait")


def test_who_asks_the_api_waits_before_being_refused() -> None:
    api = door()
    crowded(api, "ceph")
    before = api.world.now

    with pytest.raises(ApiError, match="got lock request timeout"):
        api.post("/nodes/pve1/storage/ceph/content", vmid=9999, filename="vm-9999-a", size="1G")

    assert api.world.now - before == pytest.approx(10)


def test_work_under_a_lock_of_the_cluster_is_given_up_after_a_minute() -> None:
    api = door()
    api.world.faults.add(Fault(Point.ALLOCATE, Effect.HANG))

    with pytest.raises(ApiError, match=r"^'storage-ceph'-locked command timed out - aborting$"):
        made(api, "ceph", 100)


def test_an_allocation_may_be_done_and_then_denied() -> None:
    api = door()
    api.world.faults.add(Fault(Point.ALLOCATE, Effect.DO_THEN_FAIL, message="lost"))

    with pytest.raises(ApiError, match=r"^lost$"):
        made(api, "thin", 100)

    assert space.find(api.cluster, "pve1", "thin:vm-100-disk-0") is not None
