"""Which bridge, network and addresses machines get."""

from ipaddress import IPv4Address, IPv4Network

import pytest

from stockman.model.errors import Refused
from stockman.planning.starter.network import (
    AddressNeeds,
    ChosenNetwork,
    NetworkOptions,
    choose_network,
)
from stockman.planning.starter.observed import StarterHost
from tests.planning.starter.hosts import bridge, host


def chosen(
    *hosts: StarterHost, count: int = 3, wish: NetworkOptions | None = None
) -> ChosenNetwork:
    return choose_network(hosts, wish or NetworkOptions(), AddressNeeds(count=count))


def refusal(*hosts: StarterHost, count: int = 3, wish: NetworkOptions | None = None) -> str:
    with pytest.raises(Refused) as caught:
        chosen(*hosts, count=count, wish=wish)
    return f"{caught.value.problem.code}: {caught.value.problem.what}"


def test_network_and_router_are_those_of_the_hosts() -> None:
    network = chosen(host("pve1"), host("pve2"))

    assert network.network == IPv4Network("127.66.0.0/24")
    assert network.gateway == IPv4Address("127.66.0.254")


def test_no_address_is_given_twice_or_is_that_of_a_host_or_router() -> None:
    hosts = [host(f"pve{n}", bridges=(bridge(address=f"127.66.0.1{n}/24"),)) for n in range(1, 4)]

    network = chosen(*hosts, count=20)

    addresses = [network.api, *network.nodes, network.services, network.names]
    taken = {IPv4Address(f"127.66.0.1{n}") for n in range(1, 4)} | {network.gateway}
    assert len(set(addresses)) == 23
    assert not taken & set(addresses)


def test_addresses_of_guests_are_passed_over_with_all_between_them() -> None:
    taken = frozenset({IPv4Address("127.66.0.11"), IPv4Address("127.66.0.13")})

    network = choose_network([host("pve1")], NetworkOptions(), AddressNeeds(count=3, taken=taken))

    assert network.api == IPv4Address("127.66.0.20")


def test_single_addresses_are_used_where_there_is_no_row() -> None:
    taken = frozenset(IPv4Address(f"127.66.0.{number}") for number in range(3, 255, 4))

    network = choose_network([host("pve1")], NetworkOptions(), AddressNeeds(count=3, taken=taken))

    assert network.api == IPv4Address("127.66.0.2")
    assert not taken & set(network.nodes)


def test_a_bridge_that_one_host_lacks_is_not_chosen() -> None:
    first = host(
        "pve1", bridges=(bridge("vmbr0", "127.66.0.1/24"), bridge("vmbr1", "127.67.0.1/24"))
    )
    second = host("pve2", bridges=(bridge("vmbr1", "127.67.0.2/24"),))

    assert chosen(first, second).bridge == "vmbr1"


def test_a_bridge_that_leads_out_is_better() -> None:
    both = (bridge("vmbr0", "127.66.0.1/24"), bridge("vmbr1", "127.67.0.1/24", "127.67.0.254"))

    assert chosen(host("pve1", bridges=both)).bridge == "vmbr1"


def test_a_bridge_in_the_network_that_is_wanted_is_best() -> None:
    both = (bridge("vmbr0", "127.66.0.1/24"), bridge("vmbr1", "127.67.0.1/24", "127.67.0.254"))
    network_options = NetworkOptions(network=IPv4Network("127.66.0.0/24"))

    assert chosen(host("pve1", bridges=both), wish=network_options).bridge == "vmbr0"


def test_an_unknown_gateway_is_a_placeholder_with_the_first_address() -> None:
    network = chosen(host("pve1", bridges=(bridge(address="127.66.0.9/24"),)))

    assert network.gateway == IPv4Address("127.66.0.1")
    assert network.gateway_why.startswith("placeholder")


def test_a_small_network_is_used_from_its_beginning() -> None:
    network = chosen(host("pve1", bridges=(bridge(address="127.66.0.1/28"),)), count=5)

    assert network.api == IPv4Address("127.66.0.2")


def test_a_bridge_that_is_down_is_none() -> None:
    message = refusal(host("pve1", bridges=(bridge(active=False),)))

    assert message == "init.no-bridge: no bridge is up on all of pve1"


def test_a_bridge_without_an_address_needs_a_network() -> None:
    assert refusal(host("pve1", bridges=(bridge(),))).startswith(
        "init.no-network: the network of vmbr0 is unknown"
    )


def test_a_network_without_room_is_refused() -> None:
    message = refusal(host("pve1", bridges=(bridge(address="127.66.0.1/29"),)), count=15)

    assert message == "init.no-network: 127.66.0.0/29 is too small for the machines"


def test_a_router_of_another_network_is_refused() -> None:
    network_options = NetworkOptions(gateway=IPv4Address("127.99.0.1"))

    assert refusal(host("pve1"), wish=network_options).startswith(
        "init.no-network: the gateway 127.99.0.1"
    )
