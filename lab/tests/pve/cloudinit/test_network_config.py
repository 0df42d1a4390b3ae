"""Networks as Proxmox VE writes them."""

from __future__ import annotations

import pytest
from stockman_lab.guest.first_boot import Addressing, first_boot
from stockman_lab.pve.cloudinit.drive import network_version_1
from stockman_lab.pve.cloudinit.settings import CloudInitError, Resolver

from lab.tests.pve.cloudinit.made import SEVERAL, STATIC, vm

NOWHERE = Resolver()


def test_static_addresses_are_written_with_a_mask_and_a_small_mac() -> None:
    assert network_version_1(vm(STATIC)) == (
        "version: 1\n"
        "config:\n"
        "    - type: physical\n"
        "      name: eth0\n"
        "      mac_address: 'bc:24:11:aa:bb:00'\n"
        "      subnets:\n"
        "      - type: static\n"
        "        address: '127.66.0.21'\n"
        "        netmask: '255.255.254.0'\n"
        "        gateway: '127.66.0.1'\n"
        "      - type: static6\n"
        "        address: 'fd66::21/64'\n"
        "        gateway: 'fd66::1'\n"
        "    - type: nameserver\n"
        "      address:\n"
        "      - '127.66.0.2'\n"
        "      - '127.66.0.3'\n"
        "      search:\n"
        "      - 'lab.test'\n"
        "      - 'other.test'\n"
    )


def test_cards_come_sorted_as_texts_and_only_where_they_are_addressed() -> None:
    text = network_version_1(vm(SEVERAL))

    assert [line.strip() for line in text.splitlines() if "name: eth" in line] == [
        "name: eth0",
        "name: eth10",
        "name: eth2",
    ]
    assert "      - '127.66.0.9'\n      search:\n      - 'a.test'\n      - 'b.test'\n" in text


def test_a_guest_understands_what_is_written() -> None:
    found = first_boot({"network-config": network_version_1(vm(SEVERAL)).encode()})

    assert found.links == [
        Addressing(name="eth0", mac="bc:24:11:aa:bb:00", dhcp4=True),
        Addressing(name="eth10", mac="bc:24:11:aa:bb:10", self_made=True),
        Addressing(name="eth2", mac="bc:24:11:aa:bb:02", addresses=["127.66.2.2/8"], dhcp6=True),
    ]


def test_where_nothing_is_known_of_names_there_is_an_empty_entry() -> None:
    assert network_version_1(vm({}, resolver=NOWHERE)) == (
        "version: 1\nconfig:\n    - type: nameserver\n"
    )


@pytest.mark.parametrize(
    "ipconfig", ["gw=127.66.0.1", "ip=dhcp,gw=127.66.0.1", "ip6=auto,gw6=fd66::1"]
)
def test_what_contradicts_itself_is_passed_over(ipconfig: str) -> None:
    text = network_version_1(vm(STATIC | {"ipconfig0": ipconfig}, resolver=NOWHERE))

    assert text.endswith("      subnets:\n    - type: nameserver\n")


def test_a_card_without_a_mac_address_is_refused() -> None:
    with pytest.raises(CloudInitError, match="network interface 'net0' has no mac address"):
        network_version_1(vm({"net0": "virtio,bridge=vmbr0", "ipconfig0": "ip=dhcp"}))


def test_an_address_without_a_prefix_is_refused() -> None:
    with pytest.raises(CloudInitError, match="not a CIDR"):
        network_version_1(vm(STATIC | {"ipconfig0": "ip=127.0.0.1"}))
