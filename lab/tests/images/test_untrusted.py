"""Images that somebody brought."""

from __future__ import annotations

import struct

import pytest
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image, iso_image
from stockman_lab.images.qcow2 import qcow2_file
from stockman_lab.images.untrusted import UntrustedImage, checked_image

from lab.tests.images.made import GIB, MIB, MOMENT, facts

PATH = "/var/lib/vz/import/a.qcow2"
BACKED = bytearray(qcow2_file(GIB, {}))
struct.pack_into(">QI", BACKED, 8, 512, 3)
ELSEWHERE = bytearray(qcow2_file(GIB, {}))
struct.pack_into(">Q", ELSEWHERE, 72, 1 << 2)


def test_an_image_of_the_claimed_form_passes() -> None:
    assert checked_image(disk_image(facts(), Form.QCOW2), PATH, "qcow2").facts == facts()
    raw = disk_image(facts(4 * MIB), Form.RAW)
    assert checked_image(raw, PATH, "raw").facts == facts(4 * MIB)


@pytest.mark.parametrize("form", ["qcow2", "vmdk"])
def test_an_image_of_another_form_is_refused(form: str) -> None:
    with pytest.raises(UntrustedImage, match=r"^failed to query file information with qemu-img$"):
        checked_image(b"<html>not found</html>", PATH, form)


def test_a_damaged_image_is_refused() -> None:
    with pytest.raises(UntrustedImage, match="failed to query"):
        checked_image(disk_image(facts(), Form.QCOW2)[:90], PATH, "qcow2")


@pytest.mark.parametrize("form", ["qcow2", ""])
def test_an_image_that_refers_to_another_file_is_refused(form: str) -> None:
    with pytest.raises(UntrustedImage) as backed:
        checked_image(bytes(BACKED), PATH, form)
    with pytest.raises(UntrustedImage) as elsewhere:
        checked_image(bytes(ELSEWHERE), PATH, form)

    assert str(backed.value) == f"backing file not allowed for untrusted image '{PATH}'!"
    assert str(elsewhere.value) == f"{PATH}: 'data-file' references are not allowed!"


def test_anything_else_may_lie_in_an_iso_file() -> None:
    assert checked_image(b"<html>not found</html>", PATH).virtual_size == 22


@pytest.mark.parametrize(
    "content",
    [b"<html>", bytes(BACKED), disk_image(facts(4 * MIB), Form.RAW)[:MIB]],
)
def test_any_bytes_are_a_raw_disk_that_boots_nothing(content: bytes) -> None:
    image = checked_image(content, PATH, "raw")

    assert (image.form, image.virtual_size) == (Form.RAW, len(content))
    assert not image.is_bootable


def test_an_iso_image_taken_as_a_disk_boots() -> None:
    image = checked_image(iso_image(facts(0), MOMENT), PATH, "raw")

    assert (image.form, image.facts, image.is_bootable) == (Form.RAW, facts(0), True)
