"""Rules of high availability: whether they can hold, and where resources may run."""

from __future__ import annotations

import pytest
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.endpoints.ha_rules import problems_of
from stockman_lab.pve.ha.placement import best_host
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import put_guest
from lab.tests.worlds import door


def _nodes(name: str, resources: str, nodes: str = "pve1") -> Section:
    return Section(name, "node-affinity", {"resources": resources, "nodes": nodes})


def _resources(name: str, resources: str, affinity: str) -> Section:
    options = {"resources": resources, "affinity": affinity}
    return Section(name, "resource-affinity", options)


@pytest.mark.parametrize(
    ("rule", "others", "text"),
    [
        (_nodes("a", "vm:1"), [], ""),
        (_nodes("a", "vm:1"), [_nodes("b", "vm:2")], ""),
        (
            _nodes("a", "vm:1,vm:2"),
            [_nodes("b", "vm:2")],
            "resource 'vm:2' is already used in another node affinity rule",
        ),
        (
            _nodes("a", "vm:1", "pve1:1,pve2"),
            [_resources("b", "vm:1,vm:2", "positive")],
            (
                "resources are in a resource affinity rule and cannot be in a node affinity rule"
                " with multiple priorities"
            ),
        ),
        (
            _resources("a", "vm:1", "positive"),
            [],
            "rule is ineffective as there are less than two resources",
        ),
        (
            _resources("a", "vm:1,vm:2,vm:3,vm:4", "negative"),
            [],
            "rule defines more resources than available nodes",
        ),
        (
            _resources("a", "vm:1,vm:2", "negative"),
            [_resources("b", "vm:1,vm:2", "positive")],
            "rule shares two or more resources with a positive resource affinity rule",
        ),
        (
            _resources("a", "vm:1,vm:2", "positive"),
            [_nodes("b", "vm:1", "pve1:1,pve2")],
            "resources are in node affinity rules with multiple priorities",
        ),
    ],
)
def test_contradictions_are_told(rule: Section, others: list[Section], text: str) -> None:
    rules = {one.id: one for one in (rule, *others)}
    assert problems_of(rule, rules, hosts=3) == ({"resources": text} if text else {})


@pytest.fixture
def lab() -> MemoryClient:
    api = door()
    put_guest(api, 100)
    api.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm")
    return api


def test_a_group_is_as_good_as_a_rule(lab: MemoryClient) -> None:
    group = Section("gg", "group", {"nodes": "pve3", "restricted": "1"})
    lab.cluster.state.ha_groups["gg"] = group
    lab.cluster.state.ha_resources["vm:100"].options["group"] = "gg"
    assert best_host(lab.cluster, lab.cluster.state.guests[100]) == "pve3"
