"""Virtual machines that go to another host."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.errors import ApiError
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.preset import pci_device

from lab.tests.machines import QEMU, create, create_linux, ended, put_file, replied, start, user
from lab.tests.worlds import door, small_world

MIGRATE = f"{QEMU}/100/migrate"


def test_a_stopped_machine_takes_its_local_disks_along() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4", ide2="local-zfs:cloudinit", scsi1="ceph:1")

    assert ended(api, "POST", MIGRATE, target="pve2") == "OK"

    assert guest.node == "pve2"
    assert guest.lock == ""
    assert set(api.cluster.state.volumes) == {
        "pve2/local-zfs:vm-100-disk-0",
        "pve2/local-zfs:vm-100-cloudinit",
        "/ceph:vm-100-disk-0",
    }
    assert api.get("/nodes/pve2/qemu/100/status/current")


def test_it_is_locked_on_its_way() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4")

    api.post(MIGRATE, target="pve2")

    assert guest.lock == "migrate"
    with pytest.raises(ApiError, match=r"VM is locked \(migrate\)"):
        api.post(MIGRATE, target="pve3")


def test_a_running_machine_goes_on_without_a_break() -> None:
    api = door()
    guest = create_linux(api, scsi0="local-zfs:0,import-from=local:import/linux.qcow2")
    start(api)
    since = guest.started_at

    assert ended(api, "POST", MIGRATE, target="pve2", online=1, with__local__disks=1) == "OK"

    assert (guest.node, guest.status, guest.started_at) == ("pve2", "running", since)
    assert api.get("/nodes/pve2/qemu/100/agent/get-host-name")


def test_disks_can_change_their_storage_on_the_way() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4,discard=on", scsi1="thin:1")

    status = ended(
        api, "POST", MIGRATE, target="pve2", with__local__disks=1, targetstorage="local-zfs:files"
    )

    assert status == "OK"
    assert guest.config.values["scsi0"] == "files:100/vm-100-disk-0.raw,discard=on,size=4G"
    assert guest.config.values["scsi1"] == "thin:vm-100-disk-0,size=1G"


def test_live_local_disks_have_to_be_asked_for() -> None:
    api = door()
    guest = create(api, scsi0="local-zfs:4")
    start(api)

    upid = str(api.post(MIGRATE, target="pve2", online=1))

    assert api.done(upid) == "migration aborted"
    assert (
        "can't migrate local disk 'local-zfs:vm-100-disk-0': can't live migrate attached local"
        " disks without with-local-disks option"
    ) in api.cluster.state.tasks[upid].log
    assert (guest.node, guest.lock) == ("pve1", "")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("medium", "can't migrate local disk 'local:iso/x.iso': local cdrom image"),
        (
            "stranger",
            (
                "can't migrate local disk 'local-zfs:vm-101-disk-0': owned by other VM"
                " (owner = VM 101)"
            ),
        ),
        (
            "device",
            "ERROR: can't migrate VM which uses local devices: hostpci0",
        ),
        (
            "clone",
            (
                "ERROR: Problem found while scanning volumes - can't migrate"
                " 'local-zfs:base-102-disk-0/vm-100-disk-0' as it's a clone of 'base-102-disk-0'"
            ),
        ),
    ],
)
def test_what_binds_a_machine_to_its_host_is_in_the_log(kind: str, reason: str) -> None:
    api = door()
    put_file(api, "iso/x.iso", b"x" * 2048)
    create(api, 101, scsi0="local-zfs:1")
    create(api, 102, scsi0="local-zfs:1")
    ended(api, "POST", f"{QEMU}/102/template")
    values: dict[str, dict[str, object]] = {
        "medium": {"ide2": "local:iso/x.iso,media=cdrom"},
        "stranger": {"scsi1": "local-zfs:vm-101-disk-0"},
        "device": {"hostpci0": "01:00.0"},
    }
    if kind == "clone":
        ended(api, "POST", f"{QEMU}/102/clone", newid=100)
    else:
        create(api, 100, **values[kind])

    upid = str(api.post(MIGRATE, target="pve2"))

    assert api.done(upid) == "migration aborted"
    assert reason in api.cluster.state.tasks[upid].log


def with_mapped_device(hosts: tuple[str, ...], **more: object) -> MemoryClient:
    """A machine that has a device by a mapping."""
    api = door()
    for host in hosts:
        api.cluster.state.hosts[host].pci.append(pci_device(CARD, 21))
    entries = [f"node={one},path=0000:01:00.0,id=10de:2571,iommugroup=21" for one in hosts]
    api.post("/cluster/mapping/pci", id="gpu", map=entries, **more)
    create(api, 100, machine="q35", scsi0="ceph:1", hostpci0="mapping=gpu")
    return api


def outlook(api: MemoryClient) -> dict[str, object]:
    """What stands in the way, as the schema promises it."""
    conditions: dict[str, object] = replied(api, "GET", MIGRATE)
    return conditions


CARD = {"address": "0000:01:00", "id": "10de:2571", "iommu": True, "name": "gpu"}


def test_a_mapped_device_goes_with_a_machine_that_is_switched_off() -> None:
    api = with_mapped_device(("pve1", "pve2"))

    assert ended(api, "POST", MIGRATE, target="pve2") == "OK"


def test_a_mapped_device_holds_a_machine_that_runs() -> None:
    api = with_mapped_device(("pve1", "pve2"))
    start(api)

    upid = str(api.post(MIGRATE, target="pve2", online=1))

    assert api.done(upid) == "migration aborted"
    assert (
        "ERROR: can't live migrate running VM which uses following mapped devices: hostpci0:gpu"
    ) in api.cluster.state.tasks[upid].log
    told = outlook(api)
    assert told["local_resources"] == told["mapped-resources"] == ["hostpci0"]


def test_a_device_that_can_be_moved_live_holds_nobody() -> None:
    api = with_mapped_device(("pve1", "pve2"), live__migration__capable=1)
    start(api)

    assert outlook(api)["local_resources"] == []
    assert ended(api, "POST", MIGRATE, target="pve2", online=1) == "OK"


def test_a_machine_does_not_go_where_its_mapping_has_no_device() -> None:
    api = with_mapped_device(("pve1",))

    upid = str(api.post(MIGRATE, target="pve2"))

    assert api.done(upid) == "migration aborted"
    told = "ERROR: can't migrate to 'pve2': missing mapped devices hostpci0"
    assert told in api.cluster.state.tasks[upid].log


@pytest.mark.parametrize(
    ("target", "status", "text"),
    [
        ("pve1", 400, "Parameter verification failed."),
        ("pve9", 500, "no such cluster node 'pve9'"),
        ("pve3", 500, "storage 'thin' is not available on node 'pve3'"),
    ],
)
def test_not_every_host_can_be_the_target(target: str, status: int, text: str) -> None:
    api = door()
    create(api, scsi0="thin:1")
    api.cluster.state.storages["thin"].options["nodes"] = "pve1,pve2"

    with pytest.raises(ApiError) as caught:
        api.post(MIGRATE, target=target)

    assert (caught.value.status, caught.value.message) == (status, text)
    assert caught.value.errors == ({"target": "target is local node."} if status == 400 else {})


def test_a_running_machine_has_to_be_meant() -> None:
    api = door()
    create(api)
    start(api)

    with pytest.raises(ApiError, match="can't migrate running VM without --online"):
        api.post(MIGRATE, target="pve2")


def test_a_host_without_power_gets_nothing() -> None:
    api = door()
    guest = create(api, scsi0="ceph:1")
    api.cluster.state.hosts["pve2"].has_power = False

    assert ended(api, "POST", MIGRATE, target="pve2") == "migration aborted"

    assert guest.node == "pve1"


def test_managed_machines_are_brought_by_the_manager() -> None:
    api = door()
    guest = create(api, scsi0="ceph:1")
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm", {"state": "stopped"})

    upid = str(api.post(MIGRATE, target="pve2"))
    api.world.settle()

    assert upid.split(":")[5] == "hamigrate"
    assert guest.node == "pve2"


def test_the_manager_brings_local_disks_of_running_machines_along() -> None:
    api = door()
    guest = create_linux(api)
    start(api)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm", {"state": "started"})

    api.post(MIGRATE, target="pve2", online=1)
    api.world.settle()

    assert (guest.node, guest.status) == ("pve2", "running")


def test_only_root_may_force() -> None:
    api = door()
    create(api)
    somebody = user(api, "VM.Migrate")

    with pytest.raises(ApiError) as caught:
        somebody.post(MIGRATE, target="pve2", force=1)

    assert caught.value.errors == {"force": "Only root may use this option."}


@pytest.mark.parametrize("profile", ["8.4", "9.1"])
def test_what_stands_in_the_way_can_be_asked_for(profile: str) -> None:
    api = door(small_world(profile))
    create(api, scsi0="thin:1", hostpci0="01:00.0", hostpci1="mapping=gpu")
    state = api.cluster.state
    state.storages["thin"].options["nodes"] = "pve1,pve2"
    entries = [f"id=10de:1eb8,node={host},path=0000:01:00.0" for host in ("pve1", "pve3")]
    state.mappings["pci"] = {"gpu": Section("gpu", lists={"map": entries})}

    reply = replied(api, "GET", MIGRATE)

    assert reply["allowed_nodes"] == []
    assert reply["not_allowed_nodes"] == {
        "pve2": {"unavailable-resources": ["hostpci1"]},
        "pve3": {"unavailable_storages": ["thin"]},
    }
    assert reply["local_resources"] == ["hostpci0"]
    assert reply["local_disks"] == [
        {
            "volid": "thin:vm-100-disk-0",
            "size": 1 << 30,
            "cdrom": 0,
            "is_unused": 0,
            "drivename": "scsi0",
        }
    ]
