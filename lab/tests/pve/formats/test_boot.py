"""What a virtual machine boots from."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.boot import (
    boot_disks,
    boot_order,
    check_order_exists,
    default_order,
    print_order,
)


def test_an_order_is_a_list_of_devices() -> None:
    assert boot_order("order=scsi0;ide2;net0") == ["scsi0", "ide2", "net0"]
    assert boot_order("order=scsi0 net31;usb13;hostpci15") == [
        "scsi0",
        "net31",
        "usb13",
        "hostpci15",
    ]
    assert print_order(["scsi0", "net0"]) == "order=scsi0;net0"
    assert print_order([]) == ""


def test_the_old_letters_name_no_device() -> None:
    assert boot_order("cdn") == []
    assert boot_order("") == []


def test_a_new_machine_boots_from_its_first_disk_then_cdrom_then_card() -> None:
    config = {
        "net1": "virtio",
        "net0": "virtio",
        "ide2": "local:iso/talos.iso,media=cdrom",
        "virtio0": "local-lvm:vm-100-disk-1",
        "scsi1": "local-lvm:vm-100-disk-0",
        "efidisk0": "local-lvm:vm-100-disk-2",
    }

    assert default_order(config) == ["scsi1", "ide2", "net0"]
    assert default_order({"net3": "virtio"}) == ["net3"]
    assert default_order({}) == []


def test_a_device_that_is_not_there_or_goes_cannot_be_booted_from() -> None:
    check_order_exists("order=scsi0;net0", {"scsi0", "net0"}, [])

    for known, deleted in (({"scsi0"}, []), ({"scsi0", "net0"}, ["net0"])):
        with pytest.raises(ApiError) as refused:
            check_order_exists("order=scsi0;net0", known, deleted)
        assert refused.value.status == 500
        assert refused.value.message == "invalid bootorder: device 'net0' does not exist'"


def test_disks_of_the_order_are_boot_disks() -> None:
    assert boot_disks({"boot": "order=scsi0;net0;ide2"}) == ["scsi0", "ide2"]
    assert boot_disks({"boot": "cdn", "bootdisk": "scsi1"}) == ["scsi1"]
    assert boot_disks({"bootdisk": "scsi1"}) == ["scsi1"]
    assert boot_disks({"boot": " "}) == []
    assert boot_disks({}) == []
