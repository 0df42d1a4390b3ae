"""Machines: made and destroyed, and their disks."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.cluster_state import ResourcePool, Section
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.host import GIB

from lab.tests.machines import (
    IMAGE,
    QEMU,
    create,
    create_linux,
    ended,
    put_file,
    put_image,
    replied,
    start,
    user,
)
from lab.tests.worlds import door, small_world


def test_a_new_machine_gets_what_was_left_to_choose() -> None:
    api = door()

    values = create(api, scsi0="local-zfs:32", ide2="none,media=cdrom", net0="virtio").config.values

    assert values["scsi0"] == "local-zfs:vm-100-disk-0,size=32G"
    assert values["ide2"] == "none,media=cdrom"
    assert values["net0"].startswith("virtio=BC:24:11:")
    assert values["boot"] == "order=scsi0;ide2;net0"
    assert values["meta"] == "creation-qemu=10.1.2,ctime=1767225601"
    assert values["smbios1"].startswith("uuid=")
    assert len(values["vmgenid"]) == 36
    assert "lock" not in values


def test_the_id_is_taken_before_the_worker_is_through() -> None:
    api = door()
    api.post(QEMU, vmid=100)

    with pytest.raises(ApiError) as caught:
        api.post("/nodes/pve2/qemu", vmid=100)

    assert caught.value.message == (
        "unable to create VM 100 - VM 100 already exists on node 'pve1'"
    )
    assert api.cluster.state.guests[100].lock == "create"


def test_the_id_of_a_container_is_taken_too() -> None:
    api = door()
    api.cluster.state.guests[100] = Guest(100, "lxc", "pve2", GuestConfig())

    with pytest.raises(ApiError, match="CT 100 already exists on node 'pve2'"):
        api.post(QEMU, vmid=100)


def test_an_import_has_the_size_and_the_bytes_of_the_image() -> None:
    api = door()
    put_image(api)

    values = create(api, scsi0=f"local-zfs:0,import-from={IMAGE},iothread=1").config.values

    assert values["scsi0"] == "local-zfs:vm-100-disk-0,iothread=1,size=2G"
    volumes = api.cluster.state.volumes
    disk, image = volumes["pve1/local-zfs:vm-100-disk-0"], volumes[f"pve1/{IMAGE}"]
    assert disk.size == 2 * GIB
    assert disk.blob == image.blob
    assert api.world.state.blobs.holders[disk.blob] == 2


def test_an_import_into_files_keeps_the_format_of_the_image() -> None:
    api = door()
    put_image(api)

    values = create(api, scsi0=f"files:0,import-from={IMAGE}").config.values

    assert values["scsi0"] == "files:100/vm-100-disk-0.qcow2,size=2G"


def test_an_import_of_a_disk_needs_no_file() -> None:
    api = door()
    create_linux(api, 100)

    values = create(api, 101, scsi0="thin:0,import-from=local-zfs:vm-100-disk-0").config.values

    assert values["scsi0"] == "thin:vm-101-disk-0,size=2G"


@pytest.mark.parametrize(
    ("storage", "size"), [("local-zfs", "1M"), ("thin", "4M"), ("files", "528K"), ("ceph", "1M")]
)
def test_firmware_variables_have_the_size_that_the_storage_makes(storage: str, size: str) -> None:
    values = create(door(), efidisk0=f"{storage}:1,efitype=4m").config.values

    assert values["efidisk0"].endswith(f",efitype=4m,size={size}")


def test_firmware_variables_with_keys_name_their_certificate_since_nine() -> None:
    asked = "local-zfs:1,efitype=4m,pre-enrolled-keys=1"

    nine = create(door(), efidisk0=asked).config.values["efidisk0"]
    eight = create(door(small_world("8.4")), efidisk0=asked).config.values["efidisk0"]

    assert nine == "local-zfs:vm-100-disk-0,efitype=4m,ms-cert=2023k,pre-enrolled-keys=1,size=1M"
    assert eight == "local-zfs:vm-100-disk-0,efitype=4m,pre-enrolled-keys=1,size=1M"


def test_tpm_state_and_cloud_init_drives_have_four_mebibytes() -> None:
    api = door()

    values = create(api, tpmstate0="thin:9,version=v2.0", ide2="files:cloudinit").config.values

    assert values["tpmstate0"] == "thin:vm-100-disk-0,size=4M,version=v2.0"
    assert values["ide2"] == "files:100/vm-100-cloudinit.qcow2,media=cdrom"
    assert api.cluster.state.volumes["pve1/files:100/vm-100-cloudinit.qcow2"].size == 4 << 20


def test_disks_of_all_kinds_share_the_numbers() -> None:
    values = create(
        door(), efidisk0="local-zfs:1", scsi0="local-zfs:1", tpmstate0="local-zfs:1"
    ).config.values

    assert [values[key].split(",")[0] for key in ("efidisk0", "scsi0", "tpmstate0")] == [
        "local-zfs:vm-100-disk-0",
        "local-zfs:vm-100-disk-1",
        "local-zfs:vm-100-disk-2",
    ]


def test_a_machine_that_begins_as_a_template_has_base_disks() -> None:
    values = create(door(), scsi0="local-zfs:1", template=1).config.values

    assert values["scsi0"] == "local-zfs:base-100-disk-0,size=1G"


def test_tags_are_sorted_and_in_small_letters() -> None:
    assert create(door(), tags="Web,alpha web").config.values["tags"] == "alpha;web"


def test_a_failure_leaves_nothing_behind() -> None:
    api = door()
    before = dict(api.cluster.state.volumes)

    status = ended(api, "POST", QEMU, vmid=100, scsi0="local-zfs:8", scsi1="files:900")

    assert status == (
        "unable to create VM 100 - unable to create image: /srv/files/images/100/vm-100-disk-0.raw:"
        " No space left on device"
    )
    assert api.cluster.state.guests == {}
    assert api.cluster.state.volumes == before


def test_a_killed_worker_gives_the_id_back() -> None:
    api = door()
    upid = api.post(QEMU, vmid=100, scsi0="local-zfs:8")

    api.delete(f"/nodes/pve1/tasks/{upid}")

    assert api.cluster.state.guests == {}
    assert api.cluster.state.volumes == {}


def test_an_image_that_is_not_there_cannot_be_imported() -> None:
    status = ended(
        door(), "POST", QEMU, vmid=100, scsi0="local-zfs:0,import-from=local:import/x.raw"
    )

    assert status == (
        "unable to create VM 100 - cannot import from 'local:import/x.raw' - could not get size of"
        " local:import/x.raw"
    )


def test_a_file_that_is_no_image_cannot_be_imported() -> None:
    api = door()
    put_file(api, "import/bad.qcow2", b"hello")

    status = ended(
        api, "POST", QEMU, vmid=100, scsi0="local-zfs:0,import-from=local:import/bad.qcow2"
    )

    assert status.endswith("failed to query file information with qemu-img")


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"scsi0": "local:8"}, {"storage": "storage 'local' does not support vm images"}),
        (
            {"scsi0": "local-zfs:8,import-from=local:import/x.qcow2"},
            {
                "scsi0": "'import-from' requires special syntax - use"
                " <storage ID>:0,import-from=<source>"
            },
        ),
        (
            {"scsi0": "local-zfs:0,import-from=local:iso/x.iso"},
            {"scsi0": "local:iso/x.iso has wrong type 'iso' - needs to be 'images' or 'import'"},
        ),
        (
            {"ide2": "local:iso/x.iso"},
            {"ide2": "explicit 'media=cdrom' is required for iso images"},
        ),
        (
            {"scsi0": "local:import/x.qcow2"},
            {"scsi0": "content type needs to be 'images' or 'iso'"},
        ),
    ],
)
def test_drives_that_cannot_be_are_refused_at_once(
    values: dict[str, object], errors: dict[str, str]
) -> None:
    api = door()

    with pytest.raises(ApiError) as caught:
        api.post(QEMU, vmid=100, **values)

    assert caught.value.errors == errors
    assert api.cluster.state.guests == {}


def test_a_storage_that_does_not_exist_is_named() -> None:
    with pytest.raises(ApiError, match="storage 'nowhere' does not exist"):
        door().post(QEMU, vmid=100, scsi0="nowhere:8")


def test_a_pool_that_does_not_exist_is_named() -> None:
    with pytest.raises(ApiError, match="pool 'x' does not exist"):
        door().post(QEMU, vmid=100, pool="x")


def test_pool_start_and_high_availability_come_with_the_machine() -> None:
    api = door()
    api.cluster.state.resource_pools["prod"] = ResourcePool("prod")
    put_image(api)

    guest = create(
        api,
        scsi0=f"local-zfs:0,import-from={IMAGE}",
        pool="prod",
        start=1,
        ha__managed=1,
    )

    assert api.cluster.state.resource_pools["prod"].guests == [100]
    assert guest.is_running
    assert api.cluster.state.ha_resources["vm:100"].options == {"state": "started"}


def test_without_quorum_nothing_is_made() -> None:
    api = door()
    api.cluster.state.hosts["pve2"].has_power = api.cluster.state.hosts["pve3"].has_power = False

    with pytest.raises(ApiError, match=r"cluster not ready - no quorum\?"):
        api.post(QEMU, vmid=100)


def test_who_may_not_allocate_is_refused() -> None:
    somebody = user(door(), "VM.Audit")

    with pytest.raises(ApiError) as caught:
        somebody.post(QEMU, vmid=100)

    assert (caught.value.status, caught.value.message) == (403, "Permission check failed")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"cores": 2}, "Permission check failed (/vms/100, VM.Config.CPU)"),
        (
            {"scsi0": "local-zfs:8"},
            "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)",
        ),
        ({"args": "-x"}, "only root can set 'args' config"),
        ({"hostpci0": "01:00.0"}, "only root can set 'hostpci0' config for non-mapped devices"),
        ({"start": 1}, "Permission check failed (/vms/100, VM.PowerMgmt)"),
        ({"ha__managed": 1}, "Permission check failed (/, Sys.Console)"),
    ],
)
def test_values_need_privileges_of_their_own(values: dict[str, object], text: str) -> None:
    somebody = user(door(), "VM.Allocate")

    with pytest.raises(ApiError) as caught:
        somebody.post(QEMU, vmid=100, **values)

    assert caught.value.message == text


def test_rows_are_what_the_schema_promises_and_only_for_who_may_see_them() -> None:
    api = door()
    create(api, 100, memory="4096", balloon=1024, serial0="socket", tags="a", template=1)
    create(api, 101)

    rows = replied(api, "GET", QEMU)

    assert [(row["vmid"], row["status"], row["maxmem"]) for row in rows] == [
        (100, "stopped", 4096 << 20),
        (101, "stopped", 512 << 20),
    ]
    assert user(api, "VM.Audit", path="/vms/101").get(QEMU) == [rows[1]]


def test_a_fault_of_the_storage_is_the_end_of_the_task() -> None:
    api = door()
    api.world.faults.add(Fault(Point.ALLOCATE, Effect.FAIL, {"storage": "ceph"}))

    status = ended(api, "POST", QEMU, vmid=100, scsi0="ceph:8")

    assert status == (
        "unable to create VM 100 - cfs-lock 'storage-ceph' error: got lock request timeout"
    )


def test_a_restore_is_not_implemented() -> None:
    with pytest.raises(ApiError) as caught:
        door().post(QEMU, vmid=100, archive="local:backup/vzdump-qemu-100-2026_01_01-00_00_00.vma")

    assert caught.value.status == 501


def test_a_full_list_tells_what_monitors_say() -> None:
    api = door()
    create(api)
    ended(api, "POST", f"{QEMU}/100/status/start")

    rows = replied(api, "GET", QEMU, full=1)

    assert rows[0]["running-qemu"] == "10.1.2"


def test_a_destroyed_machine_takes_its_own_disks_along() -> None:
    api = door()
    create(api, 100, scsi0="local-zfs:1", scsi1="thin:1")
    create(api, 101, scsi0="local-zfs:1")
    api.put(f"{QEMU}/100/config", delete="scsi1")
    api.put(f"{QEMU}/100/config", scsi2="local-zfs:vm-101-disk-0")

    assert ended(api, "DELETE", f"{QEMU}/100") == "OK"

    assert set(api.cluster.state.volumes) == {"pve1/local-zfs:vm-101-disk-0"}
    with pytest.raises(ApiError) as caught:
        api.get(f"{QEMU}/100/status/current")
    assert caught.value.message == (
        "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist"
    )


def test_disks_that_nothing_refers_to_stay_unless_they_are_asked_for() -> None:
    api = door()
    for vmid in (100, 101):
        create(api, vmid, scsi0="local-zfs:1")
        del api.cluster.state.guests[vmid].config.values["scsi0"]

    ended(api, "DELETE", f"{QEMU}/100")
    ended(api, "DELETE", f"{QEMU}/101", destroy__unreferenced__disks=1)

    assert set(api.cluster.state.volumes) == {"pve1/local-zfs:vm-100-disk-0"}


def test_entries_elsewhere_go_with_a_machine_that_is_purged() -> None:
    api = door()
    create(api, 100)
    state = api.cluster.state
    state.ha_resources["vm:100"] = Section("vm:100", "vm")
    state.replication["100-0"] = Section("100-0", "local", {"target": "pve2"})
    state.backup_jobs["daily"] = Section("daily", "", {"vmid": "99,100"})
    api.post("/access/users", userid="bob@pve")
    api.put("/access/acl", path="/vms/100", roles="PVEVMUser", users="bob@pve")

    assert ended(api, "DELETE", f"{QEMU}/100", purge=1) == "OK"

    assert state.ha_resources == {}
    assert state.replication == {}
    assert state.backup_jobs["daily"].options == {"vmid": "99"}
    assert "/vms/100" not in state.access.acl


def test_what_is_needed_elsewhere_is_not_destroyed_without_purge() -> None:
    api = door()
    create(api, 100)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm")

    with pytest.raises(ApiError) as caught:
        api.delete(f"{QEMU}/100")

    assert caught.value.message == (
        "unable to remove VM 100 - used in HA resources and purge parameter not set."
    )


def test_a_replicated_machine_is_not_destroyed_without_purge() -> None:
    api = door()
    create(api, 100)
    api.cluster.state.replication["100-0"] = Section("100-0", "local", {"target": "pve2"})

    with pytest.raises(ApiError, match="There is a replication job '100-0' for guest '100'"):
        api.delete(f"{QEMU}/100")


def test_protected_and_running_machines_are_not_destroyed() -> None:
    api = door()
    create(api, 100, protection=1)
    create(api, 101)
    ended(api, "POST", f"{QEMU}/101/status/start")

    with pytest.raises(ApiError, match="can't remove VM 100 - protection mode enabled"):
        api.delete(f"{QEMU}/100")
    with pytest.raises(ApiError, match="VM 101 is running - destroy failed"):
        api.delete(f"{QEMU}/101")


def test_only_root_may_pass_over_a_lock() -> None:
    somebody = user(door(), "VM.Allocate")

    with pytest.raises(ApiError) as caught:
        somebody.delete(f"{QEMU}/100", skiplock=1)

    assert caught.value.errors == {"skiplock": "Only root may use this option."}


RESIZE, MOVE = f"{QEMU}/100/resize", f"{QEMU}/100/move_disk"


def test_the_disk_of_a_running_machine_grows() -> None:
    api = door()
    create_linux(api)
    start(api)

    ended(api, "PUT", RESIZE, disk="scsi0", size="20G")

    assert api.cluster.state.volumes["pve1/local-zfs:vm-100-disk-0"].size == 20 * GIB


@pytest.mark.parametrize(
    ("disk", "size", "status"),
    [
        ("scsi0", "1G", "shrinking disks is not supported"),
        ("scsi0", "32G", "OK"),
        ("scsi5", "40G", "disk 'scsi5' does not exist"),
        ("ide2", "40G", "you can't resize a cdrom"),
    ],
)
def test_how_the_task_ends_says_what_was_wrong(disk: str, size: str, status: str) -> None:
    api = door()
    create(api, scsi0="local-zfs:32", ide2="none,media=cdrom")

    assert ended(api, "PUT", RESIZE, disk=disk, size=size) == status


def test_growing_needs_space_on_the_storage() -> None:
    api = door()
    create(api, scsi0="local-zfs:32")
    somebody = user(api, "VM.Config.Disk")

    status = ended(somebody, "PUT", RESIZE, disk="scsi0", size="40G")

    assert status == "Permission check failed (/storage/local-zfs, Datastore.AllocateSpace)"


def test_a_moved_disk_leaves_its_source_as_unused() -> None:
    api = door()
    guest = create_linux(api, scsi0=None, scsi1="local-zfs:4,ssd=1")

    assert ended(api, "POST", MOVE, disk="scsi1", storage="thin") == "OK"

    assert guest.config.values["scsi1"] == "thin:vm-100-disk-0,size=4G,ssd=1"
    assert guest.config.values["unused0"] == "local-zfs:vm-100-disk-0"


def test_a_disk_of_a_template_stays_one_that_can_be_linked_to() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4")
    ended(api, "POST", f"{QEMU}/100/template")

    ended(api, "POST", MOVE, disk="scsi0", storage="thin", delete=1)

    assert guest.config.values["scsi0"] == "thin:base-100-disk-0,size=4G"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"storage": "local-zfs"}, "you can't move to the same storage with same format"),
        ({"disk": "scsi5"}, "disk 'scsi5' does not exist"),
        ({"disk": "ide2"}, "you can't move a cdrom"),
        ({"storage": "nowhere"}, "storage 'nowhere' does not exist"),
        (
            {"digest": "0" * 40},
            "detected modified configuration - file changed by other user? Try again.",
        ),
    ],
)
def test_moves_that_cannot_be_are_refused_at_once(asked: dict[str, object], text: str) -> None:
    api = door()
    put_file(api, "iso/x.iso", b"x" * 2048)
    create(api, scsi0="local-zfs:1", ide2="local:iso/x.iso,media=cdrom")

    with pytest.raises(ApiError) as caught:
        api.post(MOVE, **({"disk": "scsi0", "storage": "thin"} | asked))

    assert caught.value.message == text


def test_a_move_needs_a_place_and_only_one() -> None:
    api = door()
    create(api, scsi0="local-zfs:1")

    with pytest.raises(ApiError) as none:
        api.post(MOVE, disk="scsi0")
    with pytest.raises(ApiError) as both:
        api.post(MOVE, disk="scsi0", storage="thin", target__vmid=101)

    assert set(none.value.errors.values()) == {
        "both 'storage' and 'target-vmid' missing, either needs to be set"
    }
    assert set(both.value.errors.values()) == {
        "either set 'storage' or 'target-vmid', but not both"
    }
