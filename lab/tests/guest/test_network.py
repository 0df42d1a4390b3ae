"""Addresses that guests get."""

from __future__ import annotations

from stockman_lab.guest.network import NicView, Pool, Pools, link_local, self_made


def nic(mac: str = "BC:24:11:00:00:01", vlan: int | None = None) -> NicView:
    return NicView(number=0, mac=mac, bridge="vmbr0", vlan=vlan)


def test_a_card_gets_the_same_lease_each_time() -> None:
    pools = Pools([Pool(bridge="vmbr0", first="127.66.1.250/24", count=9)])

    first, lease = pools.lease(nic(), 4), pools.lease(nic("BC:24:11:00:00:02"), 4)

    assert (first, lease) == ("127.66.1.250/24", "127.66.1.251/24")
    assert pools.lease(nic("bc:24:11:00:00:01"), 4) == first


def test_a_pool_runs_out_and_forgets() -> None:
    pool = Pool(bridge="vmbr0", first="127.66.1.1/24", count=1)
    pool.lease("a")

    assert pool.lease("b") is None
    pool.forget("A")

    assert pool.lease("b") == "127.66.1.1/24"


def test_each_network_has_its_own_pool() -> None:
    pools = Pools(
        [
            Pool(bridge="vmbr0", first="127.66.1.1/24", count=9),
            Pool(bridge="vmbr0", vlan=5, first="127.5.0.1/24", count=9),
            Pool(bridge="vmbr0", first="fd66::1/64", count=9),
        ]
    )

    assert pools.lease(nic(vlan=5), 4) == "127.5.0.1/24"
    assert pools.lease(nic(), 6) == "fd66::1/64"
    assert pools.lease(nic(vlan=7), 4) is None
    assert pools.lease(nic(vlan=5), 6) is None


def test_only_a_router_announces_a_network() -> None:
    quiet, loud = Pools(), Pools()
    quiet.pools = [Pool(bridge="vmbr0", first="fd66::1/64", count=9)]
    loud.pools = [Pool(bridge="vmbr0", first="fd66::1/64", count=9, announced=True)]

    assert quiet.prefix(nic()) is None
    assert loud.prefix(nic()) == "fd66::/64"


def test_cards_make_addresses_of_their_own() -> None:
    assert link_local("BC:24:11:AA:BB:CC") == "fe80::be24:11ff:feaa:bbcc/64"
    assert self_made("fd66::/64", "00:00:00:00:00:01") == "fd66::200:ff:fe00:1/64"


def test_the_router_of_a_bridge_serves_its_vlans_too() -> None:
    pool = Pool(bridge="vmbr0", first="fd66::1:0/64", count=5, announced=True)
    network = Pools([pool])
    tagged = NicView(number=0, mac="BC:24:11:AA:BB:00", bridge="vmbr0", vlan=62)
    nic_view = NicView(number=0, mac="BC:24:11:AA:BB:00", bridge="vmbr1", vlan=62)
    assert network.prefix(tagged) == "fd66:0:0:3e::/64"
    assert network.prefix(nic_view) is None


def test_a_card_is_at_home_where_its_address_belongs() -> None:
    pools = Pools([Pool("vmbr0", "127.66.1.100/24", 10, trunks=[3])])

    def at_home(address: str, bridge: str, vlan: int | None) -> bool:
        nic = NicView(number=0, mac="bc:24:11:00:00:01", bridge=bridge, vlan=vlan)
        return pools.is_home(address, nic)

    assert at_home("127.66.1.7", "vmbr0", None)
    assert at_home("127.66.1.7", "vmbr0", 3)
    assert not at_home("127.66.1.7", "vmbr0", 4)
    assert not at_home("127.66.1.7", "vmbr1", None)
    assert at_home("10.42.0.1", "vmbr1", 4)  # nobody knows where that is
    pools.pools[0].trunks = None
    assert at_home("127.66.1.7", "vmbr0", 4)
