"""Devices of the host in a guest."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.host_devices import PCI_MAP, USB_MAP, parse_pci, parse_usb
from stockman_lab.pve.formats.property_string import parse


def test_a_pci_device_is_named_by_addresses_or_by_a_mapping() -> None:
    raw = parse_pci("0000:01:00,pcie=1,x-vga=1")
    several = parse_pci("host=01:00.0;02:00.1")
    mapped = parse_pci("mapping=gpu0,pcie=1,mdev=nvidia-63,romfile=a.bin")

    assert (raw.addresses, raw.mapping, raw.pcie, raw.primary_vga) == (
        ("0000:01:00",),
        "",
        True,
        True,
    )
    assert several.addresses == ("01:00.0", "02:00.1")
    assert (mapped.addresses, mapped.mapping, mapped.mediated_type) == ((), "gpu0", "nvidia-63")
    assert mapped.rom_file == "a.bin"


@pytest.mark.parametrize(
    "text",
    ["xyz", "0000:01:00,driver=none", "mapping=1x", "01:00,vendor-id=10de", "01:00,mdev=a/b"],
)
def test_a_pci_device_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_pci(text)


def test_a_usb_device_is_an_id_a_port_a_mapping_or_the_client() -> None:
    assert parse_usb("host=046d:c52b").host == "046d:c52b"
    assert parse_usb("1-2.3,usb3=1").host == "1-2.3"
    assert parse_usb("mapping=stick").mapping == "stick"
    assert parse_usb("spice").is_spice
    assert parse_usb("SPICE,usb3=1").is_spice
    assert not parse_usb("host=046d:c52b").is_spice
    with pytest.raises(FormatError):
        parse_usb("host=keyboard")


def test_entries_of_mappings_say_where_a_device_is() -> None:
    pci = "id=10de:2204,iommugroup=15,node=pve1,path=0000:01:00.0,subsystem-id=1458:403b"
    several = "id=10de:2204,node=pve1,path=0000:01:00.0;0000:02:00.0"

    assert parse(PCI_MAP, pci)["iommugroup"] == "15"
    assert parse(PCI_MAP, several)["path"] == "0000:01:00.0;0000:02:00.0"
    assert parse(USB_MAP, "id=046d:c52b,node=pve1,path=1-2")["path"] == "1-2"
    assert "path" not in parse(USB_MAP, "id=046d:c52b,node=pve1")


@pytest.mark.parametrize(
    "text", ["id=10de:2204,node=pve1", "id=10de,node=pve1,path=0000:01:00.0", "node=-,id=1:2"]
)
def test_an_entry_of_a_pci_mapping_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse(PCI_MAP, text)
