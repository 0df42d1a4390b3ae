"""What firmware finds."""

from __future__ import annotations

from stockman_lab.images.facts import ImageFacts

from lab.tests.guest.machines import GIB, image, machine


def test_the_first_disk_in_order_that_holds_something_boots() -> None:
    view = machine(disk=image())

    assert view.boot_disk is view.disk("scsi0")


def test_nothing_boots_from_blank_disks_or_from_those_out_of_order() -> None:
    blank, unordered = machine(), machine(disk=image())
    unordered.boot_order = ["ide2", "scsi1", "net0"]

    assert blank.boot_disk is None
    assert unordered.boot_disk is None


def test_what_a_guest_installs_boots_from_then_on() -> None:
    view = machine(disk=image("metal"))
    disk = view.disk("scsi0")
    assert disk is not None
    installed = ImageFacts(platform="nocloud", version="v1.13.9", virtual_size=GIB)

    disk.install(installed)

    assert disk.facts == installed
    assert disk.is_bootable
