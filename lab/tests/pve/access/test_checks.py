"""Checks that look at more than one path."""

from __future__ import annotations

from stockman_lab.pve.endpoints.network import may_use_bridge

from lab.tests.pve.access.house import ANN, authority


def test_a_bridge_is_open_to_who_may_use_the_bridge_itself() -> None:
    found = authority("/sdn/zones/localnetwork ann@pve PVESDNUser")

    assert may_use_bridge(found, ANN, "localnetwork", "vmbr0", "SDN.Use")
