"""Contents are written as Go writes structures."""

from __future__ import annotations

import yaml
from stockman_lab.talos.cosi.shaping import shaped

from stockman.talos.go_yaml import dump

VLAN = {"vlanID": 25, "vlanProtocol": "802.1ad"}


def test_a_link_is_written_in_the_order_of_its_structure() -> None:
    """The text is what `pkg/machinery/resources/network/link_spec_test.go` of v1.13.9 expects."""
    spec = {
        "name": "eth0",
        "logical": True,
        "up": True,
        "mtu": 1437,
        "kind": "eth",
        "type": "ether",
        "parentName": "eth1",
        "masterName": "bond0",
        "vlan": VLAN,
        "layer": "platform",
    }

    assert dump(shaped("network.LinkSpecSpec", "1.13", dict(reversed(spec.items())))) == (
        "name: eth0\nlogical: true\nup: true\nmtu: 1437\nkind: eth\ntype: ether\n"
        "parentName: eth1\nmasterName: bond0\nvlan:\n    vlanID: 25\n    vlanProtocol: 802.1ad\n"
        "layer: platform\n"
    )


def test_what_nobody_told_is_there_unless_it_may_be_left_away() -> None:
    result = shaped("network.AddressSpecSpec", "1.13", {"address": "10.42.0.2/24"})

    assert result == {
        "address": "10.42.0.2/24",
        "linkName": "",
        "family": "",
        "scope": "global",
        "flags": "",
        "layer": "default",
    }


def test_an_empty_structure_is_left_away() -> None:
    assert "vlan" not in shaped("network.LinkStatusSpec", "1.13", {"vlan": {"vlanID": 0}})
    assert "vlan" in shaped("network.LinkStatusSpec", "1.13", {"vlan": VLAN})


def test_single_addresses_that_may_be_left_away_always_are() -> None:
    by_name = {"address": "10.42.0.2/24", "local": "10.42.0.2", "broadcast": "10.42.0.255"}

    assert not {"local", "broadcast"} & set(shaped("network.AddressStatusSpec", "1.13", by_name))


def test_what_came_later_is_not_told_by_older_minors() -> None:
    by_name = {"name": "Talos", "version": "v1.12.1"}

    assert shaped("runtime.VersionSpec", "1.12", by_name) == {"version": "v1.12.1"}
    assert list(shaped("runtime.VersionSpec", "1.13", by_name)) == ["name", "version"]


def test_a_pointer_to_nothing_is_null() -> None:
    assert shaped("secrets.EtcdRootSpec", "1.13", {}) == {"etcdCA": None}


def test_maps_are_in_their_own_order() -> None:
    by_name = {"nodename": "a", "labels": {"b10": "", "b9": "", "a": ""}}

    assert list(yaml.safe_load(dump(shaped("k8s.NodeStatusSpec", "1.13", by_name)))["labels"]) == [
        "a",
        "b9",
        "b10",
    ]


def test_a_pod_stands_for_itself() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1"}

    assert list(shaped("k8s.StaticPodSpec", "1.13", pod)) == ["apiVersion", "kind"]
