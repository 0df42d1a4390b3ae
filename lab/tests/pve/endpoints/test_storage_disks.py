"""Disks of hosts, what is made of them, and what a host finds."""

from __future__ import annotations

from lab.tests.worlds import door

DISKS = "/nodes/pve1/disks"


def test_unused_disks_can_be_asked_for() -> None:
    rows = door().get(f"{DISKS}/list", type="unused")

    assert [row["devpath"] for row in rows] == ["/dev/sda"]
