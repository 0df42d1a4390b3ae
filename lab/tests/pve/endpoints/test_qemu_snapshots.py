"""Snapshots of virtual machines."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError

from lab.tests.machines import QEMU, create, create_linux, ended, replied, start, user
from lab.tests.worlds import door

SNAPSHOT = f"{QEMU}/100/snapshot"


def test_snapshots_are_listed_with_their_ancestors_and_where_one_is() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    ended(api, "POST", SNAPSHOT, snapname="one", description="first")
    ended(api, "POST", SNAPSHOT, snapname="two")

    rows = replied(api, "GET", SNAPSHOT)

    assert [(row["name"], row.get("parent"), row["description"]) for row in rows] == [
        ("one", None, "first"),
        ("two", "one", ""),
        ("current", "two", "You are here!"),
    ]


def test_a_rollback_makes_the_machine_what_it_was() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:1", cores=2)
    disk = api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"]
    disk.contents["note"] = "then"
    ended(api, "POST", SNAPSHOT, snapname="one")
    disk.contents["note"] = "now"
    api.put(f"{QEMU}/100/config", cores=8, scsi1="local-zfs:1")

    assert ended(api, "POST", f"{SNAPSHOT}/one/rollback") == "OK"

    assert guest.config.values["cores"] == "2"
    assert guest.config.values["unused0"] == "local-zfs:vm-100-disk-1"
    assert guest.config.values["parent"] == "one"
    assert disk.contents == {"note": "then"}
    assert guest.lock == ""


def test_memory_is_kept_too_if_that_is_wanted() -> None:
    api = door()
    guest = create_linux(api)
    start(api)
    ended(api, "POST", SNAPSHOT, snapname="one", vmstate=1)
    ended(api, "POST", f"{QEMU}/100/status/stop")

    kept = replied(api, "GET", f"{SNAPSHOT}/one/config")
    ended(api, "POST", f"{SNAPSHOT}/one/rollback")

    assert kept["vmstate"] == "local-zfs:vm-100-state-one"
    assert guest.is_running


def test_a_deleted_snapshot_leaves_its_children_to_its_parent() -> None:
    api = door()
    guest = create_linux(api)
    start(api)
    for name in ("one", "two", "three"):
        ended(api, "POST", SNAPSHOT, snapname=name, vmstate=1)

    assert ended(api, "DELETE", f"{SNAPSHOT}/two") == "OK"

    assert guest.config.snapshots["three"]["parent"] == "one"
    assert "pve1/local-zfs:vm-100-state-two" not in api.cluster.state.volumes
    disk = api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"]
    assert [snapshot.name for snapshot in disk.snapshots] == ["one", "three"]


def test_descriptions_can_be_changed() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    ended(api, "POST", SNAPSHOT, snapname="one")

    api.put(f"{SNAPSHOT}/one/config", description="better")

    assert api.get(f"{SNAPSHOT}/one/config")["description"] == "better"
    assert api.get(f"{QEMU}/100/config", snapshot="one")["description"] == "better"


@pytest.mark.parametrize(
    ("values", "name", "status"),
    [
        ({"scsi0": "files:1,format=raw"}, "one", "snapshot feature is not available"),
        ({"template": 1}, "one", "you can't take a snapshot if it's a template"),
        ({"lock": "backup"}, "one", "VM is locked (backup)"),
    ],
)
def test_not_everything_can_be_kept(values: dict[str, object], name: str, status: str) -> None:
    api = door()
    create(api, 100, **values)

    assert ended(api, "POST", SNAPSHOT, snapname=name) == status


def test_a_name_is_used_once() -> None:
    api = door()
    guest = create(api, scsi0="files:1,format=qcow2")
    ended(api, "POST", SNAPSHOT, snapname="one")

    assert ended(api, "POST", SNAPSHOT, snapname="one") == "snapshot name 'one' already used"
    assert guest.lock == ""


@pytest.mark.parametrize("name", ["current", "pending"])
def test_some_names_mean_something_else(name: str) -> None:
    api = door()
    create(api)

    with pytest.raises(ApiError) as caught:
        api.post(SNAPSHOT, snapname=name)

    assert caught.value.message == f"unable to use snapshot name '{name}' (reserved name)"


def test_what_does_not_exist_is_neither_shown_nor_deleted_nor_gone_back_to() -> None:
    api = door()
    create(api)

    with pytest.raises(ApiError, match="snapshot 'one' does not exist"):
        api.get(f"{SNAPSHOT}/one/config")
    assert ended(api, "DELETE", f"{SNAPSHOT}/one") == "snapshot 'one' does not exist"
    assert ended(api, "POST", f"{SNAPSHOT}/one/rollback") == "snapshot 'one' does not exist"


def test_zfs_goes_back_only_to_the_newest() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    ended(api, "POST", SNAPSHOT, snapname="one")
    ended(api, "POST", SNAPSHOT, snapname="two")

    status = ended(api, "POST", f"{SNAPSHOT}/one/rollback")

    assert status == (
        "can't rollback, 'one' is not most recent snapshot on 'local-zfs:vm-100-disk-0'"
    )


def test_starting_after_a_rollback_needs_power() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    ended(api, "POST", SNAPSHOT, snapname="one")
    somebody = user(api, "VM.Snapshot.Rollback")

    with pytest.raises(ApiError, match=r"\(/vms/100, VM.PowerMgmt\)"):
        somebody.post(f"{SNAPSHOT}/one/rollback", start=1)
