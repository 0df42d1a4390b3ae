"""Volumes of containers grow, move, become templates and are cloned."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import Firewall, ResourcePool

from lab.tests.pve.endpoints.containers import (
    CT,
    LXC,
    made,
    one_container,
    refused,
    running_container,
    shown,
    values,
    volumes,
)
from lab.tests.pve.endpoints.people import somebody

NIC = "name=eth0,bridge=vmbr0,ip=dhcp"
MODIFIED = "detected modified configuration - file changed by other user? Try again."


@pytest.mark.parametrize(("size", "expected"), [("+2G", "10G"), ("12G", "12G"), ("8.5G", "8704M")])
def test_a_root_grows(size: str, expected: str) -> None:
    asked = running_container()

    assert asked.done(asked.put(f"{CT}/resize", disk="rootfs", size=size)) == "OK"

    assert values(asked)["rootfs"] == f"local-zfs:subvol-200-disk-0,size={expected}"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"disk": "rootfs", "size": "4G"}, "unable to shrink disk size"),
        ({"disk": "rootfs", "size": "8G"}, "disk is already at specified size"),
        ({"disk": "rootfs", "size": "9G", "digest": "0" * 40}, MODIFIED),
    ],
)
def test_what_does_not_grow_is_refused(params: dict[str, object], message: str) -> None:
    error = refused(one_container(), "PUT", f"{CT}/resize", **params)

    assert (error.status, error.message) == (500, message)


def test_a_volume_of_another_container_does_not_grow() -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    made(asked, 201)
    values(asked, 201)["mp0"] = values(asked)["mp0"]

    error = refused(asked, "PUT", f"{LXC}/201/resize", disk="mp0", size="+1G")

    assert error.message == "can't resize mount point owned by another container (200)"


def test_growing_needs_a_right_on_the_storage() -> None:
    asked = one_container()
    user = somebody(asked, "/vms/200", "VM.Config.Disk", "VM.Config.Options")

    error = refused(user, "PUT", f"{CT}/resize", disk="rootfs", size="+1G")

    expected = "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"
    assert (error.status, error.message) == (403, expected)


def test_a_volume_goes_to_another_storage_and_the_old_one_is_kept() -> None:
    asked = one_container()

    upid = asked.post(f"{CT}/move_volume", volume="rootfs", storage="thin")

    assert values(asked)["lock"] == "disk"
    assert asked.done(upid) == "OK"
    assert values(asked)["rootfs"] == "thin:vm-200-disk-0,size=8G"
    assert values(asked)["unused0"] == "local-zfs:subvol-200-disk-0"
    assert "lock" not in values(asked)


def test_the_old_volume_goes_when_that_is_asked_for() -> None:
    asked = one_container()

    asked.done(asked.post(f"{CT}/move_volume", volume="rootfs", storage="thin", delete=1))

    assert volumes(asked) == ["thin:vm-200-disk-0"]


def test_a_failed_move_leaves_the_container_as_it_was() -> None:
    asked = one_container()
    asked.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL))

    upid = asked.post(f"{CT}/move_volume", volume="rootfs", storage="thin")

    assert asked.done(upid) == "cfs-lock 'storage-thin' error: got lock request timeout"
    assert values(asked)["rootfs"] == "local-zfs:subvol-200-disk-0,size=8G"
    assert "lock" not in values(asked)


def test_volumes_of_a_running_container_stay() -> None:
    asked = running_container()

    error = refused(asked, "POST", f"{CT}/move_volume", volume="rootfs", storage="thin")

    assert error.message == "cannot move volumes of a running container"


def test_a_target_has_to_be_named_and_only_one() -> None:
    asked = one_container()
    missing = "both 'storage' and 'target-vmid' missing, either needs to be set"

    neither = refused(asked, "POST", f"{CT}/move_volume", volume="rootfs")
    both = {"volume": "mp0", "storage": "thin", "target-vmid": 201}

    assert neither.errors == {"target-vmid": missing, "storage": missing}
    message = refused(asked, "POST", f"{CT}/move_volume", **both).message
    assert message == "either set storage or target-vmid, but not both"


def test_a_volume_becomes_another_containers() -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    made(asked, 201)

    upid = asked.post(f"{CT}/move_volume", volume="mp0", target__vmid=201, target__volume="mp3")

    assert ":move_volume:200-mp0>201-mp3:" in str(upid)
    assert asked.done(upid) == "OK"
    assert "mp0" not in values(asked)
    assert values(asked, 201)["mp3"] == "thin:vm-201-disk-0,mp=/srv,size=1G"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"volume": "rootfs", "target-vmid": 201}, "Cannot move to/from 'rootfs'"),
        ({"volume": "mp0", "target-vmid": 999}, "could not find CT 999"),
        ({"volume": "mp1", "target-vmid": 201}, "volume 'mp1' for container '200' does not exist"),
        (
            {"volume": "mp0", "target-vmid": 201, "target-volume": "mp7"},
            "Target volume key 'mp7' is already in use for container '201'",
        ),
        (
            {"volume": "mp0", "target-vmid": 201, "digest": "0" * 40},
            f"Container 200: {MODIFIED}",
        ),
    ],
)
def test_what_cannot_become_another_containers(params: dict[str, object], message: str) -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    made(asked, 201, mp7="thin:1,mp=/x")

    error = refused(asked, "POST", f"{CT}/move_volume", **params)

    assert (error.status, error.message) == (500, message)


def test_a_template_has_base_volumes_and_the_reply_says_nothing() -> None:
    asked = one_container()

    answer = asked.post(f"{CT}/template")
    asked.world.settle()

    assert answer is None
    assert values(asked)["template"] == "1"
    assert values(asked)["rootfs"] == "local-zfs:basevol-200-disk-0,size=8G"
    error = refused(asked, "POST", f"{CT}/template")
    assert error.message == "you can't convert a template to a template"


def test_what_runs_or_has_snapshots_becomes_no_template() -> None:
    asked = running_container()
    running = refused(asked, "POST", f"{CT}/template")
    asked.done(asked.post(f"{CT}/snapshot", snapname="before"))

    snapped = refused(asked, "POST", f"{CT}/template")

    assert running.message == "you can't convert a CT to template if the CT is running"
    assert snapped.message == "unable to create template, because CT contains snapshots"


def test_a_full_clone_has_other_volumes_and_other_cards() -> None:
    asked = one_container(net0=NIC, description="the first")
    state = asked.cluster.state
    state.resource_pools["web"] = ResourcePool("web")
    state.guest_firewalls[200] = Firewall({"enable": "1"})

    upid = asked.post(f"{CT}/clone", newid=201, hostname="copy", pool="web")

    assert (values(asked)["lock"], values(asked, 201)["lock"]) == ("disk", "create")
    assert asked.done(upid) == "OK"
    clone = values(asked, 201)
    assert (clone["hostname"], clone["description"]) == ("copy", "the first\n")
    assert clone["rootfs"] == "local-zfs:subvol-201-disk-0,size=8G"
    assert clone["net0"] != values(asked)["net0"]
    assert "lock" not in clone
    assert "lock" not in values(asked)
    assert state.resource_pools["web"].guests == [201]
    assert state.guest_firewalls[201].options == {"enable": "1"}


def test_a_template_is_linked_unless_a_copy_is_asked_for() -> None:
    asked = one_container()
    asked.post(f"{CT}/template")
    asked.world.settle()

    asked.done(asked.post(f"{CT}/clone", newid=201))
    asked.done(asked.post(f"{CT}/clone", newid=202, full=1, storage="thin"))

    assert values(asked, 201)["rootfs"] == (
        "local-zfs:basevol-200-disk-0/subvol-201-disk-0,size=8G"
    )
    assert values(asked, 202)["rootfs"] == "thin:vm-202-disk-0,size=8G"
    assert "template" not in values(asked, 202)


def test_a_clone_on_shared_storage_can_be_made_on_another_host() -> None:
    asked = one_container(rootfs="ceph:2")

    assert asked.done(asked.post(f"{CT}/clone", newid=201, target="pve2")) == "OK"

    assert asked.cluster.state.guests[201].node == "pve2"


def test_a_failed_clone_leaves_nothing() -> None:
    asked = one_container(mp0="thin:1,mp=/srv")
    asked.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"storage": "thin"}))

    upid = asked.post(f"{CT}/clone", newid=201)

    expected = "clone failed: cfs-lock 'storage-thin' error: got lock request timeout"
    assert asked.done(upid) == expected
    assert list(asked.cluster.state.guests) == [200]
    assert volumes(asked) == ["local-zfs:subvol-200-disk-0", "thin:vm-200-disk-0"]
    assert "lock" not in values(asked)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"newid": 200}, "CT 200 already exists on node 'pve1'"),
        ({"newid": 201, "full": 0}, "Linked clone feature for 'local-zfs:subvol-200-disk-0' is"),
        (
            {"newid": 201, "full": 0, "storage": "thin"},
            "parameter 'storage' not allowed for linked clones",
        ),
        ({"newid": 201, "snapname": "gone"}, "snapshot 'gone' does not exist"),
        ({"newid": 201, "pool": "gone"}, "pool 'gone' does not exist"),
        ({"newid": 201, "target": "pve9"}, "no such cluster node 'pve9'"),
        ({"newid": 201, "target": "pve2"}, "can't clone CT to node 'pve2' (CT uses local storage)"),
        (
            {"newid": 201, "target": "pve2", "storage": "thin"},
            "can't clone to non-shared storage 'thin'",
        ),
    ],
)
def test_clones_that_cannot_be(params: dict[str, object], message: str) -> None:
    asked = one_container()

    error = refused(asked, "POST", f"{CT}/clone", **params)

    assert error.status == 500
    assert error.message.startswith(message)
    assert "lock" not in values(asked)
    assert list(asked.cluster.state.guests) == [200]


def test_a_running_container_is_copied_only_from_a_snapshot() -> None:
    asked = running_container()
    asked.done(asked.post(f"{CT}/snapshot", snapname="before"))

    error = refused(asked, "POST", f"{CT}/clone", newid=201)
    upid = asked.post(f"{CT}/clone", newid=201, snapname="before")

    assert error.message == "Full clone of a running container is only possible from a snapshot"
    assert asked.done(upid) == "OK"
    assert "parent" not in values(asked, 201)
    assert "snaptime" not in values(asked, 201)


@pytest.mark.parametrize(
    ("rootfs", "feature", "expected"),
    [
        ("local-zfs:1", "snapshot", 1),
        ("thin:1", "snapshot", 1),
        ("files:1", "snapshot", 0),
        ("files:1", "copy", 1),
        ("files:0", "copy", 0),
        ("thin:1", "clone", 0),
    ],
)
def test_features_depend_on_storages(rootfs: str, feature: str, expected: int) -> None:
    asked = one_container(rootfs=rootfs)

    assert shown(asked, f"{CT}/feature", feature=feature) == {"hasFeature": expected}
