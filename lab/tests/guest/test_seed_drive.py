"""Which drive a guest reads at its first boot."""

from __future__ import annotations

from stockman_lab.guest.seed_drive import seed_files
from stockman_lab.images.iso_folders import folders_image

from lab.tests.images.made import MOMENT
from stockman.talos.nocloud.iso_writer import nocloud_image

FILES = {"user-data": b"#cloud-config\n"}


def test_the_drive_with_the_label_is_read() -> None:
    other = folders_image({"user-data": b"wrong"}, MOMENT, "config-2")

    assert seed_files([b"", b"\x00" * 40000, other, nocloud_image(FILES, MOMENT)]) == FILES


def test_the_label_may_be_in_capital_letters() -> None:
    assert seed_files([folders_image(FILES, MOMENT, "CIDATA")]) == FILES


def test_there_may_be_none() -> None:
    assert seed_files([folders_image(FILES, MOMENT, "BOOT")]) is None
