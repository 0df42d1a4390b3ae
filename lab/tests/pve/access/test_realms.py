"""Realms."""

from __future__ import annotations

from stockman_lab.pve.access.realms import realm_rows

from lab.tests.pve.access.house import populated


def test_every_cluster_has_two_realms() -> None:
    assert realm_rows(populated()) == [
        {"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
        {"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
    ]
