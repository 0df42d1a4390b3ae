"""Values of a VM's keys, taken apart."""

from uuid import UUID

import pytest

from stockman.model.proxmox_values import (
    AgentChannel,
    Drive,
    HostDevice,
    NetworkCard,
    Smbios,
    parse_memory,
)

IDENTITY = UUID("4b1e7c7e-9d5a-4f53-8a3e-2f6a0f4d1021")


def test_a_disk_has_a_volume_a_size_and_options() -> None:
    drive = Drive.parse("local-zfs:vm-100-disk-0,discard=on,iothread=0,size=32G,ssd=1")

    assert str(drive.volume) == "local-zfs:vm-100-disk-0"
    assert (drive.size, drive.is_cdrom, drive.is_cloud_init) == (32 << 30, False, False)
    assert [drive.is_on(name) for name in ("discard", "iothread", "ssd", "ro")] == [
        True,
        False,
        True,
        False,
    ]


def test_an_empty_drive_has_no_volume() -> None:
    drive = Drive.parse("none,media=cdrom")

    assert (drive.volume, drive.is_cdrom, drive.size) == (None, True, None)


@pytest.mark.parametrize("name", ["vm-100-cloudinit", "100/vm-100-cloudinit.qcow2"])
def test_a_cloud_init_drive_is_told_by_its_volume(name: str) -> None:
    assert Drive.parse(f"local:{name},media=cdrom").is_cloud_init


@pytest.mark.parametrize("text", ["", "size=1G", "local:1,size=big", "a,b"])
def test_texts_that_are_no_drives_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"volume|size|twice"):
        Drive.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "virtio=BC:24:11:AA:BB:CC,bridge=vmbr0,firewall=1,tag=62",
        "model=virtio,macaddr=bc:24:11:aa:bb:cc,bridge=vmbr0,firewall=1,tag=62",
    ],
)
def test_both_ways_of_writing_a_card_are_one(text: str) -> None:
    card = NetworkCard.parse(text)

    assert (card.model, card.mac, card.bridge) == ("virtio", "bc:24:11:aa:bb:cc", "vmbr0")
    assert (card.vlan_id, card.options) == (62, {"firewall": "1"})


def test_a_card_without_an_address_has_none_yet() -> None:
    card = NetworkCard.parse("e1000,bridge=vmbr1")

    assert (card.model, card.mac, card.vlan_id) == ("e1000", None, None)


def test_a_card_without_a_model_is_none() -> None:
    with pytest.raises(ValueError, match="model"):
        NetworkCard.parse("bridge=vmbr0")


def test_an_identity_is_read_whatever_its_order_and_coding() -> None:
    plain = Smbios.parse(f"uuid={IDENTITY},serial=abc")
    coded = Smbios.parse(f"base64=1,serial=aD1jcC0xO2k9MTAx,uuid={IDENTITY}")

    assert (plain.uuid, plain.fields) == (IDENTITY, {"serial": "abc"})
    assert (coded.uuid, coded.fields) == (IDENTITY, {"serial": "h=cp-1;i=101"})


def test_an_identity_is_written_as_a_clone_writes_it() -> None:
    written = str(Smbios(uuid=IDENTITY, fields={"serial": "h=cp-1;i=101"}))

    assert written == f"base64=1,serial=aD1jcC0xO2k9MTAx,uuid={IDENTITY}"
    assert str(Smbios(uuid=IDENTITY)) == f"uuid={IDENTITY}"


@pytest.mark.parametrize("text", ["uuid=x", "base64=1,serial=%", "base64=1,serial=/w=="])
def test_identities_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"UUID|base64"):
        Smbios.parse(text)


@pytest.mark.parametrize(
    ("text", "enabled"), [("1", True), ("0", False), ("enabled=1,type=virtio", True), ("", False)]
)
def test_the_channel_of_the_agent_is_on_or_off(text: str, enabled: bool) -> None:
    assert AgentChannel.parse(text).enabled is enabled


def test_devices_are_given_by_mapping_or_by_address() -> None:
    mapped, raw = HostDevice.parse("mapping=gpu,pcie=1"), HostDevice.parse("0000:01:00,pcie=1")

    assert (mapped.mapping, mapped.host, mapped.options) == ("gpu", None, {"pcie": "1"})
    assert (raw.mapping, raw.host) == (None, "0000:01:00")


@pytest.mark.parametrize("text", ["4096", "current=4096"])
def test_memory_is_a_number_or_a_property(text: str) -> None:
    assert parse_memory(text) == 4096
