"""Scalars: what Talos takes, and what it prints."""

import pytest

from stockman.talos.patches.scalars import (
    check_size_condition,
    duration_text,
    merge_urls,
    parse_address,
    parse_address_and_port,
    parse_disk_size,
    parse_hardware_address,
    parse_nanoseconds,
    parse_prefix,
    parse_size,
    parse_url,
    resolve_scalar,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("yes", "yes"),
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e3", 1000.0),
        ("-0b11", -3),
        ("~", None),
        (".inf", float("inf")),
        ("1.2.3", "1.2.3"),
        ("9" * 400, "9" * 400),
    ],
)
def test_unquoted_texts_are_what_talos_takes_them_for(text: str, value: object) -> None:
    assert resolve_scalar(text) == value


@pytest.mark.parametrize(
    ("text", "printed"),
    [("90s", "1m30s"), ("1h", "1h0m0s"), ("100ms", "100ms"), ("1.5s", "1.5s"), ("-3m", "-3m0s")],
)
def test_times_are_printed_as_talos_prints_them(text: str, printed: str) -> None:
    assert duration_text(parse_nanoseconds(text)) == printed


@pytest.mark.parametrize("text", ["", "15", "soon", "1x", "h"])
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(ValueError, match="a time is a number with a unit"):
        parse_nanoseconds(text)


def test_sizes_have_units_of_both_sorts() -> None:
    assert [parse_size("10GiB"), parse_size("1.5 tb"), parse_size("1,024")] == [
        10 << 30,
        1_500_000_000_000,
        1024,
    ]
    assert [parse_disk_size("1.5 tb"), parse_disk_size("10GiB")] == ["1.5 TB", 10 << 30]
    assert check_size_condition(" >= 100GB ") == ">= 100GB"


def test_addresses_have_one_spelling() -> None:
    assert parse_address("FD00:0:0::A") == "fd00::a"
    assert parse_address("::ffff:10.0.0.1") == "::ffff:10.0.0.1"
    assert parse_prefix("10.1.2.3/24") == "10.1.2.3/24"
    assert parse_address_and_port("[FD00::1]:51820") == "[fd00::1]:51820"
    assert parse_hardware_address("52540012AAFF") == "52:54:00:12:aa:ff"


@pytest.mark.parametrize("text", ["10.1.2.3/33", "10.1.2.3", "10.1.2.3/08", "/8"])
def test_other_texts_are_no_networks(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_prefix(text)


def test_urls_are_merged_part_by_part() -> None:
    left, right = (
        parse_url("https://one.example:6443/path?key=value"),
        parse_url("http://two.example"),
    )

    assert str(merge_urls(left, right)) == "http://two.example/path?key=value"
