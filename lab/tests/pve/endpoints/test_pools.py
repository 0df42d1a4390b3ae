"""Pools of guests and storages."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.returns import promised
from lab.tests.worlds import door


@pytest.fixture
def pool() -> MemoryClient:
    """The API with a pool `a` in which `a/b` is, and two guests."""
    api = door()
    api.post("/pools", poolid="a", comment="mine")
    api.post("/pools", poolid="a/b")
    put_guest(api, 100)
    put_guest(api, 200, kind="lxc", node="pve2")
    return api


def test_pools_are_listed_by_name(pool: MemoryClient) -> None:
    assert pool.get("/pools") == [{"poolid": "a", "comment": "mine"}, {"poolid": "a/b"}]


def test_members_are_guests_and_storages(pool: MemoryClient) -> None:
    pool.put("/pools/a", vms="100,200", storage="ceph")
    pools_a = pool.get("/pools/a")
    members = pools_a["members"]
    assert [row["id"] for row in members] == ["qemu/100", "lxc/200", "storage/pve1/ceph"]
    assert promised(pool, "GET", "/pools/{poolid}", pools_a) == []


def test_members_of_one_kind_are_asked_for(pool: MemoryClient) -> None:
    pool.put("/pools", poolid="a/b", vms="200", storage="ceph,local")
    pools = pool.get("/pools", poolid="a/b", type="lxc")
    assert [row["id"] for row in pools[0]["members"]] == ["lxc/200"]
    assert promised(pool, "GET", "/pools", pools) == []


def test_a_guest_moves_only_if_that_is_allowed(pool: MemoryClient) -> None:
    pool.put("/pools/a", vms="100")
    with pytest.raises(
        ApiError,
        match="VM 100 belongs already to pool 'a' and 'allow-move' is not set",
    ):
        pool.put("/pools", poolid="a/b", vms="100")
    pool.put("/pools", poolid="a/b", vms="100", allow__move=1)
    assert pool.cluster.pool_of(100) == "a/b"


@pytest.mark.parametrize(
    ("method", "path", "params", "text"),
    [
        ("POST", "/pools", {"poolid": "a"}, "create pool failed: pool 'a' already exists"),
        (
            "POST",
            "/pools",
            {"poolid": "x/y"},
            "create pool failed: parent 'x' of pool 'x/y' does not exist",
        ),
        ("GET", "/pools/none", {}, "pool 'none' does not exist"),
        (
            "PUT",
            "/pools/none",
            {"comment": "x"},
            "update pools failed: pool 'none' does not exist",
        ),
        (
            "PUT",
            "/pools/a",
            {"vms": "999", "delete": 1},
            "update pools failed: VM 999 is not a pool member",
        ),
        (
            "PUT",
            "/pools/a",
            {"storage": "local", "delete": 1},
            "update pools failed: Storage 'local' is not a pool member",
        ),
        ("DELETE", "/pools/none", {}, "delete pool failed: pool 'none' does not exist"),
        (
            "DELETE",
            "/pools/a",
            {},
            "delete pool failed: pool 'a' is not empty (contains pool 'a/b')",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    pool: MemoryClient, method: str, path: str, params: dict[str, object], text: str
) -> None:
    reply = pool.reply(method, path, params)
    assert (reply.status, reply.reason) == (500, text)


def test_a_pool_with_members_stays(pool: MemoryClient) -> None:
    pool.put("/pools", poolid="a/b", vms="100")
    with pytest.raises(ApiError, match=r"pool 'a/b' is not empty \(contains VM 100\)"):
        pool.delete("/pools", poolid="a/b")
    pool.put("/pools", poolid="a/b", vms="100", delete=1)
    pool.put("/pools", poolid="a/b", storage="ceph")
    with pytest.raises(ApiError, match=r"pool 'a/b' is not empty \(contains storage 'ceph'\)"):
        pool.delete("/pools", poolid="a/b")


def test_a_refused_change_changes_nothing(pool: MemoryClient) -> None:
    before = pool.get("/pools/a")
    with pytest.raises(ApiError):
        pool.put("/pools/a", vms="100,100", comment="new")
    assert pool.get("/pools/a") == before
