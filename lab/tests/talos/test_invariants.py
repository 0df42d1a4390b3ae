"""Contradictions among machines are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.etcd.cluster import Alarm, AlarmKind
from stockman_lab.talos.invariants import broken
from stockman_lab.talos.state import AddressState, Running, Stage, Trial
from stockman_lab.world.world import World

from lab.tests.talos.staged import machine, staged


def turn_off(world: World) -> None:
    machine(world).state.stage = Stage.OFF


def lose_config(world: World) -> None:
    machine(world).state.config = b""


def strange_api(world: World) -> None:
    machine(world).state.api = "open"


def phase_that_is_not_there(world: World) -> None:
    machine(world).state.sequence = Running("reboot", "", phase=99, arguments={"options": []})


def another_sequence(world: World) -> None:
    state = machine(world).state
    state.stage = Stage.RESETTING
    state.sequence = Running("reboot", "", phase=0, arguments={"options": []})


def health_of_what_stopped(world: World) -> None:
    machine(world).state.services["cri"].state = "Finished"


def event_of_tomorrow(world: World) -> None:
    machine(world).state.events[-1].at = world.now + 86_400


def event_twice(world: World) -> None:
    machine(world).state.events.append(machine(world).state.events[0])


def forgotten_trial(world: World) -> None:
    machine(world).state.trial = Trial(b"", world.now - 1, 1)


def strange_slot(world: World) -> None:
    machine(world).state.slot = "C"


def empty_slot(world: World) -> None:
    disk = machine(world).disk
    assert disk is not None
    disk.slots.pop(disk.default)
    disk.slots["B"] = {}


def lost_snapshot(world: World) -> None:
    disk = machine(world).disk
    assert disk is not None
    disk.recovery = "ab" * 32


def unknown_cluster(world: World) -> None:
    disk = machine(world).disk
    assert disk is not None
    disk.write_etcd({"cluster": "nobody", "member": "ab"})


def data_twice(world: World) -> None:
    first, second = (one.disk for one in world.talos.machines[:2])
    assert first is not None
    assert second is not None
    second.write_etcd(first.etcd)


def leader_without_vote(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    cluster.leader = "ab"


def alarm_of_nobody(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    cluster.alarms.append(Alarm("ab", AlarmKind.NOSPACE))


def one_name_twice(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    for member in cluster.members.values():
        member.name = "same"


def member_that_was_removed(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    cluster.removed.add(cluster.leader)


def address_twice(world: World) -> None:
    for one in world.talos.machines:
        network = one.state.network
        network.addresses.append(AddressState(f"{network.vip}/32", "eth0", is_vip=True))


def ready_without_kubelet(world: World) -> None:
    machine(world).state.services.pop("kubelet")


DAMAGES: list[tuple[Callable[[World], None], str]] = [
    (turn_off, "something of it still runs"),
    (lose_config, "no configuration to know them by"),
    (strange_api, "its API is 'open'"),
    (phase_that_is_not_there, "has no phase 99"),
    (another_sequence, "it is resetting, and reboot is under way"),
    (health_of_what_stopped, "somebody knows its health"),
    (event_of_tomorrow, "in the future"),
    (event_twice, "do not grow"),
    (forgotten_trial, "tried for longer"),
    (strange_slot, "from slot 'C'"),
    (empty_slot, "nothing is in it"),
    (lost_snapshot, "the snapshot on its disk is gone"),
    (unknown_cluster, "of a cluster that nobody knows"),
    (data_twice, "2 disks hold the data"),
    (leader_without_vote, "leads and has no vote"),
    (alarm_of_nobody, "has an alarm and is none"),
    (one_name_twice, "two members have one name"),
    (member_that_was_removed, "is there and was removed"),
    (address_twice, "is held by"),
    (ready_without_kubelet, "ready without a kubelet"),
]


def test_a_cluster_that_was_made_properly_is_whole() -> None:
    assert list(broken(staged("three-node").talos)) == []


@pytest.mark.parametrize(("damage", "text"), DAMAGES, ids=[one.__name__ for one, _ in DAMAGES])
def test_a_contradiction_is_found(damage: Callable[[World], None], text: str) -> None:
    world = staged("three-node")
    damage(world)
    assert any(text in one for one in broken(world.talos))
