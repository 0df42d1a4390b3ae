"""Mappings of devices: which one they name, and what is said where another one is there."""

from __future__ import annotations

import pytest

from stockman.model.names import HostName
from stockman.proxmox.pools import DeviceMapping
from stockman.steps.access.mapping import MappedDevice, is_mapped, missing_device

GPU = DeviceMapping(name="gpu", kind="pci", entries=("id=10de:2571,node=pve1,path=0000:01:00.0",))


@pytest.mark.parametrize(
    ("host", "place", "device", "named"),
    [
        ("pve1", "0000:01:00.0", "", True),
        ("pve1", "0000:01:00", "", True),
        ("pve1", "0000:01:00.0", "10DE:2571", True),
        ("pve1", "0000:01:00.0", "10de:9999", False),
        ("pve1", "0000:02:00.0", "", False),
        ("pve2", "0000:01:00.0", "", False),
    ],
)
def test_a_mapping_names_a_device_by_host_place_and_id(
    host: str, place: str, device: str, named: bool
) -> None:
    assert is_mapped(GPU, MappedDevice(host=HostName(host), place=place, id=device)) is named


def test_a_device_that_is_not_there_is_told_with_where_to_correct_it() -> None:
    found = missing_device(MappedDevice(host=HostName("pve1"), place="1-4"), "usb")

    assert found.what == "pve1 has no USB device at 1-4"
    assert "hosts.pve1.passthrough.usb" in found.fix
