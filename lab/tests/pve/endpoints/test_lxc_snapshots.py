"""Snapshots of containers are taken, listed, gone back to and forgotten."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor

from lab.tests.pve.endpoints.containers import (
    CT,
    one_container,
    refused,
    rows,
    running_container,
    shown,
    values,
)

SNAPSHOTS = f"{CT}/snapshot"


def take(asked: MemoryDoor, name: str, **params: object) -> str:
    return asked.done(asked.post(SNAPSHOTS, snapname=name, **params))


def test_snapshots_are_listed_with_their_parents_and_what_is_now() -> None:
    asked = running_container()
    take(asked, "one", description="the first")
    take(asked, "two")

    found = rows(asked, SNAPSHOTS)

    assert [(row["name"], row.get("parent")) for row in found] == [
        ("one", None),
        ("two", "one"),
        ("current", "two"),
    ]
    assert found[0]["description"] == "the first"
    assert found[-1]["running"] == 1
    assert shown(asked, f"{SNAPSHOTS}/one/config")["hostname"] == "web"


def test_going_back_makes_a_container_what_it_was() -> None:
    asked = one_container()
    take(asked, "before")
    asked.put(f"{CT}/config", memory=2048, mp0="thin:1,mp=/srv")
    asked.done(asked.put(f"{CT}/resize", disk="rootfs", size="+2G"))

    upid = asked.post(f"{SNAPSHOTS}/before/rollback", start=1)

    assert asked.done(upid) == "OK"
    assert values(asked)["memory"] == "512"
    assert values(asked)["rootfs"] == "local-zfs:subvol-200-disk-0,size=8G"
    assert values(asked)["unused0"] == "thin:vm-200-disk-0"
    assert asked.cluster.state.guests[200].is_running
    volume = asked.cluster.state.volumes["pve1/local-zfs:subvol-200-disk-0"]
    assert volume.size == 8 << 30


def test_forgetting_one_of_the_middle_joins_the_others() -> None:
    asked = one_container()
    for name in ("one", "two", "three"):
        take(asked, name)

    assert asked.done(asked.delete(f"{SNAPSHOTS}/two")) == "OK"

    parents = {str(row["name"]): row.get("parent") for row in rows(asked, SNAPSHOTS)}
    assert parents == {"one": None, "three": "one", "current": "three"}
    volume = asked.cluster.state.volumes["pve1/local-zfs:subvol-200-disk-0"]
    assert [snapshot.name for snapshot in volume.snapshots] == ["one", "three"]


@pytest.mark.parametrize("name", ["current", "vzdump"])
def test_some_names_are_taken(name: str) -> None:
    error = refused(one_container(), "POST", SNAPSHOTS, snapname=name)

    assert error.message == f"unable to use snapshot name '{name}' (reserved name)"


def test_a_name_is_used_once() -> None:
    asked = one_container()
    take(asked, "one")

    assert take(asked, "one") == "snapshot name 'one' already used"


def test_some_storages_know_no_snapshots() -> None:
    assert take(one_container(rootfs="files:1"), "one") == "snapshot feature is not available"


def test_templates_have_no_snapshots() -> None:
    asked = one_container()
    values(asked)["template"] = "1"

    assert take(asked, "one") == "you can't take a snapshot if it's a template"


def test_a_snapshot_locks_the_container_while_it_is_taken() -> None:
    asked = one_container()
    upid = asked.post(SNAPSHOTS, snapname="one")

    assert values(asked)["lock"] == "snapshot"

    assert asked.done(upid) == "OK"
    assert "lock" not in values(asked)


def test_zfs_goes_back_only_to_the_newest() -> None:
    asked = one_container()
    take(asked, "one")
    take(asked, "two")

    done = asked.done(asked.post(f"{SNAPSHOTS}/one/rollback"))

    expected = "can't rollback, 'one' is not most recent snapshot on 'local-zfs:subvol-200-disk-0'"
    assert done == expected


def test_what_is_not_there_is_missed() -> None:
    asked = one_container()
    missing = "snapshot 'gone' does not exist"

    assert asked.done(asked.delete(f"{SNAPSHOTS}/gone")) == missing
    assert asked.done(asked.post(f"{SNAPSHOTS}/gone/rollback")) == missing
    assert refused(asked, "GET", f"{SNAPSHOTS}/gone/config").message == missing
    error = refused(asked, "PUT", f"{SNAPSHOTS}/gone/config", description="x")
    assert error.message == missing


def test_a_snapshot_can_be_described_later() -> None:
    asked = one_container()
    take(asked, "one")

    asked.put(f"{SNAPSHOTS}/one/config", description="of use")

    assert rows(asked, SNAPSHOTS)[0]["description"] == "of use\n"
