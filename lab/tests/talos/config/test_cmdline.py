"""What the kernel's arguments say."""

from __future__ import annotations

import pytest
from stockman_lab.talos.config.cmdline import Cmdline, cmdline
from stockman_lab.talos.config.link_setting import (
    BondSetting,
    DhcpSetting,
    LinkSetting,
    RouteSetting,
)


def test_an_address_with_all_its_parts() -> None:
    found = cmdline(
        "ip=172.20.0.2:172.21.0.1:172.20.0.1:255.255.255.0:shed.example:eth1::10.42.0.1:"
        "10.42.0.2:10.42.0.3 net.ifnames=0 talos.platform=metal"
    )

    assert found == Cmdline(
        hostname="shed.example",
        links=(
            LinkSetting(
                name="eth1",
                addresses=("172.20.0.2/24",),
                routes=(RouteSetting(gateway="172.20.0.1"),),
            ),
        ),
        nameservers=("10.42.0.1", "10.42.0.2"),
        time_servers=("10.42.0.3",),
        platform="metal",
        predictable_names=False,
    )


@pytest.mark.parametrize(
    ("argument", "links"),
    [
        ("ip=dhcp", ()),
        ("ip=eth3:dhcp", (LinkSetting(name="eth3", dhcp4=DhcpSetting()),)),
        ("ip=:::::eth3:dhcp", (LinkSetting(name="eth3", dhcp4=DhcpSetting()),)),
        ("ip=10.42.0.5::10.42.0.1:24", (
            LinkSetting(
                addresses=("10.42.0.5/24",), routes=(RouteSetting(gateway="10.42.0.1"),)
            ),
        )),
        ("ip=[fd42::5]::[fd42::1]:64::eth0", (
            LinkSetting(
                name="eth0",
                addresses=("fd42::5/64",),
                routes=(RouteSetting(gateway="fd42::1"),),
            ),
        )),
        ("ip=nonsense::x", ()),
        ("bond=bond1:eth2,eth3:mode=802.3ad,miimon=100:9000", (
            LinkSetting(
                name="bond1",
                kind="bond",
                mtu=9000,
                bond=BondSetting(
                    mode="802.3ad", members=("eth2", "eth3")),
            ),
        )),
        ("vlan=eth0.66:eth0", (LinkSetting(name="eth0.66", kind="vlan", parent="eth0", vlan=66),)),
        ("vlan=vlan5:eth0", (LinkSetting(name="eth0.5", kind="vlan", parent="eth0", vlan=5),)),
    ],
)  # fmt: skip
def test_links_of_arguments(argument: str, links: tuple[LinkSetting, ...]) -> None:
    assert cmdline(argument).links == links


def test_an_address_on_a_vlan_belongs_to_it() -> None:
    found = cmdline("ip=10.42.0.5:::24::eth0.66 vlan=eth0.66:eth0")

    assert found.links == (
        LinkSetting(
            name="eth0.66", kind="vlan", parent="eth0", vlan=66, addresses=("10.42.0.5/24",)
        ),
    )


def test_names_and_sources_of_configurations() -> None:
    found = cmdline(
        [
            "talos.hostname=shed",
            "talos.config=http://10.42.0.2/c",
            "talos.network.interface.ignore=eth1",
            "talos.network.interface.ignore=eth2",
            "quiet",
        ]
    )

    assert found == Cmdline(
        hostname="shed", config_url="http://10.42.0.2/c", ignored=("eth1", "eth2")
    )
