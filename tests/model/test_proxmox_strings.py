"""Texts in which Proxmox VE packs several values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.names import Datastore
from stockman.model.proxmox_values import (
    VolumeId,
    format_properties,
    format_size,
    format_tags,
    parse_boot_order,
    parse_flag,
    parse_properties,
    parse_size,
    parse_tags,
)

WORDS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-_:./;+", min_size=1)
KEYS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1)


def test_a_value_without_a_key_belongs_to_the_default_key() -> None:
    assert parse_properties("local-zfs:vm-100-disk-0,size=32G", default="file") == {
        "file": "local-zfs:vm-100-disk-0",
        "size": "32G",
    }


def test_values_may_hold_the_sign_of_equality() -> None:
    assert parse_properties("serial=aD1h==,uuid=1") == {"serial": "aD1h==", "uuid": "1"}


@pytest.mark.parametrize("text", ["x", "a=1,a=2", "=1"])
def test_texts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"key|twice"):
        parse_properties(text)


def test_two_values_without_a_key_are_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        parse_properties("a,b", default="file")


def test_the_default_key_comes_first_and_the_others_by_name() -> None:
    values = {"ssd": "1", "file": "local:1", "discard": "on"}

    assert format_properties(values, default="file") == "local:1,discard=on,ssd=1"


def test_a_value_with_a_comma_is_refused() -> None:
    with pytest.raises(ValueError, match="comma"):
        format_properties({"comment": "a,b"})


@given(st.dictionaries(KEYS, WORDS))
def test_what_is_written_is_read_again(values: dict[str, str]) -> None:
    assert parse_properties(format_properties(values)) == values


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32G", 32 << 30),
        ("528K", 528 << 10),
        ("4M", 4 << 20),
        ("1T", 1 << 40),
        ("1024", 1024),
        ("0.5G", 1 << 29),
        ("2GiB", 2 << 30),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1X", "+1G", "1 G", "1g"])
def test_other_texts_are_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 60))
def test_sizes_that_are_written_are_read_again(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(
    ("size", "text"), [(32 << 30, "32G"), (1 << 40, "1T"), (1536, "1536"), (0, "0"), (2048, "2K")]
)
def test_sizes_have_the_largest_unit_that_fits(size: int, text: str) -> None:
    assert format_size(size) == text


def test_tags_are_sorted_lower_case_and_each_once() -> None:
    assert parse_tags("Talos;stockman, talos b") == ("b", "stockman", "talos")
    assert format_tags(("b", "A", "a")) == "a;b"
    assert parse_tags("") == ()


@pytest.mark.parametrize(("text", "yes"), [("1", True), ("ON", True), ("no", False), ("0", False)])
def test_yes_and_no_are_understood(text: str, yes: bool) -> None:
    assert parse_flag(text) is yes


def test_other_words_are_neither() -> None:
    with pytest.raises(ValueError, match="neither"):
        parse_flag("maybe")


@pytest.mark.parametrize(
    ("text", "order"),
    [("order=scsi0;ide2;net0", ("scsi0", "ide2", "net0")), ("cdn", ()), ("", ()), ("order=", ())],
)
def test_the_order_of_devices_is_read(text: str, order: tuple[str, ...]) -> None:
    assert parse_boot_order(text) == order


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("local-zfs:vm-100-disk-0", 100),
        ("local:100/vm-100-disk-0.qcow2", 100),
        ("tank:base-9000-disk-0/vm-101-disk-0", 101),
        ("local:9000/base-9000-disk-0.qcow2/101/vm-101-disk-0.qcow2", 101),
        ("tank:subvol-200-disk-0", 200),
        ("local:iso/vm.iso", None),
        ("local:import/talos-100-a.qcow2", None),
        ("local:import/vm-100-disk-0.qcow2", None),
        ("nfs:100/photos.qcow2", 100),
        ("nfs:200/vm-100-disk-0.qcow2", 200),
    ],
)
def test_the_owner_of_a_volume_is_told_by_its_name(text: str, owner: int | None) -> None:
    volume = VolumeId.parse(text)

    assert (volume.owner, str(volume)) == (owner, text)
    assert volume.storage == Datastore(text.partition(":")[0])


@pytest.mark.parametrize("text", ["none", "cdrom", "/dev/sda", "/dev/disk/by-id/a:b", ":x", "x:"])
def test_other_sources_are_no_volumes(text: str) -> None:
    with pytest.raises(ValueError, match="names no volume"):
        VolumeId.parse(text)
