"""Names that volumes get."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.new_volume import (
    base_name,
    check_new_name,
    cloud_init_name,
    default_format,
    free_disk,
    linked_name,
    new_disk,
    state_name,
)

WRONG_FORMAT = "does not match requested format"


@pytest.mark.parametrize(
    ("storage", "form", "name"),
    [
        ("zfspool", "raw", "vm-100-disk-0"),
        ("zfspool", "subvol", "subvol-100-disk-0"),
        ("lvmthin", "raw", "vm-100-disk-0"),
        ("lvm", "raw", "vm-100-disk-0"),
        ("lvm", "qcow2", "vm-100-disk-0.qcow2"),
        ("rbd", "raw", "vm-100-disk-0"),
        ("dir", "qcow2", "100/vm-100-disk-0.qcow2"),
        ("nfs", "raw", "100/vm-100-disk-0.raw"),
        ("btrfs", "subvol", "100/subvol-100-disk-0.subvol"),
    ],
)
def test_each_type_of_storage_names_a_new_disk_its_way(storage: str, form: str, name: str) -> None:
    assert new_disk(storage, [], 100, form) == name


def test_the_lowest_free_number_is_taken_whatever_the_disk_is_for() -> None:
    taken = [
        "vm-100-disk-0",
        "vm-100-disk-2",
        "base-100-disk-1",
        "vm-101-disk-3",
        "vm-100-cloudinit",
    ]

    assert new_disk("lvmthin", taken, 100) == "vm-100-disk-3"
    assert new_disk("zfspool", ["subvol-100-disk-0"], 100) == "vm-100-disk-1"
    assert new_disk("zfspool", ["base-9-disk-0/vm-100-disk-0"], 100) == "vm-100-disk-1"


def test_on_network_file_storages_each_format_counts_for_itself() -> None:
    taken = ["100/vm-100-disk-0.raw"]

    assert new_disk("nfs", taken, 100, "qcow2") == "100/vm-100-disk-0.qcow2"
    assert new_disk("dir", taken, 100, "qcow2") == "100/vm-100-disk-1.qcow2"


def test_there_is_an_end_to_the_numbers() -> None:
    taken = [f"vm-100-disk-{number}" for number in range(1024)]

    with pytest.raises(FormatError, match="unable to allocate an image name for VM 100"):
        free_disk("rbd", taken, 100)


@pytest.mark.parametrize(
    ("storage", "name", "base"),
    [
        ("zfspool", "vm-9000-disk-0", "base-9000-disk-0"),
        ("zfspool", "subvol-9000-disk-0", "basevol-9000-disk-0"),
        ("zfspool", "base-8-disk-0/vm-9000-disk-0", "base-8-disk-0/base-9000-disk-0"),
        ("lvmthin", "vm-9000-disk-0", "base-9000-disk-0"),
        ("rbd", "vm-9000-disk-0", "base-9000-disk-0"),
        ("dir", "9000/vm-9000-disk-0.qcow2", "9000/base-9000-disk-0.qcow2"),
        (
            "nfs",
            "8/base-8-disk-0.qcow2/9000/vm-9000-disk-0.qcow2",
            "8/base-8-disk-0.qcow2/9000/base-9000-disk-0.qcow2",
        ),
    ],
)
def test_a_template_renames_its_disks(storage: str, name: str, base: str) -> None:
    assert base_name(storage, name) == base


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


@pytest.mark.parametrize(
    ("storage", "base", "linked"),
    [
        ("zfspool", "base-9000-disk-0", "base-9000-disk-0/vm-101-disk-0"),
        ("rbd", "base-9000-disk-0", "base-9000-disk-0/vm-101-disk-0"),
        ("lvmthin", "base-9000-disk-0", "vm-101-disk-0"),
        (
            "dir",
            "9000/base-9000-disk-0.qcow2",
            "9000/base-9000-disk-0.qcow2/101/vm-101-disk-0.qcow2",
        ),
        ("nfs", "9000/base-9000-disk-0.raw", "9000/base-9000-disk-0.raw/101/vm-101-disk-0.qcow2"),
        ("btrfs", "9000/base-9000-disk-0.raw", "101/vm-101-disk-0.raw"),
    ],
)
def test_a_linked_clone_names_its_base_where_the_storage_does(
    storage: str, base: str, linked: str
) -> None:
    assert linked_name(storage, base, [], 101) == linked


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


def test_a_volume_for_a_workload_may_have_any_ending() -> None:
    check_new_name("lvmthin", 9999, "raw", "vm-9999-pvc-1")
    check_new_name("dir", 9999, "raw", "vm-9999-pvc-1.raw")


def test_a_cloud_init_drive_is_an_image_file_or_a_plain_volume() -> None:
    assert cloud_init_name("zfspool", 100) == ("vm-100-cloudinit", "raw")
    assert cloud_init_name("dir", 100) == ("vm-100-cloudinit.qcow2", "qcow2")
    assert cloud_init_name("nfs", 100, "raw") == ("vm-100-cloudinit.raw", "raw")
    assert cloud_init_name("lvm", 100, chained=True) == ("vm-100-cloudinit.qcow2", "qcow2")
    assert cloud_init_name("lvm", 100, "raw", chained=True) == ("vm-100-cloudinit", "raw")


def test_the_memory_of_a_snapshot_is_named_after_it() -> None:
    assert state_name("rbd", 100, "before") == "vm-100-state-before"
    assert state_name("dir", 100, "before") == "vm-100-state-before.raw"


def test_disks_are_raw_unless_snapshots_are_chains_of_logical_volumes() -> None:
    assert default_format("dir") == "raw"
    assert default_format("lvm") == "raw"
    assert default_format("lvm", chained=True) == "qcow2"
