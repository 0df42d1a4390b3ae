"""Two configurations differ when they mean different things, not when they look different."""

from __future__ import annotations

from stockman.config.origin_tree import (
    ConfigDifference,
    TracedValue,
    differences,
    find_subtree,
    origin_tree,
    strip_origins,
    with_origins,
)
from tests.config.written import CLUSTER, NODES, desired


def test_order_comments_and_written_defaults_make_no_difference() -> None:
    other = "# moved\nnode_dns_servers: ['1.1.1.1', '1.0.0.1']\n" + CLUSTER

    assert differences(desired(), desired(other)) == ()


def test_changes_are_named_by_node_not_by_position() -> None:
    nodes = NODES.replace("host: pve-a", "host: pve-a, cores: 8")

    assert differences(desired(), desired(nodes=nodes)) == (
        ConfigDifference(path="nodes[cp-1].vm.cores", kind="changed", before=4, after=8),
    )


def test_a_new_node_is_added_whatever_its_place() -> None:
    second = NODES.removeprefix("nodes:\n").replace("cp-1", "work-1").replace("true", "false")
    second = second.replace("0.21", "0.31").replace("1021", "1031").replace("00:21", "00:31")
    more = "nodes:\n" + second + NODES.removeprefix("nodes:\n")

    changes = differences(desired(), desired(nodes=more))

    assert {change.path.split(".")[0] for change in changes if change.kind == "added"} == {
        "nodes[work-1]"
    }
    assert not [change for change in changes if change.kind == "removed"]


def test_a_changed_secret_reference_is_no_visible_difference() -> None:
    cluster = CLUSTER.replace("${PROXMOX_TOKEN}", "${OTHER}")

    assert differences(desired(), desired(cluster)) == ()


def test_a_part_can_be_named() -> None:
    tree = origin_tree(desired())

    subtree = find_subtree(tree, "nodes.cp-1.vm.vmid")

    assert subtree == TracedValue(1021, "nodes.yaml:6:16")
    assert find_subtree(tree, "nodes[cp-1].vm.vmid") == subtree
    assert find_subtree(tree, "nodes.cp-9") is None


def test_origins_stand_beside_values() -> None:
    subtree = find_subtree(origin_tree(desired()), "cluster.gateways")
    assert subtree is not None

    assert strip_origins(subtree) == {
        "internal": "127.66.0.12",
        "dns": "127.66.0.11",
        "external": None,
    }
    assert with_origins(subtree) == {
        "internal": {"value": "127.66.0.12", "origin": "cluster.yaml:5:23"},
        "dns": {"value": "127.66.0.11", "origin": "cluster.yaml:4:27"},
        "external": {"value": None, "origin": "default"},
    }
