"""Calendar events, interrupted downloads, and paths of volumes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.calendar import next_event
from stockman_lab.pve.storages.places import path_of
from stockman_lab.pve.storages.receiving import interrupted
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.outside import Shelf, world_with
from lab.tests.worlds import NAME

THURSDAY = datetime(2026, 1, 1, 12, 7, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("event", "comes"),
    [
        ("*/15", "2026-01-01T12:15:00+00:00"),
        ("12:07", "2026-01-02T12:07:00+00:00"),
        ("0,30", "2026-01-01T12:30:00+00:00"),
        ("21:30", "2026-01-01T21:30:00+00:00"),
        ("mon..fri 02:00", "2026-01-02T02:00:00+00:00"),
        ("sat,sun 02:00", "2026-01-03T02:00:00+00:00"),
        ("fri..mon 02:00", "2026-01-02T02:00:00+00:00"),
        ("wed", "2026-01-07T00:00:00+00:00"),
        ("*-*-15 03:00", "2026-01-15T03:00:00+00:00"),
        ("02-29", "2028-02-29T00:00:00+00:00"),
        ("2027-*-* 00:00", "2027-01-01T00:00:00+00:00"),
        ("8..20/4:00", "2026-01-01T16:00:00+00:00"),
        ("hourly", "2026-01-01T13:00:00+00:00"),
        ("daily", "2026-01-02T00:00:00+00:00"),
        ("weekly", "2026-01-05T00:00:00+00:00"),
        ("monthly", "2026-02-01T00:00:00+00:00"),
        ("quarterly", "2026-04-01T00:00:00+00:00"),
        ("yearly", "2027-01-01T00:00:00+00:00"),
        ("21:30 UTC", "2026-01-01T21:30:00+00:00"),
    ],
)
def test_the_next_moment_of_an_event_is_found(event: str, comes: str) -> None:
    assert next_event(event, THURSDAY) == int(datetime.fromisoformat(comes).timestamp())


def test_a_date_that_is_over_never_comes_again() -> None:
    assert next_event("2020-01-01 00:00", THURSDAY) is None


URL = "http://127.0.0.1/a.iso"


def started(api: MemoryClient) -> str:
    return str(
        api.post("/nodes/pve1/storage/local/download-url", content="iso", filename="a.iso", url=URL)
    )


def test_a_download_whose_content_came_goes_on() -> None:
    shelf = Shelf({URL: b"content" * 1000})
    api = MemoryClient(world_with(shelf), NAME)
    upid = started(api)

    loaded = World(read_world(world_file(api.world.state)), shelf)
    interrupted(loaded.clusters[NAME])
    loaded.settle()

    assert loaded.clusters[NAME].state.tasks[upid].exit_status == "OK"
    assert len(loaded.clusters[NAME].state.volumes) == 1


DIRECTORY = Storage("local", "dir", {"path": "/var/lib/vz"})


@pytest.mark.parametrize(
    ("storage", "name", "path"),
    [
        (DIRECTORY, "iso/a.iso", "/var/lib/vz/template/iso/a.iso"),
        (DIRECTORY, "vztmpl/a.tar.zst", "/var/lib/vz/template/cache/a.tar.zst"),
        (DIRECTORY, "import/a.qcow2", "/var/lib/vz/import/a.qcow2"),
        (DIRECTORY, "snippets/a.yaml", "/var/lib/vz/snippets/a.yaml"),
        (DIRECTORY, "backup/vzdump-qemu-1-x.vma", "/var/lib/vz/dump/vzdump-qemu-1-x.vma"),
        (
            DIRECTORY,
            "9/base-9-disk-0.qcow2/100/vm-100-disk-0.qcow2",
            "/var/lib/vz/images/100/vm-100-disk-0.qcow2",
        ),
        (
            Storage("nas", "nfs", {"server": "a", "export": "/b"}),
            "100/vm-100-disk-0.raw",
            "/mnt/pve/nas/images/100/vm-100-disk-0.raw",
        ),
        (
            Storage("zfs", "zfspool", {"pool": "rpool/data"}),
            "base-9-disk-0/vm-100-disk-0",
            "/dev/zvol/rpool/data/vm-100-disk-0",
        ),
        (
            Storage("zfs", "zfspool", {"pool": "tank", "mountpoint": "/mnt/tank"}),
            "subvol-200-disk-0",
            "/mnt/tank/subvol-200-disk-0",
        ),
        (
            Storage("thin", "lvmthin", {"vgname": "pve", "thinpool": "data"}),
            "vm-100-disk-0",
            "/dev/pve/vm-100-disk-0",
        ),
        (
            Storage("ceph", "rbd", {"pool": "vms"}),
            "vm-100-disk-0",
            "rbd:vms/vm-100-disk-0:conf=/etc/pve/ceph.conf",
        ),
        (
            Storage("ceph", "rbd", {"pool": "vms", "monhost": "10.0.0.1 10.0.0.2"}),
            "vm-100-disk-0",
            (
                "rbd:vms/vm-100-disk-0:mon_host=10.0.0.1;10.0.0.2:auth_supported=cephx:id=admin"
                ":keyring=/etc/pve/priv/ceph/ceph.keyring"
            ),
        ),
        (
            Storage("pbs", "pbs", {"server": "a", "datastore": "d", "namespace": "x/y"}),
            "backup/vm/100/2026-01-01T00:00:00Z",
            "pbs://root@pam@a:d/vm/100/2026-01-01T00:00:00Z?ns=x%2fy",
        ),
    ],
)
def test_a_volume_has_the_path_that_its_storage_gives_it(
    storage: Storage, name: str, path: str
) -> None:
    assert path_of(storage, name) == path
