"""Options of interfaces in the form that a file gives back."""

from __future__ import annotations

import pytest
from stockman_lab.pve.interfaces.options import canonical, parent_of, ports_of


def test_a_mask_becomes_a_length() -> None:
    given = {"type": "eth", "address": "10.0.0.1", "netmask": "255.255.0.0"}
    found = canonical("eno1", given)
    assert (found["netmask"], found["cidr"]) == ("16", "10.0.0.1/16")


def test_an_address_without_a_mask_is_one_host() -> None:
    assert canonical("eno1", {"type": "eth", "address": "10.0.0.1"})["cidr"] == "10.0.0.1/32"


def test_twice_is_the_same_as_once() -> None:
    given = {
        "type": "bridge",
        "cidr": "10.0.0.1/8",
        "comments": "one\ntwo",
        "bridge_ports": "eno2,eno1",
        "bridge_vlan_aware": "1",
        "autostart": "1",
    }
    once = canonical("vmbr1", given)
    assert canonical("vmbr1", once) == once
    assert once["bridge_ports"] == "eno1 eno2"
    assert once["comments"] == "one\ntwo\n"


def test_vlans_are_listed_only_by_bridges_that_know_of_them() -> None:
    assert "bridge_vids" not in canonical("vmbr1", {"type": "bridge", "bridge_vids": "2-10"})


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("eno1.5", {}, ("eno1", "5")),
        ("vlan7", {"vlan-raw-device": "eno1"}, ("eno1", "7")),
        ("storage", {"vlan-raw-device": "eno1", "vlan-id": "9"}, ("eno1", "9")),
        ("storage", {}, ("", "")),
    ],
)
def test_a_vlan_is_on_top_of_another_interface(
    name: str, options: dict[str, str], expected: tuple[str, str]
) -> None:
    assert parent_of(name, options) == expected


def test_no_port_is_no_port() -> None:
    assert ports_of({"bridge_ports": "none"}) == []
