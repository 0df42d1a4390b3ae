"""Configurations as the API shows them."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.guest_config.state import GuestConfig
from stockman_lab.pve.guest_config.views import (
    pending_machine_rows,
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


def test_a_zero_that_shall_go_is_still_shown() -> None:
    config = GuestConfig(values={"onboot": "0", "tablet": "1"}, pending_delete={"onboot": 0})

    assert shown_machine(config)["onboot"] == 0


def test_a_password_is_never_shown() -> None:
    config = GuestConfig(values={"cipassword": "x"}, pending={"cipassword": "y"})

    assert shown_machine(config, current=True)["cipassword"] == "**********"
    row = next(row for row in pending_machine_rows(config) if row["key"] == "cipassword")
    assert row == {"key": "cipassword", "value": "**********", "pending": "********** "}


def test_a_snapshot_has_no_current_values() -> None:
    with pytest.raises(ApiError) as refused:
        shown_machine(CONFIG, current=True, snapshot="before")

    text = "cannot use 'snapshot' parameter with 'current'"
    assert refused.value.errors == {"snapshot": text, "current": text}
