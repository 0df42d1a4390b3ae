"""What a user has to be allowed to change each key of a virtual machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest_config.change import ConfigChange
from stockman_lab.pve.guest_config.machine_needs import (
    machine_create_needs,
    machine_update_needs,
)
from stockman_lab.pve.guest_config.needs import Asked, Guest, Need, OnlyRoot, TagRules

TYPES = {"local": "dir", "local-lvm": "lvmthin"}


def name_of(volume: str) -> VolumeName:
    """What the name of a volume on one of two storages says."""
    storage, name = parse_volume_id(volume)
    return parse_volume_name(TYPES[storage], name)


def privileges_for(guest: Guest, key: str, old: str | None, new: str | None) -> list[Asked]:
    """What one key takes: a new value of it, or with None its deletion."""
    if guest.creating:
        return machine_create_needs({key: new or ""}, guest)
    change = ConfigChange(deletes=[key]) if new is None else ConfigChange(sets={key: new})
    return machine_update_needs({key: old} if old is not None else {}, {}, change, guest)


EXISTING = Guest(100, name_of)
NEW = replace(EXISTING, creating=True)
ALLOCATE = ("/storage/local", "Datastore.Allocate")


def guest(*privileges: str, any_of: bool = False) -> Need:
    """Privileges on the guest."""
    return Need("/vms/100", privileges, any_of=any_of, on_guest=True)


def on(path: str, *privileges: str) -> Need:
    """Privileges on a path."""
    return Need(path, privileges)


DISK, CDROM, HARDWARE = (guest(f"VM.Config.{name}") for name in ("Disk", "CDROM", "HWType"))
SPACE = on("/storage/local-lvm", "Datastore.AllocateSpace")


@pytest.mark.parametrize("which", [EXISTING, NEW])
@pytest.mark.parametrize(
    ("keys", "privilege"),
    [
        ("cores cpu cpulimit cpuunits numa numa0 numa7 smp sockets vcpus", "VM.Config.CPU"),
        ("memory balloon shares allow-ksm", "VM.Config.Memory"),
        ("acpi hotplug kvm machine scsihw smbios1 tablet vga watchdog audio0", "VM.Config.HWType"),
        ("agent autostart bios description keyboard localtime", "VM.Config.Options"),
        ("migrate_downtime migrate_speed name onboot ostype", "VM.Config.Options"),
        ("protection reboot startdate tdf template", "VM.Config.Options"),
        ("boot bootdisk", "VM.Config.Disk"),
        ("freeze", "VM.PowerMgmt"),
    ],
)
def test_most_keys_take_one_privilege(which: Guest, keys: str, privilege: str) -> None:
    for key in keys.split():
        assert privileges_for(which, key, None, "1") == [guest(privilege)], key


def test_the_place_in_the_start_order_concerns_the_host() -> None:
    assert privileges_for(EXISTING, "startup", None, "order=1") == [
        guest("VM.Config.Options"),
        on("/", "Sys.Modify"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, "local-lvm:32", [SPACE, DISK]),
        (None, "local-lvm:vm-100-disk-1", [DISK]),
        ("local-lvm:vm-100-disk-1", "local-lvm:vm-100-disk-1,ssd=1", [DISK, DISK]),
        ("local-lvm:vm-100-disk-1", None, [DISK]),
        (None, "none,media=cdrom", [CDROM]),
        ("local:iso/a.iso,media=cdrom", None, [CDROM]),
        (None, "cdrom,media=cdrom", [on("/", "Sys.Console"), CDROM]),
        (None, "local-lvm:cloudinit", [guest("VM.Config.Cloudinit", "VM.Config.CDROM")]),
        (
            "local-lvm:vm-100-cloudinit,media=cdrom",
            "none,media=cdrom",
            [guest("VM.Config.Cloudinit", "VM.Config.CDROM"), CDROM],
        ),
    ],
)
def test_a_drive_of_an_existing_machine_takes_what_its_kind_takes(
    old: str | None, new: str | None, expected: list[Asked]
) -> None:
    assert privileges_for(EXISTING, "scsi5", old, new) == expected


def test_a_backup_takes_the_right_to_back_up() -> None:
    backup = "local:backup/vzdump-qemu-7-2026_01_31-02_00_00.vma.zst"

    assert privileges_for(NEW, "scsi0", None, backup) == [
        Need("/storage/local", ("Datastore.AllocateSpace",), moot_with=ALLOCATE),
        Need("/vms/7", ("VM.Backup",), moot_with=ALLOCATE),
    ]


@pytest.mark.parametrize("text", ["/dev/sdb", "local-lvm:0,import-from=/tmp/a.raw"])
def test_paths_of_the_host_are_only_for_root(text: str) -> None:
    assert privileges_for(NEW, "scsi0", None, text)[-1] == OnlyRoot(
        500, "Only root can pass arbitrary filesystem paths."
    )


def test_a_state_storage_takes_space() -> None:
    assert privileges_for(EXISTING, "vmstatestorage", None, "local-lvm") == [DISK, SPACE]
    assert privileges_for(EXISTING, "vmstate", None, None) == [
        guest("VM.Config.Disk", "VM.PowerMgmt")
    ]


@pytest.mark.parametrize("which", [EXISTING, NEW])
@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("serial0", "socket", [HARDWARE]),
        ("usb0", "spice", [HARDWARE]),
        ("usb1", "mapping=stick", [HARDWARE, on("/mapping/usb/stick", "Mapping.Use")]),
        ("hostpci0", "mapping=gpu0,pcie=1", [on("/mapping/pci/gpu0", "Mapping.Use"), HARDWARE]),
        ("virtiofs2", "data", [DISK, on("/mapping/dir/data", "Mapping.Use")]),
        ("rng0", "/dev/urandom", [HARDWARE, HARDWARE]),
        ("rng0", "/dev/hwrng", [HARDWARE, HARDWARE, on("/mapping/hwrng", "Mapping.Use")]),
        ("cpu", "host", [guest("VM.Config.CPU")]),
        ("cpu", "custom-big", [guest("VM.Config.CPU"), on("/mapping/cpu/big", "Mapping.Use")]),
    ],
)
def test_mapped_devices_take_their_mapping(
    which: Guest, key: str, value: str, expected: list[Asked]
) -> None:
    assert privileges_for(which, key, None, value) == expected


@pytest.mark.parametrize(
    ("which", "key", "old", "new", "message"),
    [
        (NEW, "hostpci0", None, "0000:01:00",
         "only root can set 'hostpci0' config for non-mapped devices"),
        (EXISTING, "hostpci0", "0000:01:00", "mapping=gpu0",
         "only root can set 'hostpci0' config for non-mapped devices"),
        (EXISTING, "hostpci0", None, "pcie=1", "either 'host' or 'mapping' must be set."),
        (NEW, "usb0", None, "host=046d:c52b",
         "only root can set 'usb0' config for real devices"),
        (EXISTING, "usb0", "1-2", None, "only root can set 'usb0' config for real devices"),
        (EXISTING, "usb0", None, "usb3=1", "either 'host' or 'mapping' must be set."),
        (NEW, "serial0", None, "/dev/ttyS0",
         "only root can set 'serial0' config for real devices"),
        (EXISTING, "serial0", None, "/dev/ttyS0",
         "only root can modify 'serial0' config for real devices"),
        (EXISTING, "serial0", "/dev/ttyS0", "socket",
         "only root can modify 'serial0' config for real devices"),
        (EXISTING, "serial0", "/dev/ttyS0", None,
         "only root can delete 'serial0' config for real devices"),
    ],
)  # fmt: skip
def test_devices_of_the_host_are_only_for_root(
    which: Guest, key: str, old: str | None, new: str | None, message: str
) -> None:
    refusals = [need for need in privileges_for(which, key, old, new) if isinstance(need, OnlyRoot)]

    assert [refusal.error.message for refusal in refusals] == [message]
    assert refusals[0].error.status == 500


def test_the_firmware_of_a_device_is_only_for_root() -> None:
    refusal = privileges_for(NEW, "hostpci0", None, "mapping=gpu0,romfile=a.bin")[-1]

    assert isinstance(refusal, OnlyRoot)
    assert refusal.error.status == 400
    assert refusal.error.errors == {"hostpci0": "only root@pam can set 'romfile' option"}


def test_tags_take_options_and_registered_ones_the_data_centre() -> None:
    strict = replace(
        EXISTING,
        tag_rules=TagRules(frozenset({"prod"}), frozenset({"web"}), anything_else=False),
    )
    options = guest("VM.Config.Options")

    def modify(tag: str) -> Need:
        return Need("/", ("Sys.Modify",), said=f"/, Sys.Modify for modifying tag '{tag}'")

    assert privileges_for(EXISTING, "tags", "a", "a;b") == [options]
    assert privileges_for(strict, "tags", "prod;web", "web;other") == [
        options,
        modify("other"),
        modify("prod"),
    ]
    assert privileges_for(strict, "tags", "prod", None) == [options, modify("prod")]
    assert privileges_for(NEW, "tags", None, "prod") == []


def test_a_volume_that_is_set_as_unused_has_to_be_accessible() -> None:
    assert privileges_for(NEW, "unused0", None, "local-lvm:vm-100-disk-0") == []
    assert privileges_for(NEW, "unused0", None, "local-lvm:vm-7-disk-0") != []
