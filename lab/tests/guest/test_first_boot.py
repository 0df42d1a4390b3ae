"""What a plain Linux reads at its first boot."""

from __future__ import annotations

import pytest
from stockman_lab.guest.first_boot import Addressing, FirstBoot, first_boot

FIRST = b"""\
version: 1
config:
    - type: physical
      name: eth0
      mac_address: 'BC:24:11:aa:bb:00'
      subnets:
      - type: static
        address: '127.66.0.21'
        netmask: '255.255.255.0'
        gateway: '127.66.0.1'
      - type: static6
        address: 'fd66::21/64'
    - type: physical
      name: eth1
      subnets:
      - type: dhcp4
      - type: dhcp6
      - type: ipv6_slaac
    - type: nameserver
      address: ['127.66.0.2']
"""
SECOND = b"""\
network:
  version: 2
  ethernets:
    net0:
      match: {macaddress: "BC:24:11:AA:BB:00"}
      set-name: eth0
      addresses: ['127.66.0.21/24', 'nonsense']
    eth1: {dhcp4: true, dhcp6: true}
    eth2: nonsense
"""


def test_version_1_of_a_network_is_read() -> None:
    assert first_boot({"network-config": FIRST}).links == [
        Addressing(
            name="eth0",
            mac="bc:24:11:aa:bb:00",
            addresses=["127.66.0.21/24", "fd66::21/64"],
        ),
        Addressing(name="eth1", dhcp4=True, dhcp6=True, self_made=True),
    ]


def test_version_2_of_a_network_is_read() -> None:
    assert first_boot({"network-config": SECOND}).links == [
        Addressing(name="eth0", mac="bc:24:11:aa:bb:00", addresses=["127.66.0.21/24"]),
        Addressing(name="eth1", dhcp4=True, dhcp6=True),
    ]


@pytest.mark.parametrize(
    ("user", "meta", "hostname"),
    [
        (b"#cloud-config\nhostname: a\nfqdn: b.example\n", b"local-hostname: c", "b"),
        (b"#cloud-config\nhostname: a\n", b"local-hostname: c", "a"),
        (b"", b"local-hostname: c", "c"),
        (b"", b"", ""),
    ],
)
def test_names_are_looked_for_in_order(user: bytes, meta: bytes, hostname: str) -> None:
    assert first_boot({"user-data": user, "meta-data": meta}).hostname == hostname


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe\x00", b"a: [", b"- 1", b"version: 3", b"version: 1\nconfig: 7", b"5"]
)
def test_what_cannot_be_read_is_passed_over(raw: bytes) -> None:
    found = first_boot({"user-data": raw, "meta-data": raw, "network-config": raw})

    assert found in (FirstBoot(), FirstBoot(links=[]))
