"""Disks of hosts, what is made of them, and what a host finds."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest import Guest
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.host import PhysicalDisk

from lab.tests.worlds import TIB, door

DISKS = "/nodes/pve1/disks"


def with_disks(*paths: str, size: int = TIB) -> MemoryDoor:
    api = door()
    api.cluster.state.hosts["pve1"].disks += [PhysicalDisk(path, size) for path in paths]
    return api


def test_unused_disks_can_be_asked_for() -> None:
    rows = door().get(f"{DISKS}/list", type="unused")

    assert [row["devpath"] for row in rows] == ["/dev/sda"]


def test_a_path_that_is_no_disk_is_refused() -> None:
    reply = door().reply("PUT", f"{DISKS}/wipedisk", {"disk": "/dev/sdz"})

    assert (reply.status, reply.reason) == (500, "not a valid block device")


def test_the_same_pool_on_another_host_extends_the_storage() -> None:
    api = door()
    for host in ("pve1", "pve2"):
        upid = api.post(
            f"/nodes/{host}/disks/zfs",
            name="tank",
            raidlevel="single",
            devices="/dev/sda",
            add_storage=1,
        )
        assert api.done(upid) == "OK"

    storage_tank = api.get("/storage/tank")

    assert storage_tank["nodes"] == "pve1,pve2"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"devices": "/dev/nvme0n1"}, "device '/dev/nvme0n1' is already in use"),
        ({"name": "rpool"}, "pool 'rpool' already exists on node 'pve1'"),
        ({"raidlevel": "mirror"}, "mirror needs at least 2 disks"),
        ({"raidlevel": "raid10"}, "raid10 needs an even number of disks"),
        ({"draid-config": "data=1,spares=0"}, "draid-config set without using dRAID level"),
        ({"devices": "/dev/sda,/dev/sdb"}, "please give only one disk for single disk mode"),
        (
            {"name": "local", "add_storage": 1},
            "Storage ID 'local' already exists on node pve1",
        ),
    ],
)
def test_a_zfs_pool_that_cannot_be_is_refused(given: dict[str, object], text: str) -> None:
    asked: dict[str, object] = {"name": "tank", "raidlevel": "single", "devices": "/dev/sda"}

    reply = with_disks("/dev/sdb").reply("POST", f"{DISKS}/zfs", asked | given)

    assert (reply.status, reply.reason) == (500, text)


def test_a_pool_in_use_is_not_taken_apart() -> None:
    api = door()
    volid = api.post(
        "/nodes/pve1/storage/local-zfs/content", vmid=100, filename="vm-100-a", size="1G"
    )
    config = GuestConfig({"scsi0": f"{volid},size=1G"})
    api.cluster.state.guests[100] = Guest(100, "qemu", "pve1", config, status="running")

    upid = api.delete(f"{DISKS}/zfs/rpool")

    assert api.done(upid) == "command 'zpool destroy rpool' failed: exit code 1"


def test_a_disk_is_wiped_unless_somebody_uses_it() -> None:
    api = with_disks("/dev/sdb", "/dev/sdc")
    disks = {disk.devpath: disk for disk in api.cluster.state.hosts["pve1"].disks}
    disks["/dev/sdb"].used = "LVM"
    disks["/dev/sdc"].used = "ext4"
    disks["/dev/sda"].used = "partitions"

    with pytest.raises(ApiError, match=r"^disk/partition '/dev/sdb' has a holder$"):
        api.put(f"{DISKS}/wipedisk", disk="/dev/sdb")
    with pytest.raises(ApiError, match=r"^disk/partition '/dev/sdc' is mounted$"):
        api.put(f"{DISKS}/wipedisk", disk="/dev/sdc")
    assert api.done(api.put(f"{DISKS}/wipedisk", disk="/dev/sda")) == "OK"
    assert disks["/dev/sda"].used == ""
    status = api.done(api.put(f"{DISKS}/wipedisk", disk="/dev/nvme0n1"))
    assert status.endswith("probing initialization failed: Device or resource busy")
