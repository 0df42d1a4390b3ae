"""Where resources may run."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.ha.placement import best_host, is_movable, node_priorities, priorities

from lab.tests.guests import put_disk, put_guest
from lab.tests.worlds import door


@pytest.fixture
def lab() -> MemoryDoor:
    found = door()
    put_guest(found, 100)
    found.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm")
    return found


def _rule(lab: MemoryDoor, **options: str) -> None:
    rule = Section("rr", "node-affinity", {"resources": "vm:100", **options})
    lab.cluster.state.ha_rules["rr"] = rule


def test_priorities_are_read_from_a_list() -> None:
    assert node_priorities("pve1:2,pve2") == {"pve1": 2, "pve2": 0}


def test_without_rules_all_hosts_are_alike(lab: MemoryDoor) -> None:
    assert priorities(lab.cluster, "vm:100") == {"pve1": 0, "pve2": 0, "pve3": 0}


def test_other_hosts_are_the_last_choice(lab: MemoryDoor) -> None:
    _rule(lab, nodes="pve2:1")
    assert priorities(lab.cluster, "vm:100") == {"pve1": -1, "pve2": 1, "pve3": -1}


def test_other_hosts_are_no_choice_where_a_rule_is_strict(lab: MemoryDoor) -> None:
    _rule(lab, nodes="pve2:1", strict="1")
    assert priorities(lab.cluster, "vm:100") == {"pve2": 1}
    lab.cluster.state.hosts["pve2"].has_power = False
    assert best_host(lab.cluster, lab.cluster.state.guests[100]) == ""


def test_a_disabled_rule_says_nothing(lab: MemoryDoor) -> None:
    _rule(lab, nodes="pve2", disable="1")
    assert priorities(lab.cluster, "vm:100") == {"pve1": 0, "pve2": 0, "pve3": 0}


def test_a_group_is_as_good_as_a_rule(lab: MemoryDoor) -> None:
    group = Section("gg", "group", {"nodes": "pve3", "restricted": "1"})
    lab.cluster.state.ha_groups["gg"] = group
    lab.cluster.state.ha_resources["vm:100"].options["group"] = "gg"
    assert best_host(lab.cluster, lab.cluster.state.guests[100]) == "pve3"


def test_the_host_with_the_least_to_do_is_preferred(lab: MemoryDoor) -> None:
    put_guest(lab, 101, node="pve2")
    lab.cluster.state.ha_resources["vm:101"] = Section("vm:101", "vm")
    guest = lab.cluster.state.guests[100]
    assert best_host(lab.cluster, guest, avoid="pve1") == "pve3"


def test_only_shared_volumes_go_along(lab: MemoryDoor) -> None:
    guest = lab.cluster.state.guests[100]
    assert is_movable(lab.cluster, guest)
    put_disk(lab, guest, "ceph")
    assert is_movable(lab.cluster, guest)
    put_disk(lab, guest, "thin")
    assert not is_movable(lab.cluster, guest)
