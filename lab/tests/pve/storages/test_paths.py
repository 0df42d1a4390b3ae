"""Where volumes are on a host."""

from __future__ import annotations

import pytest
from stockman_lab.pve.storage import Storage
from stockman_lab.pve.storages.paths import path_of

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
