"""Addresses, networks and interfaces."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem

SAYS = "value does not look like a valid "


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("ipv4", "10.0.0.255"),
        ("ipv6", "fe80::1"),
        ("ipv6", "::ffff:10.0.0.1"),
        ("ip-list", "10.0.0.1,::1"),
        ("CIDRv4", "10.0.0.5/24"),
        ("CIDRv6", "fd00::/64"),
        ("CIDR", "10.0.0.0/8"),
        ("ipv4mask", "255.255.254.0"),
        ("pve-ipv4-config", "dhcp"),
        ("pve-ipv6-config", "auto"),
        ("dns-name", "node-1.meadow"),
        ("address", "10.0.0.1"),
        ("address-list", "ns1.meadow 10.0.0.1"),
        ("pve-storage-portal-dns", "[fd00::1]:3260"),
        ("pve-storage-portal-dns", "nas:3260"),
        ("lxc-ip-with-ll-iface", "fe80::1%eth0"),
        ("mac-addr", "bc:24:11:AA:bb:cc"),
        ("mac-prefix", "BC:24:11"),
        ("pve-iface", "eno1.62"),
        ("pve-vlan-id-or-range-list", "2-4094 5"),
        ("email-opt", ""),
        ("email-opt", "a.b@meadow"),
        ("email-or-username", "root"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("ipv4", "10.0.0.256", f"{SAYS}IPv4 address"),
        ("ipv4", "10.0.0.01", f"{SAYS}IPv4 address"),
        ("ipv6", "fe80::1%eth0", f"{SAYS}IPv6 address"),
        ("ipv6", "1::2::3", f"{SAYS}IPv6 address"),
        ("ip", "meadow", f"{SAYS}IP address"),
        ("CIDRv4", "10.0.0.5", f"{SAYS}IPv4 CIDR network"),
        ("CIDRv4", "10.0.0.5/7", f"{SAYS}IPv4 CIDR network"),
        ("CIDRv6", "fd00::/129", f"{SAYS}IPv6 CIDR network"),
        ("CIDR", "meadow", f"{SAYS}CIDR network"),
        ("ipv4mask", "255.0.255.0", f"{SAYS}IP netmask"),
        ("pve-ipv4-config", "auto", f"{SAYS}ipv4 network configuration"),
        ("pve-ipv6-config", "static", f"{SAYS}ipv6 network configuration"),
        ("dns-name", "node_1", f"{SAYS}DNS name"),
        ("address", "a b", f"{SAYS}address: a b"),
        ("address", "0", f"{SAYS}address: 0"),
        ("pve-storage-server", "a_b", f"{SAYS}server name or IP address"),
        ("pve-storage-portal-dns", "nas:", f"{SAYS}portal address"),
        ("pve-storage-portal-dns", "[nas", f"{SAYS}portal address"),
        ("lxc-ip-with-ll-iface", "10.0.0.1%eth0", f"{SAYS}IP address"),
        ("mac-addr", "01:00:00:00:00:00", f"{SAYS}unicast MAC address"),
        ("mac-prefix", "BD", "value is not a valid unicast MAC address prefix"),
        ("pve-iface", "1eth", "invalid network interface name '1eth'"),
        ("pve-vlan-id-or-range", "x", "invalid VLAN configuration 'x'"),
        ("pve-vlan-id-or-range", "0", "invalid VLAN tag '0'"),
        ("pve-vlan-id-or-range", "5-4095", "invalid VLAN tag '4095'"),
        ("pve-vlan-id-or-range", "9-5", "VLAN range must go from lower to higher tag '9-5'"),
        ("email", "meadow", f"{SAYS}email address"),
        ("email-or-username", "a b", f"{SAYS}email address or user name"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said
