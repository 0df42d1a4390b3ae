"""Names of volumes by type of storage."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import (
    VolumeName,
    parse_volume_id,
    parse_volume_name,
    storage_of,
)

BASE = "base-9000-disk-0"


@pytest.mark.parametrize(
    ("storage", "name", "expected"),
    [
        ("zfspool", "vm-100-disk-0", VolumeName("images", "vm-100-disk-0", 100)),
        ("zfspool", "subvol-200-disk-0",
         VolumeName("images", "subvol-200-disk-0", 200, format="subvol")),
        ("zfspool", BASE, VolumeName("images", BASE, 9000, is_base=True)),
        ("zfspool", f"{BASE}/vm-101-disk-0",
         VolumeName("images", "vm-101-disk-0", 101, BASE, 9000)),
        ("zfspool", "basevol-9-disk-0/subvol-200-disk-0",
         VolumeName("images", "subvol-200-disk-0", 200, "basevol-9-disk-0", 9, False, "subvol")),
        ("lvmthin", "vm-100-disk-0", VolumeName("images", "vm-100-disk-0", 100)),
        ("lvmthin", BASE, VolumeName("images", BASE, 9000, is_base=True)),
        ("lvm", "vm-100-disk-0", VolumeName("images", "vm-100-disk-0", 100)),
        ("lvm", "vm-100-disk-0.qcow2",
         VolumeName("images", "vm-100-disk-0.qcow2", 100, format="qcow2")),
        ("rbd", f"{BASE}/vm-101-disk-0", VolumeName("images", "vm-101-disk-0", 101, BASE, 9000)),
        ("rbd", BASE, VolumeName("images", BASE, 9000, is_base=True)),
        ("rbd", "vm-9999-pvc-1", VolumeName("images", "vm-9999-pvc-1", 9999)),
        ("dir", "100/vm-100-disk-0.qcow2",
         VolumeName("images", "vm-100-disk-0.qcow2", 100, format="qcow2")),
        ("nfs", "100/other.raw", VolumeName("images", "other.raw", 100)),
        ("nfs", f"9000/{BASE}.qcow2",
         VolumeName("images", f"{BASE}.qcow2", 9000, is_base=True, format="qcow2")),
        ("cifs", f"9000/{BASE}.qcow2/101/vm-101-disk-0.qcow2",
         VolumeName("images", "vm-101-disk-0.qcow2", 101, f"{BASE}.qcow2", 9000, False, "qcow2")),
        ("dir", "iso/talos.iso", VolumeName("iso", "talos.iso")),
        ("dir", "iso/talos.img", VolumeName("iso", "talos.img")),
        ("cephfs", "vztmpl/debian.tar.zst", VolumeName("vztmpl", "debian.tar.zst")),
        ("dir", "import/talos.qcow2", VolumeName("import", "talos.qcow2", format="qcow2")),
        ("dir", "import/a.ova/disk.vmdk",
         VolumeName("import", "a.ova/disk.vmdk", format="ova+vmdk")),
        ("dir", "snippets/any thing", VolumeName("snippets", "any thing")),
        ("dir", "backup/vzdump-qemu-100-2026_01_31-02_00_00.vma.zst",
         VolumeName("backup", "vzdump-qemu-100-2026_01_31-02_00_00.vma.zst", 100)),
        ("dir", "backup/mine.tar.gz", VolumeName("backup", "mine.tar.gz")),
        ("pbs", "backup/vm/100/2026-01-31T02:00:00Z",
         VolumeName("backup", "vm/100/2026-01-31T02:00:00Z", 100, format="pbs-vm")),
        ("pbs", "backup/host/web/2026-01-31T02:00:00Z",
         VolumeName("backup", "host/web/2026-01-31T02:00:00Z", format="pbs-host")),
        ("iscsi", "0.0.1.scsi-3600", VolumeName("images", "scsi-3600")),
    ],
)  # fmt: skip
def test_a_name_says_content_owner_base_and_format(
    storage: str, name: str, expected: VolumeName
) -> None:
    assert parse_volume_name(storage, name) == expected


@pytest.mark.parametrize(
    ("storage", "name", "complaint"),
    [
        ("dir", "iso/../../etc/passwd.iso",
         "unable to parse directory volume name 'iso/../../etc/passwd.iso'"),
        ("dir", "../100/vm-100-disk-0.raw",
         "unable to parse directory volume name '../100/vm-100-disk-0.raw'"),
        ("dir", "100/../200/vm-200-disk-0.raw",
         "unable to parse volume filename '..'"),
        ("dir", "100/../vm-200-disk-0.raw",
         "unable to parse volume filename '../vm-200-disk-0.raw'"),
        ("dir", "100/vm-100-disk-0", "unable to parse volume filename 'vm-100-disk-0'"),
        ("dir", "100/snap-a.qcow2", "'snap-a.qcow2' is a snapshot filename, not a volume!"),
        ("dir", "iso/talos.qcow2", "unable to parse directory volume name 'iso/talos.qcow2'"),
        ("dir", "snippets/a/b", "unable to parse directory volume name 'snippets/a/b'"),
        ("dir", "import/a;b.qcow2", "unable to parse directory volume name 'import/a;b.qcow2'"),
        ("zfspool", "data", "unable to parse zfs volume name 'data'"),
        ("rbd", "data", "unable to parse rbd volume name 'data'"),
        ("lvm", BASE, f"unable to parse lvm volume name '{BASE}'"),
        ("lvmthin", "vm-100-disk-0/../x",
         "lvm name 'vm-100-disk-0/../x' contains illegal characters"),
        ("pbs", "backup/vm/100/today", "unable to parse PBS volume name 'backup/vm/100/today'"),
        ("iscsi", "lun0", "unable to parse iscsi volume name 'lun0'"),
    ],
)  # fmt: skip
def test_other_names_are_refused_as_the_storage_does(
    storage: str, name: str, complaint: str
) -> None:
    with pytest.raises(FormatError) as refused:
        parse_volume_name(storage, name)

    assert refused.value.message == complaint


def test_a_volume_is_a_storage_and_a_name() -> None:
    assert parse_volume_id("local:iso/a:b.iso") == ("local", "iso/a:b.iso")
    assert storage_of("local-zfs:vm-100-disk-0") == "local-zfs"
    assert storage_of("/dev/sda") == ""
    with pytest.raises(FormatError, match="unable to parse volume ID 'x:y'"):
        parse_volume_id("x:y")
