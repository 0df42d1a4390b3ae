"""What changed since the drive was made."""

from __future__ import annotations

from stockman_lab.pve.cloudinit.pending import pending_rows


def test_rows_tell_what_is_what_is_going_to_be_and_what_goes() -> None:
    values = {"ciuser": "new", "nameserver": "127.0.0.1", "ipconfig0": "ip=dhcp", "cores": "1"}
    section = {"added": "ipconfig0", "ciuser": "old", "sshkeys": "gone"}

    assert pending_rows(values, section) == [
        {"key": "ipconfig0", "pending": "ip=dhcp"},
        {"key": "ciuser", "value": "old", "pending": "new"},
        {"key": "nameserver", "value": "127.0.0.1"},
        {"key": "sshkeys", "delete": 1},
    ]


def test_passwords_are_masked() -> None:
    mask = "**********"

    assert pending_rows({"cipassword": "a"}, {"cipassword": "b"}) == [
        {"key": "cipassword", "value": mask, "pending": mask}
    ]
    assert pending_rows({"cipassword": "a"}, {"added": "cipassword"}) == [
        {"key": "cipassword", "pending": mask}
    ]


def test_addresses_that_stay_are_no_rows() -> None:
    assert pending_rows({"ipconfig0": "ip=dhcp", "name": "x"}, {}) == []
