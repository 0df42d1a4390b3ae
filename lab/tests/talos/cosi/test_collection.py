"""Resources have versions that rise with what is seen of them."""

from __future__ import annotations

import gc
from weakref import ref

import pytest
from stockman_lab.core.saved import plain, restored
from stockman_lab.talos.cosi.collection import Collection, InvalidBookmark, collection
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions
from stockman_lab.talos.state import MachineState

from lab.tests.talos.cosi.handmade import NOW, HandMade, HandMadeLand, handmade_land

SERVICES = "Services.v1alpha1.talos.dev"


def looked_at(machine: HandMade, name: str = SERVICES) -> Collection:
    return collection(machine, definitions(machine.minor)[name.lower()], claimed()[name])


def lands() -> tuple[HandMadeLand, HandMade]:
    hand_made_land = handmade_land()
    return hand_made_land, hand_made_land.machines[0]


def test_what_is_seen_first_is_as_old_as_the_boot() -> None:
    _, machine = lands()
    kubelet = looked_at(machine).items["kubelet"]

    assert (kubelet.version, kubelet.created, kubelet.updated) == (1, NOW - 3600, NOW - 3600)


def test_looking_again_changes_nothing() -> None:
    _, machine = lands()
    first = looked_at(machine).items["kubelet"]

    assert looked_at(machine).items["kubelet"] is first


def test_a_machine_that_was_looked_at_is_gone_when_nobody_has_it() -> None:
    _, machine = lands()
    looked_at(machine)
    seen = ref(machine)

    del _, machine
    gc.collect()

    assert seen() is None


def test_a_change_raises_the_version() -> None:
    land, machine = lands()
    looked_at(machine)
    machine.state.services["kubelet"].is_healthy = False
    land.now += 10
    kubelet = looked_at(machine).items["kubelet"]

    assert (kubelet.version, kubelet.created, kubelet.updated) == (2, NOW - 3600, NOW + 10)


def test_what_is_gone_begins_anew() -> None:
    land, machine = lands()
    looked_at(machine)
    machine.state.services["kubelet"].state = "Finished"
    land.now += 5

    assert "kubelet" not in looked_at(machine).items

    machine.state.services["kubelet"].state = "Running"
    land.now += 5
    kubelet = looked_at(machine).items["kubelet"]

    assert (kubelet.version, kubelet.created) == (1, NOW + 10)


def test_another_boot_begins_anew() -> None:
    _, machine = lands()
    looked_at(machine)
    machine.state.services["kubelet"].is_healthy = False
    looked_at(machine)
    machine.state.boot += 1
    machine.state.resources = {}

    assert looked_at(machine).items["kubelet"].version == 1


def test_versions_outlast_a_world_that_is_saved() -> None:
    land, machine = lands()
    looked_at(machine)
    machine.state.services["kubelet"].is_healthy = False
    looked_at(machine)
    again = HandMade(land, restored(MachineState, plain(machine.state)), machine.view)

    result = looked_at(again)

    assert result.items["kubelet"].version == 2
    assert result.items["kubelet"].fields == looked_at(machine).items["kubelet"].fields


def test_a_bookmark_outlasts_a_world_that_is_saved() -> None:
    land, machine = lands()
    looked_at(machine)
    machine.state.services["kubelet"].is_healthy = False
    result = looked_at(machine)
    bookmark = result.bookmark(result.position - 1)
    again = HandMade(land, restored(MachineState, plain(machine.state)), machine.view)

    assert looked_at(again).behind(bookmark) == result.position


def test_a_bookmark_of_another_boot_is_worth_nothing() -> None:
    _, machine = lands()
    bookmark = looked_at(machine).bookmark(-1)
    machine.state.boot_id = "another"

    with pytest.raises(InvalidBookmark):
        looked_at(machine).behind(bookmark)


def test_kinds_do_not_look_at_each_other() -> None:
    _, machine = lands()
    looked_at(machine)

    assert {name.partition("/")[0] for name in machine.state.resources} == {SERVICES}


def test_pods_refer_to_the_version_of_what_they_run_with() -> None:
    _, machine = lands()
    pods = "StaticPods.kubernetes.talos.dev"
    assert 'config-version: "1"' in str(looked_at(machine, pods).items["kube-apiserver"].spec)

    machine.state.config = machine.state.config.replace(b"v1.36.2", b"v1.36.3")

    assert 'config-version: "2"' in str(looked_at(machine, pods).items["kube-apiserver"].spec)


def test_a_bookmark_of_what_is_forgotten_is_worth_nothing() -> None:
    _, machine = lands()
    bookmark = looked_at(machine).bookmark(-1)
    for number in range(200):
        machine.state.services["kubelet"].is_healthy = bool(number % 2)
        looked_at(machine)

    with pytest.raises(InvalidBookmark):
        looked_at(machine).behind(bookmark)
