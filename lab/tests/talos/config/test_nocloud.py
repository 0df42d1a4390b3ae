"""What a machine takes from the platform that it runs on."""

from __future__ import annotations

import pytest
from stockman_lab.guest.network import Pools
from stockman_lab.guest.view import GuestView, SmbiosView
from stockman_lab.talos.config.link_setting import (
    BondSetting,
    DhcpSetting,
    LinkSelector,
    LinkSetting,
    RouteSetting,
)
from stockman_lab.talos.config.nocloud import PlatformData, platform_data

FIRST = b"""\
version: 1
config:
  - type: physical
    name: eth0
    mac_address: 'BC:24:11:AA:BB:00'
    mtu: 1400
    subnets:
      - {type: static, address: 10.42.0.21, netmask: 255.255.255.0, gateway: 10.42.0.1}
      - {type: static6, address: 'fd42::21/64', gateway: 'fd42::1'}
  - {type: physical, name: eth1, subnets: [{type: dhcp4}, {type: ipv6_dhcpv6-stateful}]}
  - type: bond
    name: bond0
    bond_interfaces: [eth2, eth3]
    params: {bond-mode: 802.3ad, bond-miimon: 100}
  - {type: vlan, name: bond0.66, vlan_id: 66, vlan_link: bond0}
  - {type: nameserver, address: [10.42.0.2], search: [ignored.example]}
"""
SECOND = b"""\
network:
  version: 2
  ethernets:
    net0:
      match: {macaddress: 'BC:24:11:AA:BB:00'}
      addresses: [10.42.0.21/24]
      gateway4: 10.42.0.1
      nameservers: {addresses: [10.42.0.2]}
      routes: [{to: 10.43.0.0/16, via: 10.42.0.3, metric: 7}, {to: default, via: 'fd42::1'}]
    eth1: {dhcp4: true, dhcp6: true}
  bonds:
    bond0: {interfaces: [eth1], parameters: {mode: active-backup}}
  vlans:
    bond0.5: {id: 5, link: bond0}
"""
NO_MASK = b"""\
version: 1
config: [{type: physical, name: eth0, subnets: [{type: static, address: 10.42.0.5}]}]
"""


def view(files: dict[str, bytes] | None, serial: str = "") -> GuestView:
    return GuestView(
        vmid=101,
        cores=2,
        memory=2 << 30,
        network=Pools(),
        smbios=SmbiosView(serial=serial, uuid="a-uuid"),
        cloud_init=files,
    )


def nocloud(files: dict[str, bytes] | None, serial: str = "") -> PlatformData:
    return platform_data(view(files, serial), "net.ifnames=0", "nocloud")


def test_the_first_version_of_network_configuration() -> None:
    platform_data = nocloud({"network-config": FIRST})

    assert platform_data.nameservers == ("10.42.0.2",)
    assert platform_data.links == (
        LinkSetting(
            name="eth0",
            selector=LinkSelector(permanent_mac="bc:24:11:aa:bb:00"),
            mtu=1400,
            addresses=("10.42.0.21/24", "fd42::21/64"),
            routes=(
                RouteSetting(gateway="10.42.0.1", metric=1024),
                RouteSetting(gateway="fd42::1", metric=2048),
            ),
        ),
        LinkSetting(name="eth1", dhcp4=DhcpSetting(), dhcp6=DhcpSetting(metric=2048)),
        LinkSetting(
            name="bond0",
            kind="bond",
            bond=BondSetting(mode="802.3ad", members=("eth2", "eth3")),
        ),
        LinkSetting(name="bond0.66", kind="vlan", parent="bond0", vlan=66),
    )


@pytest.mark.parametrize(
    "network",
    [
        b"version: 3\n",
        b"{",
        b"- a\n",
        NO_MASK,
        b"version: 1\nconfig: [{type: bond, name: bond0}]\n",
        b"version: 1\nconfig: [{type: nameserver, address: [here]}]\n",
    ],
)
def test_a_network_that_cannot_be_used_takes_names_with_it(network: bytes) -> None:
    platform_data = nocloud({"network-config": network, "meta-data": b"hostname: shed\n"})

    assert (platform_data.links, platform_data.hostname, platform_data.metadata) == ((), "", {})


def test_what_metadata_say() -> None:
    meta = (
        b"local-hostname: shed.example\ninstance-id: i-1\nprovider-id: proxmox://r/101\nzone: a\n"
    )
    platform_data = nocloud({"network-config": FIRST, "meta-data": meta})

    assert platform_data.hostname == "shed.example"
    assert platform_data.metadata == {
        "platform": "nocloud",
        "hostname": "shed.example",
        "internalDNS": "shed.example",
        "instanceId": "i-1",
        "providerId": "proxmox://r/101",
        "zone": "a",
    }


def test_names_of_proxmox_stand_in_user_data() -> None:
    user = b"#cloud-config\nhostname: shed\nmanage_etc_hosts: true\n"
    platform_data = nocloud(
        {"network-config": FIRST, "meta-data": b"instance-id: abc\n", "user-data": user}
    )

    assert platform_data.hostname == "shed"
    assert platform_data.machine_config is None


def test_the_serial_number_wins_over_metadata() -> None:
    meta = b"hostname: shed\ninstance-id: i-1\n"
    platform_data = nocloud({"network-config": FIRST, "meta-data": meta}, "ds=nocloud;h=barn;i=i-2")

    assert (platform_data.hostname, platform_data.metadata["instanceId"]) == ("barn", "i-2")


def test_a_web_server_in_the_serial_number_replaces_the_drive() -> None:
    files = {"network-config": FIRST, "user-data": b"machine: {}\n"}
    platform_data = nocloud(files, "ds=nocloud-net;s=http://10.42.0.2/x;h=barn")

    assert platform_data.config_url == "http://10.42.0.2/x/user-data"
    assert (platform_data.links, platform_data.machine_config) == ((), None)


@pytest.mark.parametrize(
    ("user", "config", "url"),
    [
        (b"machine: {}\n", b"machine: {}\n", ""),
        (b" #cloud-config \nmachine: {}\n", None, ""),
        (b"#include\nhttp://10.42.0.2/c\n", None, "http://10.42.0.2/c"),
        (b"#include\nhttp://10.42.0.2/c\nhttp://10.42.0.2/d\n", None, ""),
        (b"", None, ""),
    ],
)
def test_user_data_may_be_a_configuration(user: bytes, config: bytes | None, url: str) -> None:
    platform_data = nocloud({"user-data": user})

    assert (platform_data.machine_config, platform_data.config_url) == (config, url)
    assert platform_data.mode == "cloud"


def test_without_a_drive_there_is_nothing() -> None:
    assert nocloud(None).machine_config is None
    assert nocloud(None).links == ()


def test_a_metal_machine_reads_its_arguments() -> None:
    result = platform_data(
        view(None), ["talos.config=http://10.42.0.2/c", "talos.hostname=h"], "metal"
    )

    assert result.mode == "metal"
    assert result.config_url == "http://10.42.0.2/c"
    assert result.metadata == {"platform": "metal", "instanceId": "a-uuid", "hostname": "h"}
