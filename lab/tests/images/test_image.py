"""Images of all forms, made and read."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.images.facts import PLACE, CorruptImage
from stockman_lab.images.image import Form, Image, read_image
from stockman_lab.images.iso_files import read_iso
from stockman_lab.images.making import MOST_RAW, disk_image, iso_image
from stockman_lab.images.qcow2 import qcow2_file

from lab.tests.images.made import GIB, MIB, MOMENT, facts
from stockman.talos.nocloud.iso_format import nocloud_image


@pytest.mark.parametrize("size", [2 * MIB, 10 * GIB, 8192 * GIB])
def test_a_qcow2_image_says_what_it_is(size: int) -> None:
    image = read_image(disk_image(facts(size), Form.QCOW2))

    assert image == Image(form=Form.QCOW2, virtual_size=size, facts=facts(size), is_bootable=True)


def test_a_raw_image_is_as_large_as_its_disk() -> None:
    content = disk_image(facts(4 * MIB), Form.RAW)

    assert len(content) == 4 * MIB
    assert read_image(content) == Image(
        form=Form.RAW, virtual_size=4 * MIB, facts=facts(4 * MIB), is_bootable=True
    )


def test_the_same_facts_give_the_same_bytes() -> None:
    assert disk_image(facts(), Form.QCOW2) == disk_image(facts(), Form.QCOW2)
    assert disk_image(facts(), Form.QCOW2) != disk_image(facts(platform="metal"), Form.QCOW2)


def test_disks_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ValueError, match="raw image"):
        disk_image(facts(MOST_RAW + 512), Form.RAW)
    with pytest.raises(ValueError, match="vmdk"):
        disk_image(facts(), Form.VMDK)


def test_a_bootable_iso_image_says_what_it_is() -> None:
    content = iso_image(facts(0), MOMENT)

    image = read_image(content)
    volume = read_iso(content)
    assert (image.form, image.facts, image.is_bootable) == (Form.ISO, facts(0), True)
    assert image.virtual_size == len(content)
    assert volume.files == {}
    assert volume.label == "NOCLOUD_V1_13_9"


def test_a_configuration_drive_is_not_bootable() -> None:
    image = read_image(nocloud_image({"user-data": b""}, MOMENT))

    assert (image.form, image.facts, image.is_bootable) == (Form.ISO, None, False)


def test_the_iso_image_of_somebody_else_boots_if_it_has_a_boot_record() -> None:
    content = bytearray(nocloud_image({}, MOMENT))
    record = b"\x00CD001\x01EL TORITO SPECIFICATION"
    content[17 * 2048 : 17 * 2048 + len(record)] = record

    assert read_image(bytes(content)).is_bootable


def test_blank_disks_boot_nothing() -> None:
    for content in (b"", b"\x00" * MIB, qcow2_file(GIB, {})):
        image = read_image(content)
        assert (image.facts, image.is_bootable) == (None, False)


def test_the_disk_of_somebody_else_boots_if_it_has_boot_code() -> None:
    sector = b"\xeb\x63\x90".ljust(510, b"\x00") + b"\x55\xaa"

    assert read_image(qcow2_file(GIB, {0: sector})).is_bootable
    assert read_image(sector.ljust(MIB, b"\x00")).is_bootable


def test_a_vmdk_says_how_large_it_is() -> None:
    content = b"KDMV" + struct.pack("<IIQ", 1, 3, 20480)

    assert read_image(content) == Image(form=Form.VMDK, virtual_size=10 * MIB, is_bootable=True)


def test_a_raw_image_that_is_cut_off_is_refused() -> None:
    content = disk_image(facts(4 * MIB), Form.RAW)

    with pytest.raises(CorruptImage, match="bytes instead of"):
        read_image(content[:MIB])


def test_damaged_facts_are_refused() -> None:
    content = bytearray(disk_image(facts(4 * MIB), Form.RAW))
    content[PLACE + 60] ^= 0xFF

    with pytest.raises(CorruptImage, match="checksum"):
        read_image(bytes(content))


@settings(max_examples=300)
@given(st.data())
def test_damage_is_refused_or_read_and_never_a_surprise(data: st.DataObject) -> None:
    content = bytearray(disk_image(facts(GIB), Form.QCOW2))
    for _ in range(3):
        place = data.draw(st.one_of(st.integers(0, 128), st.integers(0, len(content) - 1)))
        content[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))

    with suppress(CorruptImage):
        assert isinstance(read_image(bytes(content[:end])), Image)
