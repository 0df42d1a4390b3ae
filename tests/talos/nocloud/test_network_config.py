"""`network-config` in both versions."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from stockman.talos.nocloud.network import build_node_network
from stockman.talos.nocloud.seed import (
    NetworkConfigVersion,
    choose_version,
    network_config,
    unsupported_settings,
)
from tests.talos.nocloud.networks import NETWORKS, node

STATIC_1 = """\
version: 1
config:
  - type: physical
    name: eth0
    mac_address: "bc:24:11:00:00:40"
    mtu: 9000
    subnets:
      - type: static
        address: 127.66.0.21/24
        gateway: 127.66.0.1
  - type: physical
    name: eth1
    mac_address: "bc:24:11:00:00:41"
  - type: nameserver
    address:
      - 127.66.0.2
      - 127.66.0.3
"""
ROUTES_2 = """\
version: 2
ethernets:
  eth0:
    match:
      macaddress: "bc:24:11:00:00:40"
    addresses:
      - 127.66.0.21/24
    routes:
      - to: default
        via: 127.66.0.1
      - to: 127.99.0.0/16
        via: 127.66.0.9
        metric: 50
    nameservers:
      addresses:
        - 127.66.0.2
        - 127.66.0.3
"""


def test_version_1_is_written_so() -> None:
    assert network_config(NETWORKS["static"], 1) == STATIC_1


def test_version_2_is_written_so() -> None:
    assert network_config(NETWORKS["routes"], 2) == ROUTES_2


def test_a_bond_has_its_cards_and_parameters() -> None:
    first: Any = yaml.safe_load(network_config(NETWORKS["bond"], 1))["config"][2]
    second: Any = yaml.safe_load(network_config(NETWORKS["bond"], 2))["bonds"]["bond0"]

    assert first["bond_interfaces"] == second["interfaces"] == ["eth0", "eth1"]
    assert first["params"]["bond-mode"] == second["parameters"]["mode"] == "802.3ad"
    assert first["params"]["bond-lacp-rate"] == second["parameters"]["lacp-rate"] == "fast"


@pytest.mark.parametrize(
    ("name", "form"), [("static", 1), ("dhcp", 1), ("vlan", 1), ("bond", 1), ("routes", 2)]
)
def test_the_version_that_says_most_is_taken(name: str, form: NetworkConfigVersion) -> None:
    assert choose_version(NETWORKS[name]) == form
    assert unsupported_settings(NETWORKS[name], form) == ()


def test_what_a_version_cannot_say_is_told() -> None:
    (routes,) = unsupported_settings(NETWORKS["routes"], 1)
    (vlan,) = unsupported_settings(NETWORKS["vlan"], 2)

    assert routes.what == "1 routes by eth0"
    assert vlan.what == "selecting eth0 below eth0.66 by its MAC address"
    assert not routes.needed
    assert not vlan.needed


def test_a_node_has_its_address_on_its_first_card() -> None:
    node_network = build_node_network(*node())

    (own,) = node_network.interfaces
    assert (own.name, own.mac, own.mtu) == ("eth0", "bc:24:11:00:00:21", 1500)
    assert [str(address) for address in own.addresses] == ["127.66.0.21/24"]
    assert str(own.gateway) == "127.66.0.1"


def test_a_tagged_node_has_its_address_on_a_vlan() -> None:
    node_network = build_node_network(*node("node_vlan_tag: 66\n"))

    below, tagged = node_network.interfaces
    assert not below.addresses
    assert (tagged.name, tagged.vlan, tagged.parent) == ("eth0.66", 66, "eth0")
    assert tagged.addresses


def test_dhcp_gives_no_address_of_our_own() -> None:
    node_network = build_node_network(*node("network: {addressing: dhcp}\n"))

    assert node_network.interfaces[0].dhcp
    assert not node_network.interfaces[0].addresses


def test_further_links_are_up() -> None:
    node_network = build_node_network(*node(name="work-1"))

    assert [(interface.name, interface.mtu) for interface in node_network.interfaces] == [
        ("eth0", 9000),
        ("eth1", 1400),
    ]
