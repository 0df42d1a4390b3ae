"""`/nodes/NODE/storage`: storages as a host sees them."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import TIB, door, small_world


def test_a_storage_says_how_full_it_is() -> None:
    api = door()
    api.post("/nodes/pve1/storage/files/content", vmid=100, filename="vm-100-a.raw", size="50G")

    status = api.get("/nodes/pve1/storage/files/status")

    assert status == {
        "type": "dir",
        "total": 500 << 30,
        "used": 50 << 30,
        "avail": 450 << 30,
        "shared": 0,
        "content": "images,import,iso,rootdir",
        "active": 1,
        "enabled": 1,
    }


def test_an_unknown_storage_is_named_in_the_error() -> None:
    for path in ("/nodes/pve1/storage/nothere/status",):
        with pytest.raises(ApiError) as error:
            door().get(path)
        assert (error.value.status, error.value.errors) == (400, {"storage": "No such storage."})
    with pytest.raises(ApiError) as error:
        door().get("/nodes/pve1/storage", storage="nothere")
    assert error.value.errors == {"storage": "No such storage."}


def test_a_storage_of_other_hosts_is_listed_as_not_enabled() -> None:
    api = door()
    api.put("/storage/thin", nodes="pve2,pve3")

    rows = api.get("/nodes/pve1/storage", storage="thin")

    assert isinstance(rows, list)
    assert [(row["enabled"], row["active"], row["total"]) for row in rows] == [(0, 0, 0)]


def test_filters_leave_out_what_is_not_asked_for() -> None:
    api = door()
    api.put("/storage/thin", nodes="pve2,pve3")
    api.put("/storage/files", disable=1)

    def listed(**given: object) -> list[str]:
        rows = api.get("/nodes/pve1/storage", **given)
        assert isinstance(rows, list)
        return [row["storage"] for row in rows]

    assert listed() == ["local", "local-zfs", "thin", "files", "ceph"]
    assert listed(enabled=1) == ["local", "local-zfs", "thin", "ceph"]
    assert listed(content="images") == ["local-zfs", "ceph"]
    assert listed(content="iso,rootdir") == ["local", "local-zfs", "ceph"]
    assert listed(target="pve2") == ["ceph"]
    assert listed(target="pve1", content="iso") == ["local"]


def test_formats_are_shown_on_request() -> None:
    rows = door().get("/nodes/pve1/storage", storage="local-zfs", format=1)

    assert isinstance(rows, list)
    assert rows[0]["formats"] == {"supported": ["raw", "subvol"], "default": "raw"}
    assert rows[0]["format"] == [{"raw": 1, "subvol": 1}, "raw"]


def test_the_fraction_in_use_is_shown() -> None:
    api = door()
    api.post("/nodes/pve1/storage/files/content", vmid=100, filename="vm-100-a.raw", size="50G")

    rows = api.get("/nodes/pve1/storage", storage="files")

    assert isinstance(rows, list)
    assert rows[0]["used_fraction"] == 0.1


def test_only_storages_that_somebody_may_see_are_listed() -> None:
    user = somebody(door(), "/storage/thin", "Datastore.AllocateSpace")

    rows = user.get("/nodes/pve1/storage")

    assert isinstance(rows, list)
    assert [row["storage"] for row in rows] == ["thin"]
    with pytest.raises(
        ApiError,
        match=(
            r"Permission check failed \(/storage/ceph,"
            r" Datastore.Audit\|Datastore.AllocateSpace\)"
        ),
    ):
        user.get("/nodes/pve1/storage/ceph/status")


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))

    rows = api.get("/nodes/pve1/storage", format=1)
    status = api.get("/nodes/pve1/storage/ceph/status")

    assert promised(api, "GET", "/nodes/{node}/storage", rows) == []
    assert promised(api, "GET", "/nodes/{node}/storage/{storage}/status", status) == []
    assert isinstance(status, dict)
    assert status["total"] == 20 * TIB
    index = api.get("/nodes/pve1/storage/ceph")
    assert promised(api, "GET", "/nodes/{node}/storage/{storage}", index) == []
