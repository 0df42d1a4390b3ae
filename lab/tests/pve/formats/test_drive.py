"""Drives: which options they may have, and how they are printed."""

from __future__ import annotations

import pytest
from stockman_lab.pve.formats.drive import (
    BOOT_DRIVES,
    bus_of,
    is_drive,
    is_unused,
    parse_drive,
    print_drive,
    readable_drive,
)
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.sizes import GIB

DISK = "local-zfs:vm-100-disk-0"


def test_a_disk_is_printed_with_its_volume_first_and_options_by_name() -> None:
    drive = parse_drive("scsi0", f"ssd=1,size=32G,iothread=on,file={DISK},discard=on")

    assert print_drive(drive) == f"{DISK},discard=on,iothread=1,size=32G,ssd=1"
    assert (drive.volume, drive.size, drive.bus) == (DISK, 32 * GIB, "scsi")


@pytest.mark.parametrize("text", [f"{DISK},size=1G", f"volume={DISK},size=1G"])
def test_the_volume_may_be_bare_or_written_out(text: str) -> None:
    assert str(parse_drive("virtio3", text)) == f"{DISK},size=1G"


@pytest.mark.parametrize(
    ("key", "text", "printed"),
    [
        ("efidisk0", "S1:vm-100-disk-0,size=1M,efitype=4m", "S1:vm-100-disk-0,efitype=4m,size=1M"),
        ("efidisk0", "S1:100/vm-100-disk-0.raw,size=540672,efitype=4m",
         "S1:100/vm-100-disk-0.raw,efitype=4m,size=528K"),
        ("efidisk0", "S1:vm-1-disk-0,pre-enrolled-keys=0,ms-cert=2023k,efitype=4m",
         "S1:vm-1-disk-0,efitype=4m,ms-cert=2023k,pre-enrolled-keys=0"),
        ("tpmstate0", "S1:vm-100-disk-1,version=v2.0,size=4M",
         "S1:vm-100-disk-1,size=4M,version=v2.0"),
        ("ide2", "S1:vm-100-cloudinit,media=cdrom", "S1:vm-100-cloudinit,media=cdrom"),
        ("ide2", "none,media=cdrom", "none,media=cdrom"),
        ("sata0", "cdrom,media=cdrom", "cdrom,media=cdrom"),
        ("scsi1", "/dev/sdb,backup=no", "/dev/sdb,backup=0"),
        ("scsi2", "S1:vm-9999-pvc-1,wwn=0x5056432d49443031,iothread=1,backup=0",
         "S1:vm-9999-pvc-1,backup=0,iothread=1,wwn=0x5056432d49443031"),
        ("unused3", "S1:vm-100-disk-9", "S1:vm-100-disk-9"),
    ],
)  # fmt: skip
def test_every_kind_of_drive_has_one_canonical_text(key: str, text: str, printed: str) -> None:
    assert str(parse_drive(key, text)) == printed
    assert str(parse_drive(key, printed)) == printed


@pytest.mark.parametrize(
    ("key", "option"),
    [
        ("ide0", "iothread=1"),
        ("sata0", "iothread=1"),
        ("virtio0", "ssd=1"),
        ("virtio0", "wwn=0x5056432d49443031"),
        ("scsi0", "model=x"),
        ("sata1", "ro=1"),
        ("virtio0", "queues=4"),
        ("efidisk0", "cache=none"),
        ("tpmstate0", "efitype=4m"),
        ("unused0", "size=1G"),
    ],
)
def test_an_option_that_the_bus_does_not_have_is_refused(key: str, option: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_drive(key, f"{DISK},{option}")

    name = option.partition("=")[0]
    assert list(refused.value.errors) == [name]


@pytest.mark.parametrize(
    ("key", "option"),
    [
        *(("scsi4", f"{name}=1") for name in ("iothread", "ssd", "ro", "scsiblock", "replicate")),
        *(("virtio4", f"{name}=1") for name in ("iothread", "ro", "backup", "detect_zeroes")),
        ("ide1", "model=QEMU%20DISK"),
        ("scsi0", "serial=abc%20def"),
        ("scsi0", "aio=io_uring"),
        ("scsi0", "cache=writeback"),
        ("scsi0", "mbps_rd=10.5"),
        ("scsi0", "iops_wr=300"),
    ],
)
def test_an_option_that_the_bus_has_is_kept(key: str, option: str) -> None:
    assert str(parse_drive(key, f"{DISK},{option}")) == f"{DISK},{option}"


def test_a_new_disk_names_storage_and_gibibytes() -> None:
    drive = parse_drive("scsi0", "local-lvm:32,discard=on", asked=True)
    fraction = parse_drive("scsi0", "file=local-lvm:0.5", asked=True)

    assert drive.new_disk == ("local-lvm", "32")
    assert fraction.new_disk == ("local-lvm", "0.5")
    assert parse_drive("scsi0", DISK).new_disk is None


def test_an_import_is_only_understood_in_a_request() -> None:
    text = "local-lvm:0,import-from=local:import/talos.qcow2"

    drive = parse_drive("scsi0", text, asked=True)

    assert drive.import_from == "local:import/talos.qcow2"
    assert drive.new_disk == ("local-lvm", "0")
    assert readable_drive("scsi0", text) is None


def test_a_cloud_init_drive_is_known_by_its_volume() -> None:
    wish = parse_drive("ide2", "local-lvm:cloudinit", asked=True)
    block = parse_drive("ide2", "local-lvm:vm-100-cloudinit,media=cdrom")
    file = parse_drive("ide2", "local:100/vm-100-cloudinit.qcow2,media=cdrom")
    medium = parse_drive("ide2", "local:iso/talos.iso,media=cdrom")

    assert wish.new_cloud_init == "local-lvm"
    assert all(drive.is_cloud_init for drive in (wish, block, file))
    assert (block.is_cdrom, block.is_plain_cdrom) == (True, False)
    assert (medium.is_cdrom, medium.is_plain_cdrom) == (True, True)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("virtio0", "none,media=cdrom"),
        ("ide2", "none,media=cdrom,format=raw"),
        ("ide2", "none,media=cdrom,snapshot=1"),
        ("scsi0", f"{DISK},mbps=10,mbps_rd=5"),
        ("scsi0", f"{DISK},iops=10,iops_wr=5"),
        ("scsi0", f"{DISK},mbps_max=10"),
        ("scsi0", f"{DISK},iops_max=10,iops_max_length=0"),
        ("scsi0", f"{DISK},iops_rd_max_length=5"),
        ("scsi0", f"{DISK},bps=10,mbps=5"),
        ("scsi31", DISK),
        ("floppy0", DISK),
        ("scsi0", "not-a-volume"),
        ("scsi0", f"{DISK},wwn=0x12"),
        ("scsi0", f"{DISK},serial=a b"),
    ],
)
def test_what_makes_no_sense_together_cannot_be_read(key: str, text: str) -> None:
    assert readable_drive(key, text) is None


def test_limits_in_bytes_are_lost_as_in_the_real_one() -> None:
    assert str(parse_drive("scsi0", f"{DISK},bps_rd=5000000")) == f"{DISK},mbps_rd=0.000"


def test_old_names_of_limits_become_new_ones() -> None:
    text = f"{DISK},iops_rd=5,iops_rd_max=7,iops_rd_length=3"

    assert str(parse_drive("scsi0", text)) == f"{DISK},iops_rd=5,iops_rd_max=7,iops_rd_max_length=3"


def test_the_geometry_of_old_configurations_is_read_over() -> None:
    assert str(parse_drive("ide0", f"{DISK},cyls=3,heads=4,secs=5,trans=lba")) == DISK


def test_a_drive_can_be_changed_and_printed_again() -> None:
    drive = parse_drive("scsi0", "local-lvm:32,ssd=1", asked=True)

    drive.file, drive.size = "local-lvm:vm-100-disk-2", 32 * GIB

    assert str(drive) == "local-lvm:vm-100-disk-2,size=32G,ssd=1"


def test_keys_of_drives_are_numbered_by_their_bus() -> None:
    assert [key for key in BOOT_DRIVES if key.endswith("0")][:2] == ["ide0", "scsi0"]
    assert is_drive("scsi30")
    assert is_drive("virtio15")
    assert is_drive("sata5")
    assert is_drive("efidisk0")
    assert not is_drive("ide4")
    assert not is_drive("unused0")
    assert is_unused("unused255")
    assert not is_unused("unused256")
    assert bus_of("virtio12") == "virtio"
