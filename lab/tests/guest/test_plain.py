"""A plain Linux from boot to shutdown."""

from __future__ import annotations

from typing import Any

import pytest
from stockman_lab.guest.network import NicView
from stockman_lab.guest.system import AgentError
from stockman_lab.guest.systems import PlainGuest
from stockman_lab.guest.view import GuestView

from lab.tests.guest.machines import NOW, Middle, image, machine, pools

LATER = NOW + 60
STATIC = {
    "user-data": b"#cloud-config\nhostname: web-1\nfqdn: web-1.example\n",
    "network-config": (
        b"version: 1\nconfig:\n- type: physical\n  name: eth0\n"
        b"  mac_address: 'bc:24:11:aa:bb:00'\n  subnets:\n"
        b"  - {type: static, address: 127.66.0.21, netmask: 255.255.255.0}\n"
        b"- type: physical\n  name: eth1\n  mac_address: 'bc:24:11:aa:bb:01'\n"
        b"  subnets: [{type: dhcp4}, {type: ipv6_slaac}]\n"
    ),
}


def booted(view: GuestView) -> PlainGuest:
    guest = PlainGuest()
    guest.booted(view, NOW, Middle())
    return guest


def addresses(guest: PlainGuest, now: float = LATER) -> dict[str, list[str]]:
    value: Any = guest.ask("network-get-interfaces", {}, now)
    return {
        one["name"]: [
            f"{address['ip-address']}/{address['prefix']}"
            for address in one.get("ip-addresses", [])
        ]
        for one in value
    }


def test_the_agent_comes_up_some_time_after_the_start() -> None:
    guest = booted(machine(disk=image()))

    assert not guest.agent_is_up(NOW + 14)
    assert guest.agent_is_up(NOW + 40)
    with pytest.raises(AgentError):
        guest.ask("ping", {}, NOW + 1)


def test_static_addresses_and_the_name_are_those_of_the_drive() -> None:
    guest = booted(machine(disk=image(), cloud_init=STATIC, nics=2))

    assert guest.ask("get-host-name", {}, LATER) == {"host-name": "web-1"}
    assert addresses(guest) == {
        "lo": ["127.0.0.1/8", "::1/128"],
        "eth0": [
            "127.66.0.21/24",
            "fd66::be24:11ff:feaa:bb00/64",
            "fe80::be24:11ff:feaa:bb00/64",
        ],
        "eth1": [
            "127.66.1.100/24",
            "fd66::be24:11ff:feaa:bb01/64",
            "fe80::be24:11ff:feaa:bb01/64",
        ],
    }


def test_without_a_drive_the_first_card_asks_for_a_lease() -> None:
    guest = booted(machine(disk=image(), nics=2))

    assert addresses(guest) == {
        "lo": ["127.0.0.1/8", "::1/128"],
        "ens18": [
            "127.66.1.100/24",
            "fd66::be24:11ff:feaa:bb00/64",
            "fe80::be24:11ff:feaa:bb00/64",
        ],
        "ens19": ["fd66::be24:11ff:feaa:bb01/64", "fe80::be24:11ff:feaa:bb01/64"],
    }
    assert guest.ask("get-host-name", {}, LATER) == {"host-name": "localhost"}


def test_the_vlan_of_a_card_decides_who_answers_it() -> None:
    view = machine(disk=image())
    view.nics[0].vlan = 62

    assert addresses(booted(view))["ens18"][0] == "127.62.0.10/16"


def test_a_card_without_a_cable_gets_nothing() -> None:
    view = machine(disk=image())
    view.nics[0].is_linked = False

    assert addresses(booted(view))["ens18"] == []


def test_a_lease_is_kept_over_a_reset() -> None:
    network = pools()
    first = addresses(booted(machine(disk=image(), network=network)))

    assert addresses(booted(machine(disk=image(), network=network))) == first


def test_a_card_that_is_plugged_in_is_seen() -> None:
    view = machine(disk=image(), cloud_init=STATIC)
    guest = booted(view)
    view.nics.append(NicView(number=5, mac="BC:24:11:00:00:05", bridge="vmbr0"))

    guest.changed(view, LATER)

    result = addresses(guest)
    assert result["ens23"] == ["fe80::be24:11ff:fe00:5/64"]
    assert result["eth0"][0] == "127.66.0.21/24"


def test_the_power_button_is_heard_once_there_is_somebody() -> None:
    guest = booted(machine(disk=image()))

    assert guest.shutdown(NOW + 1, Middle()) is None
    assert guest.shutdown(LATER, Middle()) == 10.0
