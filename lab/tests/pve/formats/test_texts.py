"""Small texts of configurations: lists, sizes, startup options, files."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stockman_lab.pve.formats.config_file import encode_text, machine_text
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.lists import Startup, parse_startup, split_list
from stockman_lab.pve.formats.sizes import (
    GIB,
    KIB,
    MIB,
    TIB,
    format_size,
    parse_size,
)
from stockman_lab.pve.guest_config.hotplug import parse_hotplug


def test_between_nuls_everything_else_is_text() -> None:
    assert split_list("a, b\0c") == ["a, b", "c"]


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(FormatError, match="invalid hotplug feature 'sound'"):
        parse_hotplug("disk,sound")


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_can_be_read_back(text: str) -> None:
    encoded = encode_text(text)

    assert unquote(encoded, errors="strict") == text
    assert encoded.isascii()
    assert "\n" not in encoded


@pytest.mark.parametrize("text", ["order=1,up=30,down=60", "1,down=60,up=30", "up=30,,1,down=60"])
def test_order_and_delays_may_stand_in_any_order(text: str) -> None:
    assert parse_startup(text) == Startup(order=1, up=30, down=60)


@pytest.mark.parametrize("text", ["", "0", "first", "up=", "order=-1", "up=1s"])
def test_what_is_no_startup_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="unable to parse startup options"):
        parse_startup(text)


def test_what_waits_special_sections_and_snapshots_follow_in_this_order() -> None:
    text = machine_text(
        {"cores": "2"},
        {"cores": "4", "delete": "!scsi1,net1"},
        {"zwei": {"cores": "1"}, "eins": {"cores": "1", "description": "before"}},
        {"cloudinit": {"ciuser": "me"}},
    )

    assert text == (
        "cores: 2\n"
        "\n[PENDING]\ncores: 4\ndelete: !scsi1,net1\n"
        "\n[special:cloudinit]\nciuser: me\n"
        "\n[eins]\n#before\ncores: 1\n"
        "\n[zwei]\ncores: 1\n"
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512", 512),
        ("528K", 528 * KIB),
        ("4M", 4 * MIB),
        ("32G", 32 * GIB),
        ("1T", TIB),
        ("32GiB", 32 * GIB),
        ("1.5G", 1536 * MIB),
        ("0.1K", 102),
    ],
)
def test_a_size_is_a_number_and_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "1P", "1iB", "-1G", "+1G", "1.G", " 1G", "9" * 5000])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="value does not look like a valid disk size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 60))
def test_a_printed_size_is_the_same_size(size: int) -> None:
    assert parse_size(format_size(size)) == size
