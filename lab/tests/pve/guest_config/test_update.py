"""Changes of machines: read, written down, and applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import (
    ConfigChange,
    canonical_drives,
    canonical_machine,
    read_container_change,
    read_machine_change,
)
from stockman_lab.pve.guest_config.hotplug import record_change
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.update import check_update
from stockman_lab.pve.qemu.creating import Maker

from lab.tests.pve.guest_config.guests import (
    RUNNING,
    STOPPED,
    changed,
    machine,
    update,
)
from lab.tests.pve.throws import Counting


def test_a_cloud_init_drive_is_destroyed_with_its_key() -> None:
    config = machine(ide2="local-lvm:vm-100-cloudinit,media=cdrom")

    outcome = update(config, STOPPED, {"delete": "ide2"})

    assert outcome.freed == ["local-lvm:vm-100-cloudinit"]
    assert outcome.unused == {}


def test_a_new_cloud_init_drive_has_to_be_filled() -> None:
    config = machine()

    outcome = changed(config, STOPPED, ide2="local-lvm:cloudinit")

    assert config.values["ide2"] == "local-lvm:vm-100-cloudinit,media=cdrom"
    assert outcome.regenerate_cloud_init


def test_deleting_what_is_not_set_only_warns() -> None:
    config = machine()

    outcome = update(config, STOPPED, {"delete": "net5"})

    assert outcome.warnings == ["cannot delete 'net5' - not set in current configuration!"]
    assert (outcome.errors, outcome.applied, config.has_pending) == ({}, [], False)


def test_revert_drops_a_key_that_was_never_there() -> None:
    config = machine()
    changed(config, RUNNING, cpu="host")

    update(config, RUNNING, {"revert": "cpu"})

    assert not config.has_pending
    assert "cpu" not in config.values


def test_setting_a_key_takes_back_its_deletion() -> None:
    config = machine()
    update(config, RUNNING, {"delete": "ostype"})

    changed(config, RUNNING, ostype="other")

    assert config.pending_section == {"ostype": "other"}


def test_the_version_of_a_tpm_cannot_change() -> None:
    config = machine(tpmstate0="local-lvm:vm-100-disk-3,size=4M,version=v2.0")

    with pytest.raises(ApiError, match="cannot change TPM state version after creation"):
        changed(config, STOPPED, tpmstate0="local-lvm:vm-100-disk-3,size=4M,version=v1.2")


def test_a_balloon_as_large_as_the_memory_is_fine() -> None:
    check_update(machine(), ConfigChange(sets={"balloon": "4096"}))
    check_update(machine(), ConfigChange(sets={"balloon": "0"}))
    check_update(GuestConfig(), ConfigChange(sets={"balloon": "512"}))


def test_a_disk_that_was_never_plugged_in_is_kept_when_its_key_is_deleted() -> None:
    config = machine()
    changed(config, replace(RUNNING, stuck=lambda _key: "no slot"), scsi2="local-lvm:1")

    update(config, RUNNING, {"delete": "scsi2"})

    assert config.values["unused0"] == "local-lvm:vm-100-disk-7"
    assert not config.has_pending


def test_a_device_of_the_same_request_may_be_booted_from() -> None:
    config = machine()

    changed(config, STOPPED, boot="order=ide2;scsi0", ide2="local:iso/a.iso,media=cdrom")

    assert config.values["boot"] == "order=ide2;scsi0"


def test_deleted_tags_are_gone_at_once() -> None:
    config = machine(tags="a;b")

    update(config, RUNNING, {"delete": "tags"})

    assert "tags" not in config.values
    assert not config.has_pending


def test_a_password_takes_effect_at_once() -> None:
    config = machine()

    changed(config, RUNNING, cipassword="$5$salt$hash")

    assert config.values["cipassword"] == "$5$salt$hash"


def test_a_display_and_a_machine_that_cannot_be_are_refused() -> None:
    with pytest.raises(ApiError, match="vga type none is not compatible with VNC clipboard"):
        changed(machine(), STOPPED, vga="none,clipboard=vnc")
    with pytest.raises(ApiError, match="to use Intel vIOMMU please set the machine type to q35"):
        changed(machine(), STOPPED, machine="pc,viommu=intel")


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"scsi1": "x", "delete": "scsi1"},
         {"delete": "you can't use '-scsi1' and -delete scsi1' at the same time"}),
        ({"scsi1": "x", "revert": "scsi1"},
         {"delete": "you can't use '-scsi1' and -revert scsi1' at the same time"}),
        ({"delete": "scsi1", "revert": "scsi1"},
         {"revert": "you can't use '-delete scsi1' and -revert scsi1' at the same time"}),
        ({"delete": "wheels"}, {"delete": "unknown option 'wheels'"}),
        ({"delete": "net32"}, {"delete": "unknown option 'net32'"}),
        ({"revert": "wheels"}, {"revert": "unknown option 'wheels'"}),
        ({"ide2": "none,media=cdrom", "delete": "cdrom"},
         {"delete": "you can't use '-ide2' and -delete ide2' at the same time"}),
    ],
)  # fmt: skip
def test_a_machine_cannot_have_a_key_set_and_gone(
    parameters: Mapping[str, str], errors: Mapping[str, str]
) -> None:
    with pytest.raises(ApiError) as refused:
        read_machine_change(parameters)

    assert (refused.value.status, refused.value.errors) == (400, errors)
    assert refused.value.message == "Parameter verification failed."


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"mp0": "x", "delete": "mp0"},
         {"delete": "you can't use '-mp0' and -delete mp0' at the same time"}),
        ({"mp0": "x", "revert": "mp0"},
         {"revert": "you can't use '-mp0' and '-revert mp0' at the same time"}),
        ({"delete": "mp0", "revert": "mp0"},
         {"delete": "you can't use '-delete mp0' and '-revert mp0' at the same time"}),
        ({"delete": "scsi0"}, {"delete": "unknown option 'scsi0'"}),
        ({"revert": "scsi0"}, {"revert": "unknown option 'scsi0'"}),
    ],
)  # fmt: skip
def test_a_container_cannot_have_a_key_set_and_gone(
    parameters: Mapping[str, str], errors: Mapping[str, str]
) -> None:
    with pytest.raises(ApiError) as refused:
        read_container_change(parameters)

    assert (refused.value.status, refused.value.errors) == (400, errors)


FIRST = "00000000-0000-0000-0000-000000000001"
SECOND = "00000000-0000-0000-0000-000000000002"


def maker() -> Maker:
    """A maker whose dice count."""
    return Maker(Counting(), now=1712345678)


def test_the_first_old_value_is_kept_until_it_comes_back() -> None:
    config = GuestConfig()

    record_change(config, "ciuser", "one", "two")
    record_change(config, "ciuser", "two", "three")
    assert config.cloud_init == {"ciuser": "one"}

    record_change(config, "ciuser", "three", "one")
    assert config.cloud_init == {}


class OneShelf:
    """A storage `local` in `/var/lib/vz`."""

    def content_of(self, volume: str) -> str:
        """By the folder in the name."""
        return "iso" if ":iso/" in volume else "images"

    def volume_at(self, path: str) -> str:
        """Files of the storage only."""
        folder, _, file = path.rpartition("/")
        known = {"/var/lib/vz/template/iso": "iso", "/var/lib/vz/images/100": "100"}
        return f"local:{known[folder]}/{file}" if folder in known else ""


def drive(key: str, text: str) -> str:
    """The canonical text of one drive."""
    return canonical_drives({key: text}, OneShelf())[key]


def test_cards_get_addresses_and_the_generation_is_thrown() -> None:
    sets = {"net1": "virtio,bridge=vmbr0", "vmgenid": "1", "cpuunits": "20000", "cores": "2"}

    assert canonical_machine(sets, Counting()) == {
        "net1": "virtio=BC:24:11:00:00:01,bridge=vmbr0",
        "vmgenid": "00000000-0000-0000-0000-000000000002",
        "cpuunits": "10000",
        "cores": "2",
    }
    assert canonical_machine({"vmgenid": "0"}, Counting()) == {"vmgenid": "0"}


@pytest.mark.parametrize(
    ("key", "text", "complaint"),
    [
        ("scsi0", "local:32,ssd=1,ssd=0", "unable to parse drive options"),
        ("scsi0", "local:5,import-from=/a",
         "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>"),
        ("scsi0", "local:vm-1-disk-0,import-from=/a",
         "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>"),
        ("efidisk0", "local:0,import-from=/a",
         "need to specify 'efitype' when using 'import-from'"),
        ("efidisk0", "local:0,import-from=/a,efitype=4m",
         "need to specify 'pre-enrolled-keys' when using 'import-from'"),
        ("tpmstate0", "local:0,import-from=/a",
         "need to specify 'version' when using 'import-from'"),
        ("ide2", "local:iso/a.iso", "explicit 'media=cdrom' is required for iso images"),
        ("scsi0", "/srv/a.raw", "unable to associate path '/srv/a.raw' to any storage"),
        ("ide2", "/var/lib/vz/images/100/a.raw,media=cdrom",
         "unexpected media type (images != iso)"),
        ("ide2", "/var/lib/vz/template/iso/a.iso,media=disk",
         "unexpected media type (iso != images)"),
    ],
)  # fmt: skip
def test_drives_that_cannot_be_are_refused(key: str, text: str, complaint: str) -> None:
    with pytest.raises(ApiError) as refused:
        drive(key, text)

    assert (refused.value.status, refused.value.errors) == (400, {key: complaint})
