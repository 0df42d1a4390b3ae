"""Parts of firewall rules."""

from __future__ import annotations

import pytest

from lab.tests.pve.schema.named.judging import problem


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("IPorCIDR", "10.0.0.5/24"),
        ("IPorCIDR", "fd00::1"),
        ("IPorCIDRorAlias", "dc/pasture"),
        ("pve-fw-addr-spec", "10.0.0.0/24,10.0.1.1"),
        ("pve-fw-addr-spec", "10.0.0.1-10.0.0.9"),
        ("pve-fw-addr-spec", "+pasture"),
        ("pve-fw-addr-spec", "guest/pasture"),
        ("pve-fw-dport-spec", "80,443,8000:8100,ssh"),
        ("pve-fw-dport-spec", "echo-request"),
        ("pve-fw-protocol-spec", "tcp"),
        ("pve-fw-protocol-spec", "6"),
        ("pve-fw-icmp-type-spec", "packet-too-big"),
        ("pve-fw-conntrack-helper", "ftp,sip"),
    ],
)
def test_these_are_fit(form: str, text: str) -> None:
    assert problem(form, text) is None


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("IPorCIDR", "pasture", "value does not look like a valid IP address or CIDR network"),
        ("IPorCIDR", "10.0.0.0/33", "Prefix length 33 is longer than IP address (32)"),
        ("IPorCIDRorAlias", "a!", "value does not look like a valid IP address or CIDR network"),
        ("pve-fw-addr-spec", "10.0.0.1,", "extraneous commas in list"),
        (
            "pve-fw-addr-spec",
            "10.0.0.1,fd00::1",
            "detected mixed ipv4/ipv6 addresses in address list '10.0.0.1,fd00::1'",
        ),
        ("pve-fw-addr-spec", "10.0.0.1-10.0.0.2,10.0.0.3", "you can't use a range in a list"),
        ("pve-fw-addr-spec", "a b", "invalid IP address: Cannot determine IP version for a b"),
        (
            "pve-fw-addr-spec",
            "10.0.0.1/24",
            "invalid IP address: Invalid prefix 00001010000000000000000000000001/24",
        ),
        ("pve-fw-addr-spec", "+" + "a" * 65, "ipset name too long"),
        ("pve-fw-dport-spec", "65536", "invalid port '65536'"),
        (
            "pve-fw-dport-spec",
            "90:80",
            "backwards range '90:80' not allowed, did you mean '80:90'?",
        ),
        ("pve-fw-dport-spec", "echo-request,80", "ICMP ports not allowed in port range"),
        ("pve-fw-dport-spec", "1:2," * 8 + "3", "too many entries in port list (> 15 numbers)"),
        ("pve-fw-sport-spec", "echo-request", "invalid port 'echo-request'"),
        ("pve-fw-protocol-spec", "pigeon", "unknown protocol 'pigeon'"),
        ("pve-fw-icmp-type-spec", "pong", "invalid icmp-type value 'pong'"),
        ("pve-fw-conntrack-helper", "ftp,dog", "unknown helper dog"),
    ],
)
def test_these_are_refused(form: str, text: str, said: str) -> None:
    assert problem(form, text) == said
