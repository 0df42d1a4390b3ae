"""Configurations as the API shows them."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.state import GuestConfig, container_digest, machine_digest
from stockman_lab.pve.guest_config.views import (
    cloud_init_rows,
    pending_container_rows,
    pending_machine_rows,
    shown_container,
    shown_machine,
)

CONFIG = GuestConfig(
    values={
        "balloon": "0",
        "cores": "2",
        "cpulimit": "1.5",
        "memory": "4096",
        "onboot": "1",
        "scsi1": "local:1",
        "vga": "std",
    },
    pending={"cores": "4", "cpu": "host"},
    pending_delete={"vga": 0, "scsi1": 1},
)


def test_what_waits_is_shown_as_if_it_held() -> None:
    assert shown_machine(CONFIG) == {
        "balloon": 0,
        "cores": 4,
        "cpu": "host",
        "cpulimit": "1.5",
        "digest": machine_digest(CONFIG),
        "memory": "4096",
        "onboot": 1,
    }


def test_the_current_values_can_be_asked_for() -> None:
    shown = shown_machine(CONFIG, current=True)

    assert (shown["cores"], shown["vga"]) == (2, "std")
    assert "cpu" not in shown


def test_flags_and_whole_numbers_are_numbers_and_fractions_are_text() -> None:
    shown = shown_machine(CONFIG)

    assert [type(shown[key]) for key in ("onboot", "cores", "cpulimit", "memory")] == [
        int,
        int,
        str,
        str,
    ]


def test_a_zero_that_shall_go_is_still_shown() -> None:
    config = GuestConfig(values={"onboot": "0", "tablet": "1"}, pending_delete={"onboot": 0})

    assert shown_machine(config)["onboot"] == 0


def test_a_password_is_never_shown() -> None:
    config = GuestConfig(values={"cipassword": "x"}, pending={"cipassword": "y"})

    assert shown_machine(config, current=True)["cipassword"] == "**********"
    row = next(row for row in pending_machine_rows(config) if row["key"] == "cipassword")
    assert row == {"key": "cipassword", "value": "**********", "pending": "********** "}


def test_waiting_changes_are_listed_beside_current_values() -> None:
    rows = {row.pop("key"): row for row in pending_machine_rows(CONFIG)}

    assert rows == {
        "balloon": {"value": 0},
        "cores": {"value": 2, "pending": 4},
        "cpu": {"pending": "host"},
        "cpulimit": {"value": "1.5"},
        "digest": {"value": machine_digest(CONFIG)},
        "memory": {"value": "4096"},
        "onboot": {"value": 1},
        "scsi1": {"value": "local:1", "delete": 2},
        "vga": {"value": "std", "delete": 1},
    }


def test_values_of_a_snapshot_can_be_asked_for() -> None:
    config = GuestConfig(values={"cores": "2"}, snapshots={"before": {"cores": "1"}})

    assert shown_machine(config, snapshot="before") == {
        "cores": 1,
        "digest": machine_digest(config),
    }
    with pytest.raises(ApiError, match="snapshot 'after' does not exist"):
        shown_machine(config, snapshot="after")


def test_a_snapshot_has_no_current_values() -> None:
    with pytest.raises(ApiError) as refused:
        shown_machine(CONFIG, current=True, snapshot="before")

    text = "cannot use 'snapshot' parameter with 'current'"
    assert refused.value.errors == {"snapshot": text, "current": text}


def test_a_container_shows_memory_as_a_number_and_settings_of_lxc() -> None:
    config = GuestConfig(
        values={"memory": "512", "unprivileged": "1", "cpulimit": "2"},
        pending={"memory": "1024"},
        raw=[["lxc.cap.drop", "sys_admin"]],
    )

    assert shown_container(config) == {
        "memory": 1024,
        "unprivileged": 1,
        "cpulimit": "2",
        "digest": container_digest(config),
        "lxc": [["lxc.cap.drop", "sys_admin"]],
    }
    assert {"key": "memory", "value": 512, "pending": 1024} in pending_container_rows(config)


def test_the_cloud_init_drive_lists_what_it_does_not_know_yet() -> None:
    config = GuestConfig(
        values={"ciuser": "new", "sshkeys": "k", "nameserver": "10.0.0.1", "ipconfig0": "ip=dhcp"},
        cloud_init={"ciuser": "old", "searchdomain": "example.com", "added": "nameserver"},
    )

    assert cloud_init_rows(config) == [
        {"key": "nameserver", "pending": "10.0.0.1"},
        {"key": "ciuser", "value": "old", "pending": "new"},
        {"key": "sshkeys", "value": "k"},
        {"key": "searchdomain", "delete": 1},
    ]
