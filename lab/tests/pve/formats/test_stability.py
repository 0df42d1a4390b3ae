"""What is read and printed can be read again and is printed the same; nothing else happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.boot import boot_order, print_order
from stockman_lab.pve.formats.drive import DRIVES, bus_of, parse_drive
from stockman_lab.pve.formats.drive_options import ASKED
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.nic import NIC, parse_nic
from stockman_lab.pve.formats.sizes import new_disk_bytes
from stockman_lab.pve.formats.tags import print_tags

VALUES = st.sampled_from(
    [
        *("1", "0", "on", "off", "cdrom", "disk", "none", "raw", "qcow2", "32G", "1.5T", "10"),
        *("4m", "v2.0", "native", "ignore", "io_uring", "x", "/dev/sda", "local:iso/x.iso"),
        *("0x5000C500A1B2C3D4", "a%20b", "BC:24:11:AA:BB:CC", "vmbr0", "5", "4094", "1;2-3"),
        *("virtio", "e1000"),
    ]
) | st.text(max_size=8)
FILES = st.sampled_from(
    ["local:32", "local-zfs:vm-100-disk-0", "none", "cdrom", "/dev/sdb", "local:cloudinit"]
)


@st.composite
def drives(draw: st.DrawFn) -> tuple[str, str]:
    """A key and options that may stand there, with values that may not."""
    key = draw(st.sampled_from(DRIVES))
    names = st.sampled_from(sorted(ASKED[bus_of(key)]))
    options = draw(st.dictionaries(names, VALUES, max_size=4))
    pairs = [f"{name}={value}" for name, value in options.items()]
    return key, ",".join([draw(FILES), *pairs])


@given(drives())
def test_a_drive_that_was_printed_is_printed_the_same(drawn: tuple[str, str]) -> None:
    key, text = drawn
    try:
        printed = str(parse_drive(key, text, asked=True))
    except FormatError:
        return
    assert str(parse_drive(key, printed, asked=True)) == printed


@given(st.dictionaries(st.sampled_from(sorted(NIC)), VALUES, max_size=4), st.booleans())
def test_a_card_that_was_printed_is_printed_the_same(options: dict[str, str], bare: bool) -> None:
    text = ",".join(f"{name}={value}" for name, value in options.items())
    try:
        printed = str(parse_nic(f"virtio,{text}" if bare else text))
    except FormatError:
        return
    assert str(parse_nic(printed)) == printed


@given(st.text(st.characters(exclude_characters="\0"), max_size=30))
def test_tags_that_were_printed_are_printed_the_same(text: str) -> None:
    printed = print_tags(text)

    assert print_tags(printed) == printed


@given(st.lists(st.sampled_from(["scsi0", "net3", "ide2", "usb1"]), unique=True))
def test_an_order_that_was_printed_is_the_same_order(devices: list[str]) -> None:
    assert boot_order(print_order(devices)) == devices


def test_a_disk_of_any_size_can_be_asked_for_or_is_refused() -> None:
    with pytest.raises(FormatError):
        new_disk_bytes("9" * 5000)
