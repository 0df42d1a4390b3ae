"""`/nodes/NODE/storage`: storages as a host sees them."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.returns import promised
from lab.tests.worlds import TIB, door, small_world


def test_an_unknown_storage_is_named_in_the_error() -> None:
    for path in ("/nodes/pve1/storage/nothere/status",):
        with pytest.raises(ApiError) as error:
            door().get(path)
        assert (error.value.status, error.value.errors) == (400, {"storage": "No such storage."})
    with pytest.raises(ApiError) as error:
        door().get("/nodes/pve1/storage", storage="nothere")
    assert error.value.errors == {"storage": "No such storage."}


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
