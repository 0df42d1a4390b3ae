"""Addresses in firewalls."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.firewall.addresses import alias_in, clean, resolve, version_of, without_whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.77/8", "10.0.0.0/8"),
        ("10.0.0.1/32", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8::1", "2001:DB8::1"),
        ("2001:db8::1/64", "2001:db8::/64"),
        ("2001:db8::1/128", "2001:db8::1"),
    ],
)
def test_networks_have_no_host_in_them(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "version"),
    [("10.0.0.1", 4), ("10.0.0.1-10.0.0.9", 4), ("fd00::/64,fd01::1", 6), ("sheep", 0)],
)
def test_addresses_are_of_one_kind(text: str, version: int) -> None:
    assert version_of(text) == version


def test_a_length_that_means_one_host_is_left_out() -> None:
    assert [without_whole(one) for one in ("10.0.0.1/32", "::1/128", "10.0.0.0/8")] == [
        "10.0.0.1",
        "::1",
        "10.0.0.0/8",
    ]


def test_an_alias_of_ones_own_comes_first() -> None:
    cluster = Firewall(aliases={"ram": {"cidr": "10.0.0.1"}})
    own = Firewall(aliases={"ram": {"cidr": "10.0.0.2"}})
    assert alias_in("Ram") == ("", "ram")
    assert resolve(("", "ram"), cluster, own) == {"cidr": "10.0.0.2"}
    assert resolve(("dc/", "ram"), cluster, own) == {"cidr": "10.0.0.1"}
    assert resolve(("guest/", "ewe"), cluster, own) == {}
