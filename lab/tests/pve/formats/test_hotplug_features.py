"""What may be changed while a virtual machine runs."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.guest_config.hotplug import parse_hotplug


def test_one_is_the_default_and_zero_is_nothing() -> None:
    assert parse_hotplug("1") == {"network", "disk", "usb"}
    assert parse_hotplug("0") == set()


def test_every_feature_can_be_named() -> None:
    every = "network,disk,cpu,memory,usb,cloudinit"

    assert parse_hotplug(every) == set(every.split(","))


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(FormatError, match="invalid hotplug feature 'sound'"):
        parse_hotplug("disk,sound")
