"""Storages of the cluster, and how hosts see them."""

from __future__ import annotations

import json

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.endpoints.people import somebody
from lab.tests.returns import promised
from lab.tests.worlds import TIB, door, small_world


def test_a_new_storage_is_shown_as_it_was_written_down() -> None:
    api = door()

    reply = api.post(
        "/storage",
        storage="backups",
        type="dir",
        path="/srv/backups//",
        content="backup,iso",
        prune__backups="keep-last=3",
        disable=0,
        shared=1,
    )

    assert reply == {"storage": "backups", "type": "dir"}
    storage_backups = api.get("/storage/backups")
    digest = storage_backups.pop("digest")
    assert storage_backups == {
        "storage": "backups",
        "type": "dir",
        "path": "/srv/backups",
        "content": "backup,iso",
        "prune-backups": "keep-last=3",
        "shared": 1,
    }
    assert len(digest) == 40


def test_what_goes_without_saying_is_shown_too() -> None:
    api = door()

    api.post("/storage", storage="nas", type="nfs", server="10.0.0.9", export="/tank")

    storage_nas = api.get("/storage/nas")
    assert (storage_nas["path"], storage_nas["content"], storage_nas["shared"]) == (
        "/mnt/pve/nas",
        "images",
        1,
    )


def test_the_server_of_a_new_network_storage_answers_on_all_hosts() -> None:
    api = door()

    api.post("/storage", storage="nas", type="nfs", server="10.0.0.9", export="/tank")

    for host in ("pve1", "pve2", "pve3"):
        status = api.get(f"/nodes/{host}/storage/nas/status")
        assert (status["active"], status["shared"]) == (1, 1)
        assert status["total"] > 0


def test_two_storages_of_one_server_share_its_space() -> None:
    api = door()
    for name in ("nas1", "nas2"):
        api.post("/storage", storage=name, type="nfs", server="10.0.0.9", export="/tank")

    api.post("/nodes/pve1/storage/nas1/content", vmid=100, filename="vm-100-a.raw", size="1G")

    status = api.get("/nodes/pve2/storage/nas2/status")
    assert status["used"] == 1 << 30


def test_a_pool_that_only_other_hosts_have_is_not_asked_for() -> None:
    api = door()

    api.post("/storage", storage="far", type="zfspool", pool="tank", nodes="pve2")

    status = api.get("/nodes/pve2/storage/far/status")
    assert (status["enabled"], status["active"]) == (1, 0)


def test_a_volume_group_that_is_not_there_leaves_a_storage_inactive() -> None:
    api = door()

    api.post("/storage", storage="vg", type="lvm", vgname="nothere")

    status = api.get("/nodes/pve1/storage/vg/status")
    assert (status["enabled"], status["active"], status["total"]) == (1, 0, 0)
    with pytest.raises(ApiError, match=r"^no such volume group 'nothere'$"):
        api.post("/nodes/pve1/storage/vg/content", vmid=100, filename="vm-100-a", size="4M")


def test_a_generated_encryption_key_is_told_once() -> None:
    api = door()

    reply = api.post(
        "/storage",
        storage="pbs",
        type="pbs",
        server="10.0.0.8",
        datastore="main",
        username="root@pam",
        password="secret",
        encryption__key="autogen",
    )

    key = json.loads(reply["config"]["encryption-key"])
    storage_pbs = api.get("/storage/pbs")
    assert storage_pbs["encryption-key"] == key["fingerprint"]
    assert "password" not in storage_pbs
    assert key["data"] not in json.dumps(storage_pbs)


def test_options_change_and_go_away() -> None:
    api = door()
    api.post("/storage", storage="dd", type="dir", path="/d", nodes="pve1", content="iso")

    reply = api.put("/storage/dd", content="iso,backup", delete="nodes", disable=1)

    assert reply == {"storage": "dd", "type": "dir"}
    storage_dd = api.get("/storage/dd")
    assert (storage_dd["content"], storage_dd["disable"]) == ("iso,backup", 1)
    assert "nodes" not in storage_dd


def test_a_digest_that_is_still_right_lets_a_change_pass() -> None:
    api = door()
    storage_local = api.get("/storage/local")

    api.put("/storage/local", content="iso", digest=storage_local["digest"])

    changed = api.get("/storage/local")
    assert changed["digest"] != storage_local["digest"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_unknown_storage_does_not_exist(method: str) -> None:
    reply = door().reply(method, "/storage/nothere")

    assert reply.status == 500
    assert reply.reason.endswith("storage 'nothere' does not exist")


def test_volumes_outlive_their_storage_and_are_found_again_under_another_name() -> None:
    api = door()
    api.post("/nodes/pve2/storage/files/content", vmid=100, filename="vm-100-a.raw", size="1G")
    before = api.get("/nodes/pve2/storage/files/status")

    api.delete("/storage/files")
    api.post("/storage", storage="renamed", type="dir", path="/srv/files")

    rows = api.get("/nodes/pve2/storage/renamed/content")
    assert [row["volid"] for row in rows] == ["renamed:100/vm-100-a.raw"]
    after = api.get("/nodes/pve2/storage/renamed/status")
    assert after["used"] == before["used"] == 1 << 30


def test_a_folder_that_two_storages_name_keeps_its_volumes_when_one_goes() -> None:
    api = door()
    api.post("/storage", storage="second", type="dir", path="/srv/files")
    api.post("/nodes/pve1/storage/second/content", vmid=100, filename="vm-100-a.raw", size="1G")

    api.delete("/storage/second")

    rows = api.get("/nodes/pve1/storage/files/content")
    assert [row["volid"] for row in rows] == ["files:100/vm-100-a.raw"]


def test_a_storage_that_becomes_shared_keeps_its_volumes() -> None:
    api = door()
    api.post("/nodes/pve2/storage/files/content", vmid=100, filename="vm-100-a.raw", size="1G")

    api.put("/storage/files", shared=1)

    rows = api.get("/nodes/pve1/storage/files/content")
    assert [row["volid"] for row in rows] == ["files:100/vm-100-a.raw"]
    api.put("/storage/files", shared=0)
    assert api.get("/nodes/pve2/storage/files/content") == []


def test_another_storage_of_the_same_name_elsewhere_does_not_find_the_old_volumes() -> None:
    api = door()
    api.post("/nodes/pve1/storage/files/content", vmid=100, filename="vm-100-a.raw", size="1G")

    api.delete("/storage/files")
    api.post("/storage", storage="files", type="dir", path="/elsewhere")

    assert api.get("/nodes/pve1/storage/files/content") == []


def test_the_local_storage_is_for_every_host() -> None:
    api = door()

    api.put("/storage/local", nodes="pve2")

    storage_local = api.get("/storage/local")
    assert "nodes" not in storage_local


def test_folders_of_contents_are_shown_as_an_object_and_used() -> None:
    api = door()

    api.put("/storage/files", content__dirs="iso=discs,images=vms")

    storage_files = api.get("/storage/files")
    assert storage_files["content-dirs"] == {"iso": "discs", "images": "vms"}
    api.post("/nodes/pve1/storage/files/content", vmid=100, filename="vm-100-a.raw", size="1G")
    info = api.get("/nodes/pve1/storage/files/content/100/vm-100-a.raw")
    assert info["path"] == "/srv/files/vms/100/vm-100-a.raw"


def test_volumes_without_a_storage_still_take_their_space() -> None:
    api = door()
    api.post("/nodes/pve1/storage/files/content", vmid=100, filename="vm-100-a.raw", size="1G")

    api.delete("/storage/files")
    api.post("/storage", storage="beside", type="dir", path="/srv/files/beside")

    status = api.get("/nodes/pve1/storage/beside/status")
    assert status["used"] == 1 << 30
    assert api.get("/nodes/pve1/storage/beside/content") == []


def test_removing_a_storage_takes_its_permissions_and_its_place_in_pools() -> None:
    api = door()
    somebody(api, "/storage/files", "Datastore.Audit")

    api.delete("/storage/files")

    acl = api.get("/access/acl")
    assert [row for row in acl if row["path"] == "/storage/files"] == []


def test_the_local_storage_always_comes_back() -> None:
    api = door()

    api.delete("/storage/local")

    storage_local = api.get("/storage/local")
    assert (storage_local["type"], storage_local["path"]) == ("dir", "/var/lib/vz")


def test_only_storages_that_somebody_may_see_are_listed() -> None:
    api = door()
    user = somebody(api, "/storage/ceph", "Datastore.Audit")

    rows = user.get("/storage")

    assert [row["storage"] for row in rows] == ["ceph"]
    with pytest.raises(ApiError, match=r"Permission check failed \(/storage, Datastore.Allocate\)"):
        user.delete("/storage/ceph")
    with pytest.raises(ApiError, match=r"\(/storage/ceph, Datastore.Allocate\)"):
        user.get("/storage/ceph")


def test_storages_are_listed_by_type() -> None:
    rows = door().get("/storage", type="dir")

    assert [row["storage"] for row in rows] == ["local", "files"]


def test_nothing_is_changed_without_quorum() -> None:
    world = small_world()
    world.faults.add(Fault(Point.QUORUM, Effect.FAIL, times=None))

    reply = door(world).reply("POST", "/storage", {"storage": "dd", "type": "dir", "path": "/d"})

    assert reply.reason == "create storage failed: cfs-lock 'file-storage_cfg' error: no quorum!"


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))

    created = api.post("/storage", storage="dd", type="dir", path="/d")

    assert promised(api, "POST", "/storage", created) == []
    assert promised(api, "GET", "/storage", api.get("/storage")) == []
    assert promised(api, "GET", "/storage/{storage}", api.get("/storage/dd")) == []
    assert promised(api, "PUT", "/storage/{storage}", api.put("/storage/dd", disable=1)) == []
    assert promised(api, "DELETE", "/storage/{storage}", api.delete("/storage/dd")) == []


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
        return [row["storage"] for row in rows]

    assert listed() == ["local", "local-zfs", "thin", "files", "ceph"]
    assert listed(enabled=1) == ["local", "local-zfs", "thin", "ceph"]
    assert listed(content="images") == ["local-zfs", "ceph"]
    assert listed(content="iso,rootdir") == ["local", "local-zfs", "ceph"]
    assert listed(target="pve2") == ["ceph"]
    assert listed(target="pve1", content="iso") == ["local"]


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_status_replies_are_what_the_schema_promises(profile: str) -> None:
    api = door(small_world(profile))

    rows = api.get("/nodes/pve1/storage", format=1)
    status = api.get("/nodes/pve1/storage/ceph/status")

    assert promised(api, "GET", "/nodes/{node}/storage", rows) == []
    assert promised(api, "GET", "/nodes/{node}/storage/{storage}/status", status) == []
    assert status["total"] == 20 * TIB
