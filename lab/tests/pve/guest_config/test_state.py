"""The configuration of one guest as a file."""

from __future__ import annotations

from stockman_lab.pve.guest_config.state import (
    GuestConfig,
    container_config_text,
    has_cloud_init,
    machine_config_text,
    machine_digest,
)

DRIVE = "local:100/vm-100-cloudinit.qcow2,media=cdrom"


def test_deletions_wait_in_one_line_and_forced_ones_are_marked() -> None:
    config = GuestConfig(pending={"cores": "2"}, pending_delete={"scsi1": 1, "net1": 0})

    assert config.pending_section == {"cores": "2", "delete": "net1,!scsi1"}
    assert machine_config_text(config) == "\n[PENDING]\ncores: 2\ndelete: net1,!scsi1\n"


def test_what_the_cloud_init_drive_knows_is_written_only_with_such_a_drive() -> None:
    config = GuestConfig(values={"name": "a"}, cloud_init={"name": "b"})
    assert "special" not in machine_config_text(config)

    config.values["ide2"] = DRIVE

    assert machine_config_text(config).endswith("\n[special:cloudinit]\nname: b\n")


def test_every_change_gives_another_digest() -> None:
    config = GuestConfig(values={"cores": "2"})
    before = machine_digest(config)

    config.pending["cores"] = "4"

    assert machine_digest(config) != before


def test_the_cloud_init_drive_is_found_wherever_it_is() -> None:
    assert has_cloud_init({"scsi0": "local:vm-1-disk-0", "sata3": DRIVE}) == "sata3"
    assert has_cloud_init({"ide2": DRIVE}, but="ide2") == ""
    assert has_cloud_init({}) == ""


def test_a_container_keeps_settings_of_lxc() -> None:
    config = GuestConfig(values={"memory": "512"}, raw=[["lxc.cap.drop", "sys_admin"]])

    assert container_config_text(config) == "memory: 512\nlxc.cap.drop: sys_admin\n"
