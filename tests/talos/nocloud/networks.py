"""Networks and nodes for the files of a first boot."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stockman.model.desired import Cluster, Node
from stockman.model.machine import Bond, Route
from stockman.talos.nocloud.network import Interface, NodeNetwork
from tests.talos.machine.clusters import NODES, desired, node_named

ADDRESS = IPv4Interface("127.66.0.21/24")
GATEWAY = IPv4Address("127.66.0.1")
RESOLVERS = (IPv4Address("127.66.0.2"), IPv4Address("127.66.0.3"))
HOP = Route(network=IPv4Network("127.99.0.0/16"), gateway=IPv4Address("127.66.0.9"), metric=50)
CARDS = {f"eth{number}": f"bc:24:11:00:00:4{number}" for number in range(3)}
"""Names of cards with their MAC addresses."""


def card(number: int = 0, **more: object) -> Interface:
    name = f"eth{number}"
    return Interface(**{"name": name, "mac": CARDS[name], **more})  # type: ignore[arg-type]


NETWORKS = {
    "static": NodeNetwork(
        interfaces=(card(mtu=9000, addresses=(ADDRESS,), gateway=GATEWAY), card(1)),
        resolvers=RESOLVERS,
    ),
    "dhcp": NodeNetwork(interfaces=(card(dhcp=True),)),
    "vlan": NodeNetwork(
        interfaces=(
            card(mtu=1500),
            Interface(
                name="eth0.66", vlan=66, parent="eth0", addresses=(ADDRESS,), gateway=GATEWAY
            ),
        ),
        resolvers=RESOLVERS,
    ),
    "bond": NodeNetwork(
        interfaces=(
            card(0),
            card(1),
            Interface(
                name="bond0",
                bond=Bond(mode="802.3ad", miimon=100, lacp_rate="fast", hash_policy="layer3+4"),
                members=("eth0", "eth1"),
                addresses=(ADDRESS,),
                gateway=GATEWAY,
            ),
        ),
        resolvers=RESOLVERS,
    ),
    "routes": NodeNetwork(
        interfaces=(card(addresses=(ADDRESS,), gateway=GATEWAY, hops=(HOP,)),),
        resolvers=RESOLVERS,
    ),
}
"""One network for every kind of link."""


def node(cluster: str = "", name: str = "cp-1", nodes: str = NODES) -> tuple[Cluster, Node]:
    state = desired("1.13", cluster, nodes)
    assert state.cluster is not None
    return state.cluster, node_named(state, name)
