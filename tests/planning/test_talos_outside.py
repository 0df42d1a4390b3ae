"""Controllers that somebody took out of etcd: planned back, and let in anew."""

from __future__ import annotations

from functools import cache

import pytest

from stockman.planning.talos.changes import RejoinChange
from stockman.planning.talos.rejoin import find_controllers_outside_etcd, rejoin_step_id
from stockman.steps.base import GateAnswer
from stockman.steps.etcd.members import NotEtcdMember
from stockman.steps.step import Step
from tests.steps.talos_scene import NEO, NIOBE, TRINITY, Killed, Scene, copied, scene, told


@cache
def _up() -> Scene:
    return scene("three-node", up=True)


def taken_out(name: str = NIOBE) -> Scene:
    """A cluster of three, and somebody removed one from etcd."""
    found = copied(_up())
    member = found.observe().etcd.member_of(name)
    assert member is not None
    address = found.target(TRINITY).address
    told(found.ports.to_talos().remove_etcd_member(address, member.id))
    found.world.advance(60.0)
    found.again()
    return found


def rejoin(found: Scene) -> Step:
    (step,) = (one for one in found.plan() if one.id == rejoin_step_id(NIOBE))
    return step


def members(found: Scene) -> set[str]:
    return {one.hostname for one in found.observe().etcd.members}


def test_nobody_is_outside_of_a_cluster_that_is_whole() -> None:
    found = copied(_up())

    assert find_controllers_outside_etcd(found.wish(), found.observe()) == ()


def test_the_way_back_is_planned_and_says_what_is_lost() -> None:
    found = taken_out()

    (change,) = (one for one in found.changes() if one.node)

    assert isinstance(change, RejoinChange)
    assert change.what == f"{NIOBE} rejoins etcd, with a reboot"
    assert change.destroys == rejoin(found).action.destroys
    assert "what pods keep" in change.destroys


def test_it_joins_anew_and_nothing_is_left_to_do() -> None:
    found = taken_out()

    found.carry_out([rejoin(found)])

    assert members(found) == {TRINITY, NEO, NIOBE}
    assert found.watched.writes == ["reset"]
    assert [one for one in found.changes() if one.node] == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_whoever_goes_on_after_a_kill_erases_once(*, after: bool) -> None:
    found = taken_out()
    step = rejoin(found)
    twin = taken_out()
    twin.carry_out([step])
    reset = twin.watched.made.index("reset") + 1
    found.again()
    found.watched.dies_before, found.watched.dies_after = (0, reset) if after else (reset, 0)
    with pytest.raises((Killed, BaseExceptionGroup)):
        found.carry_out([step])
    before = found.watched.writes
    found.world.advance(90.0)
    found.again()

    found.carry_out([step])

    assert [*before, *found.watched.writes].count("reset") == (1 if after else 2)
    assert members(found) == {TRINITY, NEO, NIOBE}


def test_a_member_is_never_erased() -> None:
    found = copied(_up())
    others = tuple(one for one in found.controllers if one.node != NIOBE)

    verdict = told(NotEtcdMember(node=NIOBE, others=others).check(found.ports))

    assert verdict.answer is GateAnswer.STOP


def test_without_a_quorum_nobody_is_erased() -> None:
    found = taken_out()
    others = tuple(one for one in found.controllers if one.node != NIOBE)
    found.power_off(NEO)

    verdict = told(NotEtcdMember(node=NIOBE, others=others).check(found.ports))

    assert verdict.answer is GateAnswer.WAIT
