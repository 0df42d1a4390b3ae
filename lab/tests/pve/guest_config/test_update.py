"""Changes of a virtual machine that does not run, and what is looked at before any change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.state import GuestConfig, machine_digest
from stockman_lab.pve.guest_config.update import apply_pending, check_update, plan_update

from lab.tests.pve.guest_config.guests import (
    DATA,
    FOREIGN,
    RUNNING,
    STOPPED,
    changed,
    machine,
    update,
)


def test_a_stopped_machine_takes_everything_at_once() -> None:
    config = machine()

    outcome = changed(config, STOPPED, cores="4", memory="8192", cpu="host", machine="q35")

    assert {key: config.values[key] for key in ("cores", "memory", "cpu", "machine")} == {
        "cores": "4",
        "memory": "8192",
        "cpu": "host",
        "machine": "q35",
    }
    assert not config.has_pending
    assert outcome.applied == ["cores", "cpu", "machine", "memory"]


def test_what_waits_is_applied_at_the_next_start() -> None:
    config = machine()
    update(config, RUNNING, {"cores": "4", "delete": "ostype"})
    assert config.values["cores"] == "2"
    assert config.pending_section == {"cores": "4", "delete": "ostype"}

    outcome = apply_pending(config, STOPPED)

    assert config.values["cores"] == "4"
    assert "ostype" not in config.values
    assert not config.has_pending
    assert outcome.applied == ["ostype", "cores"]


def test_a_new_disk_is_made_and_replaces_the_wish() -> None:
    config = machine()

    changed(config, STOPPED, scsi2="local-lvm:10,format=raw,ssd=1")

    assert config.values["scsi2"] == "local-lvm:vm-100-disk-7,size=10G,ssd=1"


def test_a_deleted_owned_volume_becomes_unused() -> None:
    config = machine()

    outcome = update(config, STOPPED, {"delete": "scsi1"})

    assert "scsi1" not in config.values
    assert config.values["unused0"] == DATA
    assert outcome.unused == {"unused0": DATA}
    assert outcome.freed == []


def test_a_deleted_volume_takes_the_lowest_free_unused_number() -> None:
    config = machine(unused0="local-lvm:vm-100-disk-8", unused2="local-lvm:vm-100-disk-9")

    update(config, STOPPED, {"delete": "scsi1"})

    assert config.values["unused1"] == DATA


def test_with_force_a_deleted_volume_is_destroyed() -> None:
    config = machine()

    outcome = update(config, STOPPED, {"delete": "scsi1", "force": "1"})

    assert outcome.freed == [DATA]
    assert not any(key.startswith(("scsi1", "unused")) for key in config.values)


def test_a_deleted_unused_volume_is_destroyed() -> None:
    config = machine(unused0="local-lvm:vm-100-disk-8")

    outcome = update(config, RUNNING, {"delete": "unused0"})

    assert outcome.freed == ["local-lvm:vm-100-disk-8"]
    assert "unused0" not in config.values


def test_a_volume_that_a_snapshot_needs_is_not_destroyed() -> None:
    config = machine(unused0="local-lvm:vm-100-disk-8")
    config.snapshots["before"] = {"scsi1": "local-lvm:vm-100-disk-8,size=1G"}

    with pytest.raises(ApiError) as refused:
        update(config, STOPPED, {"delete": "unused0"})

    assert refused.value.message == (
        "unable to delete 'local-lvm:vm-100-disk-8' - volume is still in use (snapshot?)"
    )
    assert "unused0" in config.values


def test_a_forced_deletion_of_a_volume_that_a_snapshot_needs_waits() -> None:
    config = machine()
    config.snapshots["before"] = {"scsi1": f"{DATA},size=8G"}

    outcome = update(config, STOPPED, {"delete": "scsi1", "force": "1"})

    assert outcome.errors == {
        "scsi1": f"unable to apply pending change scsi1 : unable to delete '{DATA}' - "
        "volume is still in use (snapshot?)\n"
    }
    assert config.pending_section == {"delete": "!scsi1"}


@pytest.mark.parametrize("force", ["0", "1"])
def test_a_volume_of_another_guest_is_neither_kept_nor_destroyed(force: str) -> None:
    config = machine(scsi2=f"{FOREIGN},size=1G")

    outcome = update(config, STOPPED, {"delete": "scsi2", "force": force})

    assert "scsi2" not in config.values
    assert not any(key.startswith("unused") for key in config.values)
    assert (outcome.freed, outcome.unused) == ([], {})


def test_another_volume_moves_the_old_one_to_unused() -> None:
    config = machine()

    changed(config, STOPPED, scsi1="local-lvm:vm-100-disk-5,size=8G")

    assert config.values["scsi1"] == "local-lvm:vm-100-disk-5,size=8G"
    assert config.values["unused0"] == DATA


def test_a_volume_in_use_again_is_unused_no_more() -> None:
    config = machine()
    update(config, STOPPED, {"delete": "scsi1"})

    changed(config, STOPPED, virtio0=f"{DATA},size=8G")

    assert "unused0" not in config.values
    assert config.values["virtio0"] == f"{DATA},size=8G"


def test_other_options_of_the_same_volume_leave_nothing_unused() -> None:
    config = machine()

    outcome = changed(config, STOPPED, scsi1=f"{DATA},size=8G,ssd=1")

    assert config.values["scsi1"] == f"{DATA},size=8G,ssd=1"
    assert outcome.unused == {}


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


def test_a_second_cloud_init_drive_is_refused() -> None:
    config = machine(ide2="local-lvm:vm-100-cloudinit,media=cdrom")

    with pytest.raises(ApiError) as refused:
        changed(config, STOPPED, ide0="local-lvm:cloudinit")

    assert refused.value.message == "ide0 - cloud-init drive is already attached at 'ide2'"


def test_a_medium_is_forgotten_with_its_drive() -> None:
    config = machine(ide2="local:iso/a.iso,media=cdrom")

    outcome = update(config, STOPPED, {"delete": "ide2", "force": "1"})

    assert (outcome.freed, outcome.unused) == ([], {})


def test_deleting_what_is_not_set_only_warns() -> None:
    config = machine()

    outcome = update(config, STOPPED, {"delete": "net5"})

    assert outcome.warnings == ["cannot delete 'net5' - not set in current configuration!"]
    assert (outcome.errors, outcome.applied, config.has_pending) == ({}, [], False)


def test_revert_drops_a_new_value_that_waits() -> None:
    config = machine()
    changed(config, RUNNING, cores="8", memory="8192")

    update(config, RUNNING, {"revert": "cores"})

    assert config.pending_section == {"memory": "8192"}
    assert config.values["cores"] == "2"


def test_revert_drops_a_key_that_was_never_there() -> None:
    config = machine()
    changed(config, RUNNING, cpu="host")

    update(config, RUNNING, {"revert": "cpu"})

    assert not config.has_pending
    assert "cpu" not in config.values


def test_revert_drops_a_deletion_that_waits() -> None:
    config = machine()
    update(config, RUNNING, {"delete": "ostype"})
    assert config.pending_delete == {"ostype": 0}

    update(config, RUNNING, {"revert": "ostype"})

    assert not config.has_pending
    assert config.values["ostype"] == "l26"


def test_setting_a_key_takes_back_its_deletion() -> None:
    config = machine()
    update(config, RUNNING, {"delete": "ostype"})

    changed(config, RUNNING, ostype="other")

    assert config.pending_section == {"ostype": "other"}


def test_setting_the_same_value_changes_nothing() -> None:
    config = machine()
    before = machine_digest(config)

    outcome = changed(config, RUNNING, cores="2", memory="4096")

    assert machine_digest(config) == before
    assert outcome.applied == []


def test_protection_keeps_drives_and_unused_volumes() -> None:
    config = machine(protection="1", unused0="local-lvm:vm-100-disk-8")

    for key, message in (
        ("scsi1", "can't remove drive 'scsi1' - protection mode enabled"),
        (
            "unused0",
            "can't remove unused disk 'local-lvm:vm-100-disk-8' - protection mode enabled",
        ),
    ):
        with pytest.raises(ApiError) as refused:
            update(config, STOPPED, {"delete": key})
        assert (refused.value.status, refused.value.message) == (500, message)
        assert key in config.values


def test_the_version_of_a_tpm_cannot_change() -> None:
    config = machine(tpmstate0="local-lvm:vm-100-disk-3,size=4M,version=v2.0")

    with pytest.raises(ApiError, match="cannot change TPM state version after creation"):
        changed(config, STOPPED, tpmstate0="local-lvm:vm-100-disk-3,size=4M,version=v1.2")


def test_another_digest_means_that_somebody_else_changed_the_file() -> None:
    config = machine()
    change = Change(sets={"cores": "4"})

    check_update(config, change, machine_digest(config))
    with pytest.raises(ApiError) as refused:
        check_update(config, change, "0" * 40)

    assert refused.value.status == 500
    assert refused.value.message == "checksum mismatch (file change by other user?)"


def test_a_locked_machine_is_not_changed() -> None:
    with pytest.raises(ApiError, match=r"VM is locked \(clone\)"):
        check_update(machine(lock="clone"), Change(sets={"cores": "4"}))


def test_the_saved_state_of_a_suspended_machine_can_be_thrown_away() -> None:
    state = "local-lvm:vm-100-state-suspend"
    config = machine(lock="suspended", vmstate=state, runningmachine="pc-i440fx-9.2")
    change = Change(deletes=["vmstate"])

    check_update(config, change)
    outcome = plan_update(config, change, STOPPED)

    assert outcome.freed == [state]
    assert not {"lock", "vmstate", "runningmachine"} & set(config.values)


@pytest.mark.parametrize(
    "sets", [{"balloon": "4097"}, {"memory": "1024", "balloon": "2048"}, {"memory": "1024"}]
)
def test_a_balloon_larger_than_the_memory_is_refused(sets: dict[str, str]) -> None:
    config = machine(balloon="2048")

    with pytest.raises(ApiError) as refused:
        check_update(config, Change(sets=sets))

    assert refused.value.message == (
        "balloon value too large (must be smaller than assigned memory)"
    )


def test_a_balloon_as_large_as_the_memory_is_fine() -> None:
    check_update(machine(), Change(sets={"balloon": "4096"}))
    check_update(machine(), Change(sets={"balloon": "0"}))
    check_update(GuestConfig(), Change(sets={"balloon": "512"}))


def test_a_disk_that_was_never_plugged_in_is_kept_when_another_takes_its_place() -> None:
    config = machine()
    changed(config, replace(RUNNING, stuck=lambda _key: "no slot"), scsi2="local-lvm:1")
    assert config.pending["scsi2"] == "local-lvm:vm-100-disk-7,size=1G"

    changed(config, STOPPED, scsi2="none,media=cdrom")

    assert config.values["unused0"] == "local-lvm:vm-100-disk-7"


def test_a_disk_that_was_never_plugged_in_is_kept_when_its_key_is_deleted() -> None:
    config = machine()
    changed(config, replace(RUNNING, stuck=lambda _key: "no slot"), scsi2="local-lvm:1")

    update(config, RUNNING, {"delete": "scsi2"})

    assert config.values["unused0"] == "local-lvm:vm-100-disk-7"
    assert not config.has_pending
