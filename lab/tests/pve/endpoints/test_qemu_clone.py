"""Clones and templates."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import ResourcePool
from stockman_lab.pve.errors import ApiError

from lab.tests.machines import QEMU, create, create_linux, ended, put_file, put_image, start, user
from lab.tests.worlds import door

CLONE = f"{QEMU}/100/clone"


def test_a_full_clone_has_disks_addresses_and_ids_of_its_own() -> None:
    api = door()
    source = create_linux(
        api, smbios1="base64=1,serial=aGVsbG8=", ide2="local-zfs:cloudinit", tags="a", onboot=1
    ).config.values

    assert ended(api, "POST", CLONE, newid=101, name="copy", description="mine") == "OK"

    values = api.cluster.state.guests[101].config.values
    assert values["scsi0"] == "local-zfs:vm-101-disk-0,size=2G"
    assert values["ide2"] == "local-zfs:vm-101-cloudinit,media=cdrom,size=4M"
    assert values["net0"] != source["net0"]
    assert values["net0"].endswith(",bridge=vmbr0")
    assert values["smbios1"].startswith("base64=1,serial=aGVsbG8=,uuid=")
    assert values["vmgenid"] != source["vmgenid"]
    assert (values["name"], values["description"], values["tags"]) == ("copy", "mine", "a")
    assert "lock" not in values
    volumes = api.cluster.state.volumes
    assert (
        volumes["pve1/local-zfs:vm-101-disk-0"].blob == volumes["pve1/local-zfs:vm-100-disk-0"].blob
    )


def test_a_clone_boots_what_its_source_booted() -> None:
    api = door()
    create_linux(api)
    ended(api, "POST", CLONE, newid=101)

    start(api, 101)

    assert api.cluster.state.guests[101].inside["kind"] == "plain"


def test_without_a_name_it_is_called_a_copy() -> None:
    api = door()
    create(api, name="web")

    ended(api, "POST", CLONE, newid=101)

    assert api.cluster.state.guests[101].name == "Copy-of-VM-web"


@pytest.mark.parametrize(
    ("storage", "base", "linked"),
    [
        ("local-zfs", "base-100-disk-0", "base-100-disk-0/vm-101-disk-0"),
        ("ceph", "base-100-disk-0", "base-100-disk-0/vm-101-disk-0"),
        ("thin", "base-100-disk-0", "vm-101-disk-0"),
        (
            "files",
            "100/base-100-disk-0.raw",
            "100/base-100-disk-0.raw/101/vm-101-disk-0.qcow2",
        ),
    ],
)
def test_templates_are_cloned_by_linking(storage: str, base: str, linked: str) -> None:
    api = door()
    create(api, scsi0=f"{storage}:4", ide2="none,media=cdrom")
    assert ended(api, "POST", f"{QEMU}/100/template") == "OK"

    assert ended(api, "POST", CLONE, newid=101) == "OK"

    template, made = (api.cluster.state.guests[vmid].config.values for vmid in (100, 101))
    assert template["scsi0"] == f"{storage}:{base},size=4G"
    assert template["template"] == "1"
    assert made["scsi0"] == f"{storage}:{linked},size=4G"
    assert made["ide2"] == "none,media=cdrom"
    assert "template" not in made


def test_a_template_with_linked_clones_cannot_be_destroyed() -> None:
    api = door()
    create(api, scsi0="local-zfs:4")
    ended(api, "POST", f"{QEMU}/100/template")
    ended(api, "POST", CLONE, newid=101)

    status = ended(api, "DELETE", f"{QEMU}/100")

    assert status == "base volume 'local-zfs:base-100-disk-0' is still in use by linked cloned"
    assert 100 in api.cluster.state.guests


def test_many_clones_of_a_template_run_at_once() -> None:
    api = door()
    create(api, scsi0="local-zfs:10")
    ended(api, "POST", f"{QEMU}/100/template")

    tasks = [str(api.post(CLONE, newid=vmid, full=1)) for vmid in range(101, 111)]
    locks = {guest.lock for guest in api.cluster.state.guests.values()}
    api.world.settle()

    assert locks == {"", "clone"}
    assert {api.cluster.state.tasks[upid].exit_status for upid in tasks} == {"OK"}


def test_clones_of_a_running_machine_exclude_each_other() -> None:
    api = door()
    create_linux(api)
    start(api)

    first, second = (str(api.post(CLONE, newid=vmid)) for vmid in (101, 102))
    api.world.settle()

    tasks = api.cluster.state.tasks
    assert tasks[first].exit_status == "OK"
    assert tasks[second].exit_status == (
        "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"
    )
    assert set(api.cluster.state.guests) == {100, 101}


def test_a_clone_for_another_host_needs_shared_storage() -> None:
    api = door()
    create(api, 100, scsi0="ceph:4")
    create(api, 102, scsi0="local-zfs:4")

    assert ended(api, "POST", CLONE, newid=101, target="pve2") == "OK"
    with pytest.raises(ApiError) as caught:
        api.post(f"{QEMU}/102/clone", newid=103, target="pve2")

    assert api.cluster.state.guests[101].node == "pve2"
    assert caught.value.message == "can't clone VM to node 'pve2' (VM uses local storage)"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"newid": 102}, "unable to create VM 102: config file already exists"),
        (
            {"storage": "local-zfs", "target": "pve2"},
            "can't clone to non-shared storage 'local-zfs'",
        ),
        ({"target": "pve9"}, "no such cluster node 'pve9'"),
        ({"snapname": "old"}, "snapshot 'old' does not exist"),
        ({"pool": "x"}, "pool 'x' does not exist"),
        (
            {"full": 0},
            "Linked clone feature is not supported for 'local-zfs:vm-100-disk-0' (scsi0)",
        ),
        ({"full": 0, "storage": "thin"}, "parameter 'storage' not allowed for linked clones"),
        ({"full": 0, "format": "raw"}, "parameter 'format' not allowed for linked clones"),
        ({"storage": "nowhere"}, "storage 'nowhere' does not exist"),
    ],
)
def test_clones_that_cannot_be_are_refused_at_once(asked: dict[str, object], text: str) -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    create(api, 102)

    with pytest.raises(ApiError) as caught:
        api.post(CLONE, **({"newid": 101} | asked))

    assert caught.value.message == text
    assert 101 not in api.cluster.state.guests


def test_a_storage_for_files_only_takes_no_clone() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")

    with pytest.raises(ApiError) as caught:
        api.post(CLONE, newid=101, storage="local")

    assert caught.value.errors == {"storage": "storage 'local' does not support vm images"}


def test_a_clone_that_finds_no_space_leaves_nothing_behind() -> None:
    api = door()
    create(api, scsi0="local-zfs:1", scsi1="local-zfs:900")
    before = dict(api.cluster.state.volumes)

    status = ended(api, "POST", CLONE, newid=101, storage="files", format="raw")

    assert status.startswith("clone failed: unable to create image: /srv/files/images/101/")
    assert set(api.cluster.state.guests) == {100}
    assert api.cluster.state.volumes == before


def test_a_claimed_clone_is_not_there() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    api.world.faults.add(Fault(Point.TASK, Effect.CLAIM, {"type": "qmclone"}))

    assert ended(api, "POST", CLONE, newid=101) == "OK"

    assert set(api.cluster.state.guests) == {100}
    assert set(api.cluster.state.volumes) == {"pve1/local-zfs:vm-100-disk-0"}


def test_a_clone_can_go_to_another_storage_and_pool() -> None:
    api = door()
    put_image(api)
    api.cluster.state.resource_pools["prod"] = ResourcePool("prod")
    create(api, scsi0="local-zfs:1")

    ended(api, "POST", CLONE, newid=101, storage="files", format="qcow2", pool="prod")

    values = api.cluster.state.guests[101].config.values
    assert values["scsi0"] == "files:101/vm-101-disk-0.qcow2,size=1G"
    assert api.cluster.state.resource_pools["prod"].guests == [101]


def test_media_of_the_user_are_named_and_not_copied() -> None:
    api = door()
    put_file(api, "iso/x.iso", b"x" * 2048)
    create(api, ide2="local:iso/x.iso,media=cdrom")

    ended(api, "POST", CLONE, newid=101)

    value = api.cluster.state.guests[101].config.values["ide2"]
    assert value == "local:iso/x.iso,media=cdrom,size=2K"


def test_cloning_needs_the_machine_the_new_id_and_the_storage() -> None:
    api = door()
    create(api, scsi0="local-zfs:1", net0="virtio,bridge=vmbr0")
    somebody = user(api, "VM.Clone", "VM.Allocate")

    with pytest.raises(ApiError) as caught:
        somebody.post(CLONE, newid=101)

    assert caught.value.message == (
        "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"
    )


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        ("template", "you can't convert a template to a template"),
        ("running", "you can't convert a VM to template if VM is running"),
        ("snapshot", "unable to create template, because VM contains snapshots"),
    ],
)
def test_not_everything_can_become_a_template(prepare: str, text: str) -> None:
    api = door()
    create(api, scsi0="local-zfs:1")
    calls: dict[str, tuple[str, dict[str, object]]] = {
        "template": ("template", {}),
        "running": ("status/start", {}),
        "snapshot": ("snapshot", {"snapname": "one"}),
    }
    path, params = calls[prepare]
    assert ended(api, "POST", f"{QEMU}/100/{path}", **params) == "OK"

    with pytest.raises(ApiError) as caught:
        api.post(f"{QEMU}/100/template")

    assert caught.value.message == text
