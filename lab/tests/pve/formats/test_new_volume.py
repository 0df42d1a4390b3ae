"""Names that volumes get."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.new_volume import (
    base_name,
    check_new_name,
    cloud_init_name,
    free_disk,
    linked_name,
)

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
        linked_name("rbd", "vm-9000-disk-0", [], 101)
    with pytest.raises(FormatError, match="can't clone images in lvm storage"):
        linked_name("lvm", "vm-9000-disk-0", [], 101)


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
        ("iscsi", "raw", "vm-9999-a", "can't allocate space in iscsi storage"),
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
