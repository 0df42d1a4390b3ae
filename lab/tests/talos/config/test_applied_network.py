"""The network that a machine sets up of all that is told to it."""

from __future__ import annotations

import pytest
from stockman_lab.guest.network import NicView, Pool, Pools
from stockman_lab.talos.config.applied import (
    AppliedAddress,
    AppliedNetwork,
    AppliedRoute,
    Layer,
    MachineNetwork,
    Operator,
)
from stockman_lab.talos.config.applied_network import address_name, applied_network, stable_name
from stockman_lab.talos.config.nocloud import PlatformData, cmdline, nocloud_data
from stockman_lab.talos.config.reading import effective

NODE_ID = "".join(["fGdOI05hVr", "x3YMagLo0B", "wxa2Nm9BAs", "wWm8XLeEj0", "aS4"])
MACS = ("BC:24:11:00:00:01", "BC:24:11:00:00:02")
STATIC = b"""\
version: 1
config:
  - type: physical
    name: eth0
    mac_address: 'bc:24:11:00:00:01'
    subnets: [{type: static, address: 10.42.0.21/24, gateway: 10.42.0.1}]
  - {type: nameserver, address: [10.42.0.2]}
"""


def machine(count: int = 1, *, linked: bool = True, node_id: str = "") -> MachineNetwork:
    return MachineNetwork(
        minor="1.13",
        nics=tuple(
            NicView(number=number, mac=MACS[number], bridge="vmbr0", is_linked=linked)
            for number in range(count)
        ),
        network=Pools(
            [
                Pool(bridge="vmbr0", first="10.42.0.100/24", count=9),
                Pool(bridge="vmbr0", vlan=66, first="10.42.66.100/24", count=9),
            ]
        ),
        node_id=node_id,
    )


def applied(
    text: str | None,
    *,
    of: MachineNetwork | None = None,
    platform: PlatformData | None = None,
) -> AppliedNetwork:
    config = None if text is None else effective(text.encode(), "1.13")
    told = platform or PlatformData(cmdline=cmdline("net.ifnames=0"))
    return applied_network(of or machine(), told, config)


def global_addresses(applied_network: AppliedNetwork, link: str) -> tuple[str, ...]:
    """Addresses of a link with prefix, those of the link alone left out."""
    return tuple(
        address.address
        for address in applied_network.addresses
        if address.link == link and address.scope == "global"
    )


def test_without_any_word_cards_ask_for_leases() -> None:
    result = applied(None)

    assert result.operators == (Operator(kind="dhcp4", link="eth0", layer=Layer.DEFAULT),)
    assert result.addresses == (
        AppliedAddress(link="lo", address="127.0.0.1/8", scope="host", layer=Layer.DEFAULT),
        AppliedAddress(link="lo", address="::1/128", scope="host", layer=Layer.KERNEL),
        AppliedAddress(link="eth0", address="10.42.0.100/24", layer=Layer.OPERATOR, priority=1024),
        AppliedAddress(
            link="eth0", address="fe80::be24:11ff:fe00:1/64", scope="link", layer=Layer.KERNEL
        ),
    )
    assert result.routes == (
        AppliedRoute(link="eth0", gateway="10.42.0.1", source="10.42.0.100", layer=Layer.OPERATOR),
    )
    assert (result.resolvers, result.time_servers) == (
        ("1.1.1.1", "8.8.8.8"),
        ("time.cloudflare.com",),
    )
    assert (result.hostname, result.node_addresses) == ("", ("10.42.0.100",))


def test_a_card_without_a_cable_gets_nothing() -> None:
    result = applied(None, of=machine(linked=False))

    assert result.node_addresses == ()
    assert [(link.name, link.up, link.carrier) for link in result.links] == [
        ("lo", True, True),
        ("eth0", True, False),
    ]


def test_cards_are_named_by_their_slots_unless_told_not_to() -> None:
    result = applied(None, of=machine(2), platform=PlatformData())

    assert [link.name for link in result.links] == ["lo", "ens18", "ens19"]
    assert result.link("enp0s19") == result.links[2]
    assert result.link("eth0") is None
    assert (result.links[1].bus_path, result.links[1].driver) == ("0000:00:12.0", "virtio_net")


def test_a_platform_that_speaks_of_a_card_keeps_it_from_asking() -> None:
    files = {"network-config": STATIC, "meta-data": b"hostname: shed.example\n"}
    platform = nocloud_data(files, arguments=cmdline("net.ifnames=0"))
    result = applied(None, of=machine(2), platform=platform)

    assert global_addresses(result, "eth0") == ("10.42.0.21/24",)
    assert global_addresses(result, "eth1") == ("10.42.0.100/24",)
    assert [(operator.link, operator.layer) for operator in result.operators] == [
        ("eth1", Layer.DEFAULT)
    ]
    assert (result.hostname, result.domain) == ("shed", "example")
    assert result.resolvers == ("10.42.0.2",)


def test_addresses_of_all_layers_are_there_and_names_of_the_highest() -> None:
    files = {"network-config": STATIC, "meta-data": b"hostname: shed\n"}
    platform = nocloud_data(files, arguments=cmdline("net.ifnames=0 talos.hostname=low"))
    text = """\
machine:
  type: worker
  network:
    hostname: barn.example
    nameservers: [10.42.0.3]
    interfaces: [{interface: eth0, addresses: [10.42.0.22/24], mtu: 1400}]
  time: {servers: [10.42.0.4]}
"""
    result = applied(text, platform=platform)

    assert global_addresses(result, "eth0") == ("10.42.0.21/24", "10.42.0.22/24")
    assert (result.hostname, result.domain) == ("barn", "example")
    assert result.search_domains == ("example",)
    assert (result.resolvers, result.time_servers) == (("10.42.0.3",), ("10.42.0.4",))
    assert (result.links[1].mtu, result.links[1].layer) == (1400, Layer.CONFIGURATION)


def test_documents_about_links_leave_other_cards_down() -> None:
    text = """\
apiVersion: v1alpha1
kind: LinkAliasConfig
name: net0
selector: {match: 'mac(link.permanent_addr) == "bc:24:11:00:00:02"'}
---
apiVersion: v1alpha1
kind: LinkConfig
name: net0
addresses: [{address: 10.42.0.5/24}]
routes: [{gateway: 10.42.0.1}]
---
apiVersion: v1alpha1
kind: Layer2VIPConfig
name: 10.42.0.9
link: net0
"""
    result = applied(text, of=machine(2))

    assert global_addresses(result, "eth1") == ("10.42.0.5/24",)
    assert result.link("net0") == result.links[2]
    assert [(link.name, link.up) for link in result.links] == [
        ("lo", True),
        ("eth0", False),
        ("eth1", True),
    ]
    assert result.vips == {"10.42.0.9": "eth1"}
    assert [(operator.kind, operator.vip) for operator in result.operators] == [
        ("vip", "10.42.0.9")
    ]
    assert result.routes == (
        AppliedRoute(link="eth1", gateway="10.42.0.1", layer=Layer.CONFIGURATION),
    )


def test_an_alias_that_fits_several_cards_is_given_to_none() -> None:
    text = "kind: LinkAliasConfig\nname: net0\nselector: {match: 'link.driver == \"virtio_net\"'}"

    assert applied(text, of=machine(2)).link("net0") is None
    assert applied(text).link("net0") is not None


def test_a_bond_with_a_vlan() -> None:
    text = """\
machine:
  type: worker
  network:
    interfaces:
      - interface: bond0
        bond: {mode: 802.3ad, deviceSelectors: [{permanentAddr: 'bc:24:11:*'}]}
        mtu: 9000
        vlans: [{vlanId: 66, dhcp: true}]
"""
    result = applied(text, of=machine(2))
    links = {link.name: link for link in result.links}

    assert links["bond0"].mac == links["eth1"].mac == "bc:24:11:00:00:01"
    assert links["eth1"].permanent_mac == "bc:24:11:00:00:02"
    assert [link.master for link in result.links[1:3]] == ["bond0", "bond0"]
    assert (links["bond0.66"].parent, links["bond0.66"].vlan) == ("bond0", 66)
    assert global_addresses(result, "bond0.66") == ("10.42.66.100/24",)
    assert [operator.link for operator in result.operators] == ["bond0.66"]


def test_links_that_are_ignored_are_left_alone() -> None:
    text = "machine: {type: worker, network: {interfaces: [{interface: eth0, ignore: true}]}}"
    result = applied(text, of=machine(2))

    assert [operator.link for operator in result.operators] == ["eth1"]
    assert global_addresses(result, "eth0") == ()


def test_a_card_that_is_not_there_has_no_addresses() -> None:
    text = "kind: LinkConfig\nname: eth7\naddresses: [{address: 10.42.0.5/24}]\n"
    result = applied(text)

    assert result.node_addresses == ()
    assert result.link("eth7") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("machine: {type: worker, features: {stableHostname: true}}", "talos-hwz-sw5"),
        ("machine: {type: worker}", "talos-10-42-0-100"),
        ("machine: {type: worker}\n---\nkind: HostnameConfig\nauto: off\n", ""),
    ],
)
def test_names_that_machines_give_themselves(text: str, name: str) -> None:
    assert applied(text, of=machine(node_id=NODE_ID)).hostname == name


def test_made_names_are_made_as_talos_makes_them() -> None:
    assert stable_name(NODE_ID) == "talos-hwz-sw5"
    assert address_name("fd42::5") == "talos-fd425"
