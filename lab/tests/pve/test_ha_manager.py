"""What the manager of high availability does about guests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stockman_lab.pve.host_power import give_power, lose_power
from stockman_lab.servers.memory import MemoryClient

from lab.tests.guests import plain_power, put_disk, put_guest
from lab.tests.worlds import door

RESOURCES, RULES = "/cluster/ha/resources", "/cluster/ha/rules"


@pytest.fixture
def lab() -> Iterator[MemoryClient]:
    """The API, with a guest 100 on pve1 that has its disk on shared storage."""
    api = door()
    put_disk(api, put_guest(api, 100), "ceph")
    with plain_power():
        yield api


def test_a_resource_that_shall_run_is_started(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert guest.is_running
    task = next(iter(lab.cluster.state.tasks.values()))
    assert (task.type, task.user, task.id) == ("qmstart", "root@pam", "100")


@pytest.mark.parametrize("state", ["stopped", "disabled"])
def test_a_resource_that_shall_not_run_is_stopped(lab: MemoryClient, state: str) -> None:
    lab.cluster.state.guests[100].status = "running"
    lab.post(RESOURCES, sid="vm:100", state=state)
    lab.world.settle()
    assert not lab.cluster.state.guests[100].is_running


def test_an_ignored_resource_is_left_alone(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100", state="ignored")
    lab.world.settle()
    assert not lab.cluster.state.guests[100].is_running


def test_a_lost_host_is_fenced_and_its_guests_come_back_elsewhere(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    lose_power(lab.cluster, lab.cluster.state.hosts["pve1"])
    lab.world.advance(60)
    guest = lab.cluster.state.guests[100]
    assert (guest.node, guest.is_running) == ("pve1", False)
    lab.world.settle()
    assert (guest.node, guest.is_running) == ("pve2", True)


def test_guests_with_local_disks_wait_for_their_host(lab: MemoryClient) -> None:
    put_disk(lab, put_guest(lab, 101), "local-zfs")
    lab.post(RESOURCES, sid="vm:101")
    lab.world.settle()
    host = lab.cluster.state.hosts["pve1"]
    lose_power(lab.cluster, host)
    lab.world.settle()
    guest = lab.cluster.state.guests[101]
    assert (guest.node, guest.is_running) == ("pve1", False)
    give_power(lab.cluster, host)
    lab.world.settle()
    assert guest.is_running


def test_a_host_that_is_back_in_time_keeps_its_guests(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    host = lab.cluster.state.hosts["pve1"]
    lose_power(lab.cluster, host)
    lab.world.advance(30)
    give_power(lab.cluster, host)
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert (guest.node, guest.is_running) == ("pve1", True)


def test_guests_go_where_rules_want_them(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    lab.post(RULES, rule="rr", type="node-affinity", nodes="pve3", resources="vm:100", strict=1)
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert guest.node == "pve3"
    lose_power(lab.cluster, lab.cluster.state.hosts["pve3"])
    lab.world.settle()
    assert (guest.node, guest.is_running) == ("pve3", False)


def test_a_guest_goes_back_when_its_best_host_does(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.post(RULES, rule="rr", type="node-affinity", nodes="pve1:2,pve2:1", resources="vm:100")
    lab.world.settle()
    host = lab.cluster.state.hosts["pve1"]
    lose_power(lab.cluster, host)
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert guest.node == "pve2"
    give_power(lab.cluster, host)
    lab.world.settle()
    assert guest.node == "pve1"


def test_a_guest_is_migrated_by_request(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    lab.post(f"{RESOURCES}/vm:100/migrate", node="pve2")
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert (guest.node, guest.is_running) == ("pve2", True)


def test_a_guest_is_relocated_by_stopping_it_first(lab: MemoryClient) -> None:
    lab.post(RESOURCES, sid="vm:100")
    lab.world.settle()
    lab.post(f"{RESOURCES}/vm:100/relocate", node="pve3")
    lab.world.settle()
    guest = lab.cluster.state.guests[100]
    assert (guest.node, guest.is_running) == ("pve3", True)
    types = [task.type for task in lab.cluster.state.tasks.values()]
    assert types == ["qmstart", "qmshutdown", "qmigrate", "qmstart"]


def test_resources_that_do_not_suit_each_other_are_kept_apart(lab: MemoryClient) -> None:
    put_disk(lab, put_guest(lab, 101, node="pve2"), "ceph")
    for vmid in (100, 101):
        lab.post(RESOURCES, sid=f"vm:{vmid}")
    apart = {"type": "resource-affinity", "resources": "vm:100,vm:101", "affinity": "negative"}
    lab.reply("POST", RULES, {"rule": "apart", **apart})
    lab.world.settle()
    lose_power(lab.cluster, lab.cluster.state.hosts["pve1"])
    lab.world.settle()
    assert lab.cluster.state.guests[100].node == "pve3"
