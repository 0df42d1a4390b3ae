"""Links of a machine in the words of each contract."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from tests.talos.machine.clusters import desired, documents, section, worker

DOCUMENTS = ["1.12", "1.13", "1.14"]
BOND = "bond: {mode: 802.3ad, members: [bc:24:11:00:01:31], lacp_rate: fast, up_delay: 200}\n"
CARDS = "vm: {vmid: 1031, host: pve-b, tpm: {}, nics: [{bridge: a}, {bridge: a, mac_addr: "
NODE = worker(BOND).replace(
    "vm: {vmid: 1031, host: pve-b, tpm: {}}", CARDS + "'bc:24:11:00:01:31'}]}"
)


def interfaces(nodes: str, cluster: str = "") -> list[dict[str, object]]:
    config = documents(desired("1.11", cluster, nodes), "work-1")
    links: list[dict[str, object]] = section(config, "v1alpha1", "machine", "network", "interfaces")
    return links


def test_a_bond_of_contract_1_11_finds_its_cards_by_their_permanent_addresses() -> None:
    own = interfaces(NODE)[0]

    assert own["interface"] == "bond0"
    assert "deviceSelector" not in own
    assert own["addresses"] == ["127.66.0.31/24"]
    assert own["bond"] == {
        "mode": "802.3ad",
        "deviceSelectors": [
            {"permanentAddr": "bc:24:11:00:00:31"},
            {"permanentAddr": "bc:24:11:00:01:31"},
        ],
        "miimon": 100,
        "updelay": 200,
        "lacpRate": "fast",
    }


@pytest.mark.parametrize("line", DOCUMENTS)
def test_a_bond_of_later_contracts_is_a_document_over_aliases(line: str) -> None:
    config = documents(desired(line, nodes=NODE), "work-1")

    bond = config["BondConfig bond0"]
    assert (bond["links"], bond["bondMode"], bond["mtu"]) == (["net0", "net1"], "802.3ad", 9000)
    assert bond["addresses"] == [{"address": "127.66.0.31/24"}]
    assert "bc:24:11:00:01:31" in section(config, "LinkAliasConfig net1", "selector", "match")
    assert "LinkConfig net0" not in config


@pytest.mark.parametrize("line", DOCUMENTS)
def test_a_bond_without_members_has_the_nodes_card_alone(line: str) -> None:
    config = documents(desired(line, nodes=worker("bond: {miimon: 0}")), "work-1")

    bond = config["BondConfig bond0"]
    assert (bond["links"], bond["bondMode"]) == (["net0"], "active-backup")
    assert "miimon" not in bond


@pytest.mark.parametrize("line", DOCUMENTS)
def test_a_vlan_with_the_address_sits_on_the_bond(line: str) -> None:
    config = documents(
        desired(line, "node_vlan_tag: 66\n", worker("bond: {name: bond1}")), "work-1"
    )

    vlan = config["VLANConfig bond1.66"]
    assert vlan["parent"] == "bond1"
    assert vlan["addresses"] == [{"address": "127.66.0.31/24"}]
    assert "addresses" not in config["BondConfig bond1"]


ROUTES = "routes: [{network: 127.99.0.0/16, gateway: 127.66.0.2, metric: 9}]\n"


def test_routes_come_after_the_default_route() -> None:
    old = interfaces(worker(ROUTES))[0]["routes"]
    new = documents(desired("1.13", nodes=worker(ROUTES)), "work-1")["LinkConfig net0"]["routes"]

    route = {"gateway": "127.66.0.2", "metric": 9}
    default = {"gateway": "127.66.0.1"}
    assert old == [{"network": "0.0.0.0/0", **default}, {"network": "127.99.0.0/16", **route}]
    assert new == [default, {"destination": "127.99.0.0/16", **route}]


def test_routes_stay_where_dhcp_gives_the_default_route() -> None:
    state = desired("1.13", "network: {addressing: dhcp}\n", worker(ROUTES))

    (route,) = section(documents(state, "work-1"), "LinkConfig net0", "routes")

    assert route["destination"] == "127.99.0.0/16"


VLANS = "vlans: [{id: 70}, {id: 71, addresses: [127.71.0.31/24], mtu: 1400}]\n"


def test_further_vlans_sit_on_the_nodes_link() -> None:
    old = interfaces(worker(VLANS))[0]["vlans"]
    new = documents(desired("1.14", nodes=worker(VLANS)), "work-1")

    assert old == [
        {"vlanId": 70, "dhcp": False},
        {"vlanId": 71, "dhcp": False, "mtu": 1400, "addresses": ["127.71.0.31/24"]},
    ]
    assert new["VLANConfig net0.70"]["vlanID"] == 70
    assert new["VLANConfig net0.71"]["addresses"] == [{"address": "127.71.0.31/24"}]


LINKS = """\
links:
  - name: storage
    mac_addr: bc:24:11:00:02:31
    addresses: [127.80.0.31/24]
    routes: [{network: 127.81.0.0/16}]
    vlans: [{id: 5, dhcp: true}]
"""


def test_a_link_with_a_mac_address_is_found_by_it() -> None:
    nodes = worker(LINKS).replace("    links: [{name: eth1, mtu: 1400}]\n", "")

    old = interfaces(nodes)[1]
    new = documents(desired("1.12", nodes=nodes), "work-1")

    assert old["deviceSelector"] == {"hardwareAddr": "bc:24:11:00:02:31"}
    assert old["routes"] == [{"network": "127.81.0.0/16"}]
    assert "bc:24:11:00:02:31" in section(new, "LinkAliasConfig storage", "selector", "match")
    assert new["LinkConfig storage"]["addresses"] == [{"address": "127.80.0.31/24"}]
    assert new["VLANConfig storage.5"]["parent"] == "storage"
    assert "DHCPv4Config storage.5" in new


@pytest.mark.parametrize("line", DOCUMENTS)
def test_an_api_with_the_address_of_a_machine_has_no_virtual_one(line: str) -> None:
    state = desired(line)
    assert state.cluster is not None
    own = replace(state.cluster.kubernetes, api_addr=IPv4Address("127.66.0.21"))

    config = documents(replace(state, cluster=replace(state.cluster, kubernetes=own)), "cp-1")

    assert "Layer2VIPConfig 127.66.0.10" in documents(state, "cp-1")
    assert [name for name in config if name.startswith("Layer2VIPConfig")] == []
