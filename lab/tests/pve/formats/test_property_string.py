"""Property strings: read by a format, printed in one order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.drive import boot_order, parse_drive, print_order
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import print_tags
from stockman_lab.pve.formats.nic import parse_nic
from stockman_lab.pve.formats.property_string import (
    BOOLEAN,
    REQUIRED_DEFAULT_KEY,
    Format,
    Property,
    parse,
    print_properties,
)

CAKE: Format = {
    "kind": REQUIRED_DEFAULT_KEY,
    "flour": Property(required=True),
    "sweet": BOOLEAN,
    "sugar": Property(alias="sweet"),
    "lemon": Property(alias="flour", kept_in="taste"),
    "size": Property(is_size=True),
}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("sweet=yes,eggs=3,name=pie,flour=rye,tart", "tart,flour=rye,eggs=3,name=pie,sweet=1"),
        ("kind=tart,flour=rye", "tart,flour=rye"),
        ("tart,flour=rye,sugar=FALSE", "tart,flour=rye,sweet=0"),
        ("tart,flour=rye,sweet=on", "tart,flour=rye,sweet=1"),
        ("tart,flour=rye,size=32768M", "tart,flour=rye,size=32G"),
        (",tart,, ,flour=rye,", "tart,flour=rye"),
        ("tart,flour=rye,cyls=3", "tart,flour=rye"),
    ],
)
def test_the_default_key_is_bare_then_required_keys_then_others_by_name(
    text: str, printed: str
) -> None:
    assert print_properties(CAKE, parse(CAKE, text, skip={"cyls"})) == printed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b", "duplicate key in comma-separated list property: kind"),
        ("kind=a,b", "duplicate key in comma-separated list property: kind"),
        ("a,eggs=1,eggs=2", "duplicate key in comma-separated list property: eggs"),
        ("a,sweet=1,sugar=1", "key 'sweet' is already defined (via alias)"),
        ("a,taste=good,lemon=rye", "key alias 'taste' is already defined"),
        ("a,=b", "missing key in comma-separated list property"),
        ("a,eggs=", "missing key in comma-separated list property"),
        ("a", "format error\nflour: property is missing and it is not optional"),
    ],
)
def test_what_is_written_twice_or_without_a_key_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse(CAKE, text)

    assert refused.value.text == f"{complaint}\n"


def test_a_bare_value_needs_a_format_with_a_default_key() -> None:
    complaint = "value without key, but schema does not define a default key"
    with pytest.raises(FormatError, match=complaint):
        parse({"eggs": Property()}, "3")


def test_a_bare_value_replaces_a_default_key_that_is_zero() -> None:
    known: Format = {"on": Property(kind="boolean", default_key=True)}

    assert parse(known, "on=0,1") == {"on": "1"}


OPTIONS = st.dictionaries(
    st.sampled_from(["size", "media", "ssd", "macaddr", "virtio", "bridge", "bps_rd_length"]),
    st.sampled_from(["1", "on", "cdrom", "32G", "1.5T", "0x5", "a%20b", "1;2-3", "vmbr0"])
    | st.text(max_size=8),
    max_size=4,
)


@given(st.sampled_from(["local:32", "none", "/dev/sdb", "local:cloudinit", "virtio"]), OPTIONS)
def test_a_device_that_was_printed_is_printed_the_same(first: str, options: dict[str, str]) -> None:
    text = ",".join([first, *(f"{name}={value}" for name, value in options.items())])

    def printed(given: str) -> str:
        return str(parse_nic(given) if first == "virtio" else parse_drive("scsi0", given))

    try:
        once = printed(text)
    except FormatError:
        return
    assert printed(once) == once


@given(st.text(st.characters(exclude_characters="\0"), max_size=30))
def test_tags_that_were_printed_are_printed_the_same(text: str) -> None:
    printed = print_tags(text)

    assert print_tags(printed) == printed


@given(st.lists(st.sampled_from(["scsi0", "net3", "ide2", "usb1"]), unique=True))
def test_an_order_that_was_printed_is_the_same_order(devices: list[str]) -> None:
    assert boot_order(print_order(devices)) == devices
