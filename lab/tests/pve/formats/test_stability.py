"""What is read and printed can be read again and is printed the same; nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.formats.boot import boot_order, print_order
from stockman_lab.pve.formats.cloud_init import parse_custom, parse_ip_config
from stockman_lab.pve.formats.container_nic import parse_container_nic
from stockman_lab.pve.formats.content_file import brought_file
from stockman_lab.pve.formats.drive import parse_drive
from stockman_lab.pve.formats.drive_names import DRIVES, bus_of
from stockman_lab.pve.formats.drive_options import ASKED
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import (
    check_machine,
    check_vga,
    current_memory,
    parse_agent,
    parse_cpu,
    parse_machine,
    parse_vga,
)
from stockman_lab.pve.formats.host_devices import parse_pci, parse_usb
from stockman_lab.pve.formats.hotplug_features import parse_hotplug
from stockman_lab.pve.formats.mount_point import parse_device, parse_features, parse_mount_point
from stockman_lab.pve.formats.nic import NIC, parse_nic, vlans
from stockman_lab.pve.formats.sizes import content_bytes, new_disk_bytes, parse_size, resized
from stockman_lab.pve.formats.smbios import parse_smbios
from stockman_lab.pve.formats.startup import parse_startup
from stockman_lab.pve.formats.tags import check_tags, print_tags
from stockman_lab.pve.formats.upid import parse_upid
from stockman_lab.pve.formats.volume_name import parse_volume_id, parse_volume_name

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
ANYTHING = st.text(max_size=40) | st.lists(
    st.tuples(st.text(max_size=6), VALUES).map("=".join), max_size=4
).map(",".join)


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


READERS: dict[str, Callable[[str], object]] = {
    "drive": lambda text: parse_drive("scsi0", text, asked=True),
    "firmware": lambda text: parse_drive("efidisk0", text),
    "card": parse_nic,
    "trunk": vlans,
    "container card": parse_container_nic,
    "root": lambda text: parse_mount_point("rootfs", text),
    "mount": lambda text: parse_mount_point("mp0", text),
    "device": parse_device,
    "features": parse_features,
    "tags": check_tags,
    "order": boot_order,
    "smbios": parse_smbios,
    "pci": parse_pci,
    "usb": parse_usb,
    "agent": parse_agent,
    "cpu": parse_cpu,
    "machine": parse_machine,
    "machine check": check_machine,
    "display": parse_vga,
    "display check": check_vga,
    "memory": current_memory,
    "addresses": parse_ip_config,
    "custom": parse_custom,
    "startup": parse_startup,
    "hotplug": parse_hotplug,
    "size": parse_size,
    "growth": lambda text: resized(0, text),
    "content": content_bytes,
    "task": parse_upid,
    "volume": parse_volume_id,
    "file name": lambda text: brought_file("import", text),
    **{
        f"name in {storage}": partial(parse_volume_name, storage)
        for storage in ("dir", "zfspool", "rbd", "lvm", "lvmthin", "pbs", "iscsi")
    },
}


@settings(max_examples=400)
@given(st.sampled_from(sorted(READERS)), ANYTHING)
def test_any_text_is_read_or_refused(reader: str, text: str) -> None:
    with suppress(FormatError, ApiError):
        READERS[reader](text)


@pytest.mark.parametrize("digits", [50, 5000])
@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_number_of_any_length_is_read_or_refused(reader: str, digits: int) -> None:
    number = "9" * digits
    texts = (number, f"{number}G", f"local:{number}", f"vm-{number}-disk-0", f"{number}/a.raw")
    for text in (*texts, f"virtio,tag={'0' * digits}5", f"up={number}", f"std,memory={number}"):
        with suppress(FormatError, ApiError):
            READERS[reader](text)


def test_a_disk_of_any_size_can_be_asked_for_or_is_refused() -> None:
    with pytest.raises(FormatError):
        new_disk_bytes("9" * 5000)
