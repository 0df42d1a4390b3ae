"""Changes of a virtual machine that does not run, and what is looked at before any change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.change import Change
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.update import check_update, plan_update

from lab.tests.pve.guest_config.guests import (
    RUNNING,
    STOPPED,
    changed,
    machine,
    update,
)


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


def test_the_saved_state_of_a_suspended_machine_can_be_thrown_away() -> None:
    state = "local-lvm:vm-100-state-suspend"
    config = machine(lock="suspended", vmstate=state, runningmachine="pc-i440fx-9.2")
    change = Change(deletes=["vmstate"])

    check_update(config, change)
    outcome = plan_update(config, change, STOPPED)

    assert outcome.freed == [state]
    assert not {"lock", "vmstate", "runningmachine"} & set(config.values)


def test_a_balloon_as_large_as_the_memory_is_fine() -> None:
    check_update(machine(), Change(sets={"balloon": "4096"}))
    check_update(machine(), Change(sets={"balloon": "0"}))
    check_update(GuestConfig(), Change(sets={"balloon": "512"}))


def test_a_disk_that_was_never_plugged_in_is_kept_when_its_key_is_deleted() -> None:
    config = machine()
    changed(config, replace(RUNNING, stuck=lambda _key: "no slot"), scsi2="local-lvm:1")

    update(config, RUNNING, {"delete": "scsi2"})

    assert config.values["unused0"] == "local-lvm:vm-100-disk-7"
    assert not config.has_pending
