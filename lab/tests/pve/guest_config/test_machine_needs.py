"""What a user has to be allowed to change each key of a virtual machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stockman_lab.pve.formats.volume_name import VolumeName, parse_volume_id, parse_volume_name
from stockman_lab.pve.guest_config.change import Change
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
    change = Change(deletes=[key]) if new is None else Change(sets={key: new})
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


def test_deleting_takes_the_same_as_setting() -> None:
    assert privileges_for(EXISTING, "cores", "2", None) == [guest("VM.Config.CPU")]
    assert privileges_for(EXISTING, "memory", "512", None) == [guest("VM.Config.Memory")]


def test_the_place_in_the_start_order_concerns_the_host() -> None:
    assert privileges_for(EXISTING, "startup", None, "order=1") == [
        guest("VM.Config.Options"),
        on("/", "Sys.Modify"),
    ]


@pytest.mark.parametrize(
    "key", ["cicustom", "cipassword", "citype", "ciuser", "ciupgrade", "ipconfig3", "nameserver",
            "searchdomain", "sshkeys"]
)  # fmt: skip
def test_cloud_init_takes_one_of_two(key: str) -> None:
    assert privileges_for(EXISTING, key, None, "x") == [
        guest("VM.Config.Cloudinit", "VM.Config.Network", any_of=True)
    ]


@pytest.mark.parametrize("which", [EXISTING, NEW])
@pytest.mark.parametrize(
    "key",
    [
        *("args", "affinity", "arch", "hookscript", "hugepages", "keephugepages", "ivshmem"),
        *("lock", "vmgenid", "spice_enhancements", "amd-sev", "intel-tdx", "parallel0"),
    ],
)
def test_some_keys_are_only_for_root(which: Guest, key: str) -> None:
    (refusal,) = privileges_for(which, key, None, "x")

    assert isinstance(refusal, OnlyRoot)
    assert (refusal.error.status, refusal.error.message) == (
        500,
        f"only root can set '{key}' config",
    )


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


@pytest.mark.parametrize("key", ["scsi0", "efidisk0", "tpmstate0"])
def test_a_disk_of_a_new_machine_only_takes_space(key: str) -> None:
    assert privileges_for(NEW, key, None, "local-lvm:1") == [SPACE]


def test_a_drive_that_holds_a_medium_takes_reading_the_storage() -> None:
    reading = Need(
        "/storage/local",
        ("Datastore.AllocateSpace", "Datastore.Audit"),
        any_of=True,
        moot_with=ALLOCATE,
    )

    assert privileges_for(NEW, "ide2", None, "local:iso/a.iso,media=cdrom") == [reading]


def test_a_volume_of_another_guest_takes_rights_on_that_guest() -> None:
    moot = ("/storage/local-lvm", "Datastore.Allocate")

    assert privileges_for(NEW, "scsi0", None, "local-lvm:vm-7-disk-0") == [
        Need("/storage/local-lvm", ("Datastore.Audit",), moot_with=moot),
        Need("/vms/7", ("VM.Config.Disk",), moot_with=moot),
    ]


def test_a_volume_of_nobody_is_only_for_those_who_manage_the_storage() -> None:
    (refusal,) = privileges_for(NEW, "ide2", None, "local:snippets/a,media=cdrom")

    assert refusal == OnlyRoot(
        500, "missing privileges to access local:snippets/a", moot_with=ALLOCATE
    )


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


def test_an_import_takes_cloning_its_owner_or_reading_its_storage() -> None:
    from_guest = "local-lvm:0,import-from=local-lvm:vm-7-disk-0"
    from_file = "local-lvm:0,import-from=local:import/a.qcow2"
    from_archive = "local-lvm:0,import-from=local:import/a.ova/b.vmdk"

    assert privileges_for(NEW, "scsi0", None, from_guest) == [SPACE, on("/vms/7", "VM.Clone")]
    reading = privileges_for(NEW, "scsi0", None, from_file)[1]
    assert isinstance(reading, Need)
    assert (reading.path, reading.any_of) == ("/storage/local", True)
    assert privileges_for(NEW, "scsi0", None, from_archive)[1] == on(
        "/storage/local", "Datastore.AllocateSpace"
    )


def test_destroying_a_volume_takes_space_on_its_storage() -> None:
    held = {"unused0": "local-lvm:vm-100-disk-3", "scsi1": "local-lvm:vm-100-disk-1"}

    assert machine_update_needs(held, {}, Change(deletes=["unused0"]), EXISTING) == [DISK, SPACE]
    assert machine_update_needs(held, {}, Change(deletes=["scsi1"], force=True), EXISTING) == [
        DISK,
        DISK,
        SPACE,
    ]
    assert machine_update_needs(held, {}, Change(deletes=["scsi9"]), EXISTING) == []


def test_a_state_storage_takes_space() -> None:
    assert privileges_for(EXISTING, "vmstatestorage", None, "local-lvm") == [DISK, SPACE]
    assert privileges_for(EXISTING, "vmstate", None, None) == [
        guest("VM.Config.Disk", "VM.PowerMgmt")
    ]


def test_a_card_takes_its_bridge_or_its_vlans() -> None:
    network, zone = guest("VM.Config.Network"), "/sdn/zones/localnetwork"

    assert privileges_for(EXISTING, "net0", None, "virtio,bridge=vmbr0") == [
        network,
        on(f"{zone}/vmbr0", "SDN.Use"),
    ]
    assert privileges_for(EXISTING, "net0", None, "virtio,bridge=vmbr0,tag=5,trunks=7-8") == [
        network,
        on(f"{zone}/vmbr0/5", "SDN.Use"),
        on(f"{zone}/vmbr0/7", "SDN.Use"),
        on(f"{zone}/vmbr0/8", "SDN.Use"),
    ]
    assert privileges_for(EXISTING, "net0", None, "virtio") == [network]


def test_a_changed_card_takes_the_new_and_the_old_bridge() -> None:
    own_zone = replace(EXISTING, zone_of=lambda bridge: f"zone-{bridge}")

    needs = privileges_for(own_zone, "net0", "virtio,bridge=vmbr0,tag=5", "virtio,bridge=vmbr1")

    assert needs == [
        guest("VM.Config.Network"),
        on("/sdn/zones/zone-vmbr1/vmbr1", "SDN.Use"),
        on("/sdn/zones/zone-vmbr0/vmbr0/5", "SDN.Use"),
    ]
    assert privileges_for(EXISTING, "net0", "virtio,bridge=vmbr0", None) == [
        guest("VM.Config.Network"),
        on("/sdn/zones/localnetwork/vmbr0", "SDN.Use"),
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


def test_other_settings_of_the_same_custom_cpu_take_no_mapping() -> None:
    assert privileges_for(EXISTING, "cpu", "custom-big", "custom-big,hidden=1") == [
        guest("VM.Config.CPU")
    ]


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


def test_the_order_of_questions_of_a_change_is_that_of_the_real_one() -> None:
    change = Change(
        sets={"cores": "2", "net0": "virtio,bridge=vmbr0", "scsi1": "local-lvm:1"},
        deletes=["memory"],
    )

    needs = machine_update_needs({}, {}, change, EXISTING)

    assert [need.path for need in needs if isinstance(need, Need)] == [
        "/vms/100",
        "/vms/100",
        "/vms/100",
        "/storage/local-lvm",
        "/sdn/zones/localnetwork/vmbr0",
        "/vms/100",
    ]
    assert needs[0] == guest("VM.Config.Memory")
    assert needs[-1] == DISK


def test_a_revert_is_asked_only_for_what_the_value_takes() -> None:
    values, pending = {"cores": "2", "scsi1": "local-lvm:vm-100-disk-1"}, {"usb0": "spice"}
    change = Change(reverts=["cores", "scsi1", "usb0", "memory"])

    assert machine_update_needs(values, pending, change, EXISTING) == [HARDWARE, DISK, DISK]


def test_a_new_machine_is_first_asked_for_its_storages() -> None:
    needs = machine_create_needs({"cores": "2", "scsi0": "local-lvm:1", "net0": "virtio"}, NEW)

    assert needs == [SPACE, guest("VM.Config.CPU"), guest("VM.Config.Network")]


def test_a_volume_that_is_set_as_unused_has_to_be_accessible() -> None:
    assert privileges_for(NEW, "unused0", None, "local-lvm:vm-100-disk-0") == []
    assert privileges_for(NEW, "unused0", None, "local-lvm:vm-7-disk-0") != []
