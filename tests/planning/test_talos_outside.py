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
    cluster = copied(_up())
    member = cluster.observe().etcd.member_of(name)
    assert member is not None
    address = cluster.target(TRINITY).address
    told(cluster.ports.to_talos().remove_etcd_member(address, member.id))
    cluster.world.advance(60.0)
    cluster.again()
    return cluster


def rejoin(cluster: Scene) -> Step:
    (step,) = (step for step in cluster.plan() if step.id == rejoin_step_id(NIOBE))
    return step


def members(cluster: Scene) -> set[str]:
    return {member.hostname for member in cluster.observe().etcd.members}


def test_nobody_is_outside_of_a_cluster_that_is_whole() -> None:
    cluster = copied(_up())

    assert find_controllers_outside_etcd(cluster.wish(), cluster.observe()) == ()


def test_the_way_back_is_planned_and_says_what_is_lost() -> None:
    cluster = taken_out()

    (change,) = (change for change in cluster.changes() if change.node)

    assert isinstance(change, RejoinChange)
    assert change.what == f"{NIOBE} rejoins etcd, with a reboot"
    assert change.destroys == rejoin(cluster).action.destroys
    assert "what pods keep" in change.destroys


def test_it_joins_anew_and_nothing_is_left_to_do() -> None:
    cluster = taken_out()

    cluster.carry_out([rejoin(cluster)])

    assert members(cluster) == {TRINITY, NEO, NIOBE}
    assert cluster.watched.writes == ["reset"]
    assert [change for change in cluster.changes() if change.node] == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_whoever_goes_on_after_a_kill_erases_once(*, after: bool) -> None:
    cluster = taken_out()
    step = rejoin(cluster)
    twin = taken_out()
    twin.carry_out([step])
    reset = twin.watched.made.index("reset") + 1
    cluster.again()
    cluster.watched.dies_before, cluster.watched.dies_after = (0, reset) if after else (reset, 0)
    with pytest.raises((Killed, BaseExceptionGroup)):
        cluster.carry_out([step])
    before = cluster.watched.writes
    cluster.world.advance(90.0)
    cluster.again()

    cluster.carry_out([step])

    assert [*before, *cluster.watched.writes].count("reset") == (1 if after else 2)
    assert members(cluster) == {TRINITY, NEO, NIOBE}


def test_a_member_is_never_erased() -> None:
    cluster = copied(_up())
    others = tuple(controller for controller in cluster.controllers if controller.node != NIOBE)

    verdict = told(NotEtcdMember(node=NIOBE, others=others).check(cluster.ports))

    assert verdict.answer is GateAnswer.STOP


def test_without_a_quorum_nobody_is_erased() -> None:
    cluster = taken_out()
    others = tuple(controller for controller in cluster.controllers if controller.node != NIOBE)
    cluster.power_off(NEO)

    verdict = told(NotEtcdMember(node=NIOBE, others=others).check(cluster.ports))

    assert verdict.answer is GateAnswer.WAIT
