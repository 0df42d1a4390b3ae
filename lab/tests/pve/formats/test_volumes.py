"""Names of volumes."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import (
    VolumeName,
    base_name,
    check_new_name,
    cloud_init_name,
    free_disk,
    name_of_clone,
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


WRONG_FORMAT = "does not match requested format"


def test_there_is_an_end_to_the_numbers() -> None:
    taken = [f"vm-100-disk-{number}" for number in range(1024)]

    with pytest.raises(FormatError, match="unable to allocate an image name for VM 100"):
        free_disk("rbd", taken, 100)


@pytest.mark.parametrize(
    ("storage", "name", "complaint"),
    [
        ("lvm", "vm-1-disk-0", "can't create base images in lvm storage"),
        ("rbd", "base-1-disk-0", "create_base not possible with base image"),
        ("dir", "iso/a.iso", "create_base on wrong vtype 'iso'"),
    ],
)
def test_not_everything_can_become_a_template(storage: str, name: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refused:
        base_name(storage, name)

    assert refused.value.message == complaint


def test_only_base_images_have_linked_clones() -> None:
    with pytest.raises(FormatError, match="clone_image only works on base images"):
        name_of_clone("rbd", "vm-9000-disk-0", [], 101)
    with pytest.raises(FormatError, match="can't clone images in lvm storage"):
        name_of_clone("lvm", "vm-9000-disk-0", [], 101)


@pytest.mark.parametrize(
    ("storage", "form", "name", "complaint"),
    [
        ("lvmthin", "raw", "data", "illegal name 'data' - should be 'vm-9999-*'"),
        ("zfspool", "raw", "vm-1-pvc", "illegal name 'vm-1-pvc' - should be 'vm-9999-*'"),
        ("zfspool", "subvol", "vm-9999-a", "illegal name 'vm-9999-a' - should be 'subvol-9999-*'"),
        ("rbd", "qcow2", "vm-9999-a", "unsupported format 'qcow2'"),
        ("lvm", "raw", "vm-1-a", "illegal name 'vm-1-a' - should be 'vm-9999-*'"),
        ("lvm", "raw", "vm-9999-a.qcow2",
         f"volume name 'vm-9999-a.qcow2' {WRONG_FORMAT} 'raw' (did you mean 'vm-9999-a'?)"),
        ("dir", "raw", "vm-9999-a", "unable to parse volume filename 'vm-9999-a'"),
        ("dir", "raw", "vm-9999-a.qcow2",
         "illegal name 'vm-9999-a.qcow2' - wrong extension for format ('qcow2 != 'raw')"),
        ("dir", "raw", "../a.raw", "unable to parse volume filename '../a.raw'"),
        ("pbs", "raw", "vm-9999-a", "can't allocate space in pbs storage"),
    ],
)  # fmt: skip
def test_a_chosen_name_has_to_be_one_that_the_storage_would_give(
    storage: str, form: str, name: str, complaint: str
) -> None:
    with pytest.raises(FormatError) as refused:
        check_new_name(storage, 9999, form, name)

    assert refused.value.message == complaint


def test_a_cloud_init_drive_is_an_image_file_or_a_plain_volume() -> None:
    assert cloud_init_name("zfspool", 100) == ("vm-100-cloudinit", "raw")
    assert cloud_init_name("dir", 100) == ("vm-100-cloudinit.qcow2", "qcow2")
    assert cloud_init_name("nfs", 100, "raw") == ("vm-100-cloudinit.raw", "raw")
    assert cloud_init_name("lvm", 100, chained=True) == ("vm-100-cloudinit.qcow2", "qcow2")
    assert cloud_init_name("lvm", 100, "raw", chained=True) == ("vm-100-cloudinit", "raw")
