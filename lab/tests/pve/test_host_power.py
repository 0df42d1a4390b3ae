"""Hosts that go down and come back, and all guests of a host at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.world import World

from lab.tests.guests import plain_power, put_guest
from lab.tests.worlds import door


@pytest.fixture
def lab() -> Iterator[MemoryClient]:
    """The API, with guests on pve1: 100 and 101 start with it, 102 does not."""
    api = door()
    put_guest(api, 100, onboot="1", startup="order=2")
    put_guest(api, 101, onboot="1", startup="order=1")
    put_guest(api, 102)
    with plain_power():
        yield api


def test_a_host_that_reboots_comes_back_with_its_guests(lab: MemoryClient) -> None:
    guests = lab.cluster.state.guests
    guests[100].status = guests[102].status = "running"
    host = lab.cluster.state.hosts["pve1"]
    lab.post("/nodes/pve1/status", command="reboot")
    lab.world.advance(30)
    assert not host.has_power
    assert not guests[100].is_running
    lab.world.settle()
    assert lab.get("/nodes/pve1/status") is not None
    assert [guests[vmid].is_running for vmid in (100, 101, 102)] == [True, True, False]


def test_a_reboot_goes_on_in_a_world_that_was_saved(lab: MemoryClient) -> None:
    lab.post("/nodes/pve1/status", command="reboot")
    lab.world.advance(20)
    again = World(read_world(world_file(lab.world.state)))
    again.settle()
    state = again.clusters["meadow"].state
    assert state.hosts["pve1"].has_power
    assert state.guests[100].is_running


def test_a_host_that_is_shut_down_stays_off(lab: MemoryClient) -> None:
    other = MemoryClient(lab.world, "meadow", "pve2")
    other.post("/nodes/pve1/status", command="shutdown")
    lab.world.settle()
    assert not lab.cluster.state.hosts["pve1"].has_power
    assert other.reply("GET", "/nodes/pve1/status").status == 595


def test_managed_guests_are_shut_down_with_their_host_and_come_back(lab: MemoryClient) -> None:
    lab.post("/cluster/ha/resources", sid="vm:102")
    lab.world.settle()
    lab.post("/nodes/pve1/status", command="reboot")
    lab.world.advance(10)
    assert not lab.cluster.state.guests[102].is_running
    lab.world.settle()
    assert lab.cluster.state.guests[102].is_running
