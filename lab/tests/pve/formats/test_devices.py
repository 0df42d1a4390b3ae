"""Drives, mounts, network cards and devices of guests: read, changed and printed."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.drive import (
    BOOT_DRIVES,
    bus_of,
    is_drive,
    is_unused,
    parse_drive,
    readable_drive,
)
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.hardware import clone_smbios, new_smbios, parse_pci, parse_usb
from stockman_lab.pve.formats.mount_point import (
    is_mount,
    parse_device,
    parse_features,
    parse_mount_point,
)
from stockman_lab.pve.formats.nic import (
    complete_container_nic,
    complete_nic,
    new_mac,
    parse_nic,
    renew_nic,
    vlans,
)
from stockman_lab.pve.formats.sizes import GIB

from lab.tests.pve.throws import Counting

DISK = "local-zfs:vm-100-disk-0"
MAC = "BC:24:11:AA:BB:CC"
FIRST = "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    ("key", "text", "printed"),
    [
        ("scsi0", f"ssd=1,size=32G,iothread=on,file={DISK},discard=on",
         f"{DISK},discard=on,iothread=1,size=32G,ssd=1"),
        ("virtio3", f"volume={DISK},size=1G", f"{DISK},size=1G"),
        ("efidisk0", "S1:100/vm-100-disk-0.raw,size=540672,efitype=4m",
         "S1:100/vm-100-disk-0.raw,efitype=4m,size=528K"),
        ("tpmstate0", "S1:vm-100-disk-1,version=v2.0,size=4M",
         "S1:vm-100-disk-1,size=4M,version=v2.0"),
        ("ide2", "none,media=cdrom", "none,media=cdrom"),
        ("scsi1", "/dev/sdb,backup=no", "/dev/sdb,backup=0"),
        ("unused3", "S1:vm-100-disk-9", "S1:vm-100-disk-9"),
        ("scsi0", f"{DISK},iops_rd=5,iops_rd_max=7,iops_rd_length=3",
         f"{DISK},iops_rd=5,iops_rd_max=7,iops_rd_max_length=3"),
        ("ide0", f"{DISK},cyls=3,heads=4,secs=5,trans=lba", DISK),
    ],
)  # fmt: skip
def test_every_kind_of_drive_has_one_canonical_text(key: str, text: str, printed: str) -> None:
    assert str(parse_drive(key, text)) == printed
    assert str(parse_drive(key, printed)) == printed


@pytest.mark.parametrize("key", ["scsi31", "floppy0"])
def test_an_unknown_drive_cannot_be_read(key: str) -> None:
    assert readable_drive(key, DISK) is None


def test_a_new_disk_names_storage_and_gibibytes_until_it_has_a_volume() -> None:
    drive = parse_drive("scsi0", "local-lvm:0.5,ssd=1,import-from=local:import/talos.qcow2")

    assert drive.new_disk == ("local-lvm", "0.5")
    assert drive.import_from == "local:import/talos.qcow2"
    del drive.options["import-from"]
    drive.file, drive.size = "local-lvm:vm-100-disk-2", 32 * GIB
    assert str(drive) == "local-lvm:vm-100-disk-2,size=32G,ssd=1"
    assert (drive.volume, drive.size, drive.bus) == (drive.file, 32 * GIB, "scsi")


def test_a_cloud_init_drive_is_known_by_its_volume() -> None:
    asked = parse_drive("ide2", "local-lvm:cloudinit")
    block = parse_drive("ide2", "local-lvm:vm-100-cloudinit,media=cdrom")
    file = parse_drive("ide2", "local:100/vm-100-cloudinit.qcow2,media=cdrom")
    medium = parse_drive("ide2", "local:iso/talos.iso,media=cdrom")

    assert asked.new_cloud_init == "local-lvm"
    assert all(drive.is_cloud_init for drive in (asked, block, file))
    assert (block.is_cdrom, block.is_plain_cdrom) == (True, False)
    assert (medium.is_cdrom, medium.is_plain_cdrom) == (True, True)


def test_keys_of_drives_are_numbered_by_their_bus() -> None:
    keys = ["scsi30", "virtio15", "sata5", "efidisk0", "ide4", "unused0"]

    assert [key for key in BOOT_DRIVES if key.endswith("0")][:2] == ["ide0", "scsi0"]
    assert [is_drive(key) for key in keys] == [True, True, True, True, False, False]
    assert (is_unused("unused255"), is_unused("unused256")) == (True, False)
    assert bus_of("virtio12") == "virtio"


@pytest.mark.parametrize(
    "text",
    [
        f"virtio={MAC},bridge=vmbr0,firewall=1,queues=4,tag=62",
        f"model=virtio,tag=62,queues=4,firewall=1,macaddr={MAC},bridge=vmbr0",
        f"tag=62,virtio,macaddr={MAC},bridge=vmbr0,firewall=on,queues=4",
    ],
)
def test_model_and_address_of_a_card_are_one_pair_in_front(text: str) -> None:
    assert str(parse_nic(text)) == f"virtio={MAC},bridge=vmbr0,firewall=1,queues=4,tag=62"


def test_a_card_without_an_address_gets_one_with_the_prefix_of_the_data_centre() -> None:
    dice = Counting()

    assert str(complete_nic("virtio,bridge=vmbr0", dice)) == (
        "virtio=BC:24:11:00:00:01,bridge=vmbr0"
    )
    assert complete_nic("virtio,bridge=vmbr0", dice, prefix="aa:bb").mac == "AA:BB:00:00:00:02"
    assert complete_nic("e1000=bc:24:11:aa:bb:cc", dice).mac == "bc:24:11:aa:bb:cc"
    assert new_mac(Counting(0xAABBCB)) == MAC


def test_a_clone_gets_another_address_and_uuid_and_keeps_the_rest() -> None:
    smbios = "uuid=11111111-2222-3333-4444-555555555555,sku=c2t1,serial=aD1ub2Rl,base64=1"

    renewed = renew_nic(f"virtio={MAC},bridge=vmbr0,tag=5", Counting())

    assert str(renewed) == "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=5"
    assert clone_smbios(smbios, Counting()) == f"base64=1,serial=aD1ub2Rl,sku=c2t1,uuid={FIRST}"
    assert new_smbios(Counting()) == clone_smbios("", Counting()) == f"uuid={FIRST}"


def test_what_a_card_says_about_itself() -> None:
    nic = parse_nic(f"virtio={MAC},bridge=vmbr1,tag=62,link_down=1")
    behind_nat = parse_nic("rtl8139")

    assert (nic.model, nic.mac, nic.bridge, nic.tag, nic.is_down) == (
        "virtio", MAC, "vmbr1", 62, True,
    )  # fmt: skip
    assert (behind_nat.mac, behind_nat.bridge, behind_nat.tag) == ("", "", None)
    with pytest.raises(FormatError, match=r"key 'macaddr' is already defined \(via alias\)"):
        parse_nic(f"macaddr={MAC},virtio={MAC}")


def test_a_trunk_is_all_its_vlans() -> None:
    assert vlans("5;10-12;7-3") == ["10", "11", "12", "5", "7"]
    assert vlans("") == []
    assert vlans("5-99999999") == ["5"]


def test_a_card_of_a_container_gets_a_type_and_an_address() -> None:
    nic = complete_container_nic("ip=dhcp,bridge=vmbr0,name=eth0", Counting())

    assert str(nic) == "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:00:00:01,ip=dhcp,type=veth"
    assert (nic.name, nic.bridge, nic.tag) == ("eth0", "vmbr0", None)


def test_a_new_mount_names_storage_and_gibibytes_until_it_has_a_volume() -> None:
    root = parse_mount_point("rootfs", "local-lvm:8")

    assert (root.new_volume, root.path, root.kind) == (("local-lvm", "8"), "/", "volume")
    root.volume, root.size = "local-lvm:vm-200-disk-0", 8 * GIB
    assert str(root) == "local-lvm:vm-200-disk-0,size=8G"
    assert root.new_volume is None


def test_a_further_mount_says_where() -> None:
    mount = parse_mount_point("mp0", "backup=1,mp=/srv,local:200/vm-200-disk-1.raw,size=4G")

    assert str(mount) == "local:200/vm-200-disk-1.raw,mp=/srv,backup=1,size=4G"
    assert mount.path == "/srv"
    assert parse_mount_point("mp3", "/srv/data,mp=/a").kind == "bind"
    assert parse_mount_point("mp3", "/dev/sdb,mp=/a").kind == "device"
    keys = ("rootfs", "mp0", "mp255", "mpx", "unused0")
    assert [key for key in keys if is_mount(key)] == ["rootfs", "mp0", "mp255"]


@pytest.mark.parametrize(("key", "text"), [("mp0", "local:8"), ("net0", "local:8")])
def test_a_mount_that_does_not_fit_is_refused(key: str, text: str) -> None:
    with pytest.raises(FormatError):
        parse_mount_point(key, text)


def test_devices_of_the_host_are_named_by_addresses_or_by_a_mapping() -> None:
    raw, several = parse_pci("0000:01:00,pcie=1,x-vga=1"), parse_pci("host=01:00.0;02:00.1")
    mapped = parse_pci("mapping=gpu0,pcie=1,romfile=a.bin")

    assert (raw.addresses, raw.mapping, raw.pcie) == (("0000:01:00",), "", True)
    assert several.addresses == ("01:00.0", "02:00.1")
    assert (mapped.addresses, mapped.mapping, mapped.rom_file) == ((), "gpu0", "a.bin")
    assert parse_usb("1-2.3,usb3=1").host == "1-2.3"
    assert parse_usb("mapping=stick").mapping == "stick"
    assert [parse_usb(text).is_spice for text in ("SPICE,usb3=1", "host=046d:c52b")] == [
        True,
        False,
    ]


def test_containers_have_features_and_devices() -> None:
    assert parse_features("nesting=1,mount=nfs;cifs") == {"nesting": "1", "mount": "nfs;cifs"}
    assert parse_features("") == {}
    assert parse_device("/dev/dri/renderD128,mode=0660")["path"] == "/dev/dri/renderD128"
    with pytest.raises(FormatError, match="Path has to be defined"):
        parse_device("uid=5")
