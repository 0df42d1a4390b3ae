"""Values that change others, or themselves, on their way into a virtual machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.tags import TagStyle

from lab.tests.pve.guest_config.guests import RUNNING, STOPPED, changed, machine, update


def test_a_boot_order_is_printed_canonically_and_ends_the_old_boot_disk() -> None:
    config = machine(bootdisk="scsi0")

    changed(config, STOPPED, boot="order=net0 scsi0")

    assert config.values["boot"] == "order=net0;scsi0"
    assert "bootdisk" not in config.values


def test_a_boot_order_with_a_device_that_is_not_there_is_refused() -> None:
    config = machine()

    with pytest.raises(ApiError, match="invalid bootorder: device 'ide2' does not exist'"):
        changed(config, STOPPED, boot="order=scsi0;ide2")


def test_a_device_of_the_same_request_may_be_booted_from() -> None:
    config = machine()

    changed(config, STOPPED, boot="order=ide2;scsi0", ide2="local:iso/a.iso,media=cdrom")

    assert config.values["boot"] == "order=ide2;scsi0"


def test_a_deleted_device_leaves_the_boot_order() -> None:
    config = machine()

    update(config, STOPPED, {"delete": "net0"})

    assert config.values["boot"] == "order=scsi0"


def test_a_boot_order_without_devices_reads_as_a_blank() -> None:
    config = machine(boot="order=scsi1")

    update(config, STOPPED, {"delete": "scsi1"})

    assert config.values["boot"] == " "


def test_a_new_optical_drive_joins_the_boot_order_and_a_disk_does_not() -> None:
    config = machine()

    changed(config, STOPPED, ide2="local:iso/a.iso,media=cdrom", scsi5="local-lvm:1")

    assert config.values["boot"] == "order=scsi0;net0;ide2"


def test_the_letters_of_old_boot_orders_are_kept_as_they_are() -> None:
    config = machine(boot="cdn")

    changed(config, STOPPED, boot="dcn", ide2="local:iso/a.iso,media=cdrom")

    assert config.values["boot"] == "dcn"


def test_tags_are_stored_in_their_style() -> None:
    config = machine()

    changed(config, STOPPED, tags="Web,app;web")
    assert config.values["tags"] == "app;web"

    changed(config, replace(STOPPED, tag_style=TagStyle(case_sensitive=True)), tags="Web,app")
    assert config.values["tags"] == "Web;app"


def test_deleted_tags_are_gone_at_once() -> None:
    config = machine(tags="a;b")

    update(config, RUNNING, {"delete": "tags"})

    assert "tags" not in config.values
    assert not config.has_pending


def test_windows_gets_the_machine_that_it_meets_first() -> None:
    config = machine()

    changed(config, STOPPED, ostype="win11")

    assert config.values["machine"] == "pc-i440fx-9.2+pve1"


def test_a_machine_that_is_set_with_windows_is_kept() -> None:
    config = machine()

    changed(config, STOPPED, ostype="win11", machine="q35")

    assert config.values["machine"] == "q35"


def test_an_empty_description_is_none() -> None:
    config = machine(description="old")

    changed(config, STOPPED, description="")

    assert "description" not in config.values


def test_a_password_takes_effect_at_once() -> None:
    config = machine()

    changed(config, RUNNING, cipassword="$5$salt$hash")

    assert config.values["cipassword"] == "$5$salt$hash"


def test_a_display_and_a_machine_that_cannot_be_are_refused() -> None:
    with pytest.raises(ApiError, match="vga type none is not compatible with VNC clipboard"):
        changed(machine(), STOPPED, vga="none,clipboard=vnc")
    with pytest.raises(ApiError, match="to use Intel vIOMMU please set the machine type to q35"):
        changed(machine(), STOPPED, machine="pc,viommu=intel")
