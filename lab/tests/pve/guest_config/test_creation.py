"""Configurations of guests that are just being made."""

from __future__ import annotations

from stockman_lab.pve.guest_config.creation import Maker, cloned_machine, new_machine

from lab.tests.pve.throws import Counting

FIRST = "00000000-0000-0000-0000-000000000001"
SECOND = "00000000-0000-0000-0000-000000000002"


def maker() -> Maker:
    """A maker whose dice count."""
    return Maker(Counting(), now=1712345678)


def test_what_nobody_chose_is_filled_in() -> None:
    values = new_machine({"scsi0": "local-lvm:vm-100-disk-0,size=1G", "net0": "virtio"}, maker())

    assert values == {
        "boot": "order=scsi0;net0",
        "meta": "creation-qemu=9.2.0,ctime=1712345678",
        "net0": "virtio",
        "scsi0": "local-lvm:vm-100-disk-0,size=1G",
        "smbios1": f"uuid={FIRST}",
        "vmgenid": SECOND,
    }


def test_what_was_chosen_is_kept_as_it_was_sent() -> None:
    chosen = {
        "boot": "order=net0",
        "smbios1": "uuid=11111111-2222-3333-4444-555555555555,base64=1",
        "vmgenid": "0",
        "agent": "type=virtio,enabled=1",
    }

    values = new_machine(chosen, maker())

    assert {key: values[key] for key in chosen} == chosen


def test_a_machine_without_devices_boots_from_a_blank() -> None:
    assert new_machine({}, maker())["boot"] == " "


def test_windows_gets_the_machine_that_it_meets_first() -> None:
    assert new_machine({"ostype": "win11"}, maker())["machine"] == "pc-i440fx-9.2+pve1"


def test_a_clone_has_another_identity_and_leaves_the_past_behind() -> None:
    original = {
        "name": "template",
        "template": "1",
        "lock": "backup",
        "net0": "virtio=BC:24:11:AA:BB:CC,bridge=vmbr0",
        "smbios1": "uuid=11111111-2222-3333-4444-555555555555,serial=aD1h,base64=1",
        "vmgenid": "11111111-2222-3333-4444-555555555555",
        "scsi0": "local:base-9-disk-0",
        "unused0": "local:vm-9-disk-1",
        "parent": "before",
        "runningmachine": "pc",
        "ide2": "none,media=cdrom",
    }

    assert cloned_machine(original, maker()) == {
        "lock": "clone",
        "name": "template",
        "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0",
        "smbios1": f"base64=1,serial=aD1h,uuid={SECOND}",
        "vmgenid": "00000000-0000-0000-0000-000000000003",
        "scsi0": "local:base-9-disk-0",
        "ide2": "none,media=cdrom",
    }


def test_a_clone_without_a_generation_gets_none() -> None:
    assert "vmgenid" not in cloned_machine({}, maker())
    assert cloned_machine({"vmgenid": "0"}, maker())["vmgenid"] == "0"
