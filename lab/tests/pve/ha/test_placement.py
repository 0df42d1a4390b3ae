"""Where resources may run."""

from __future__ import annotations

import pytest
from stockman_lab.doors.memory import MemoryDoor
from stockman_lab.pve.cluster_state import Section
from stockman_lab.pve.ha.placement import best_host

from lab.tests.guests import put_guest
from lab.tests.worlds import door


@pytest.fixture
def lab() -> MemoryDoor:
    found = door()
    put_guest(found, 100)
    found.cluster.state.ha_resources["vm:100"] = Section("vm:100", "vm")
    return found


def test_a_group_is_as_good_as_a_rule(lab: MemoryDoor) -> None:
    group = Section("gg", "group", {"nodes": "pve3", "restricted": "1"})
    lab.cluster.state.ha_groups["gg"] = group
    lab.cluster.state.ha_resources["vm:100"].options["group"] = "gg"
    assert best_host(lab.cluster, lab.cluster.state.guests[100]) == "pve3"
