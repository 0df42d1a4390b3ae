"""etcd begins once, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from stockman_lab.core.faults import Effect, Fault, Point

from stockman.model.errors import Unreachable
from stockman.steps.base import GateAnswer
from stockman.steps.etcd.bootstrap import BootstrapEtcd, EtcdNotBootstrapped
from tests.steps.talos_scene import NEO, TRINITY, Scene, copied, killed, perform_action, scene, told


@cache
def _configured(preset: str) -> Scene:
    cluster = scene(preset)
    cluster.start()
    cluster.carry_out(
        step for step in cluster.plan() if step.id.startswith(("talos/await", "talos/configure"))
    )
    cluster.world.advance(60.0)
    return cluster


def configured(preset: str = "single") -> Scene:
    """Machines with their configurations, and without etcd."""
    return copied(_configured(preset))


def begins_on(cluster: Scene, name: str = "") -> BootstrapEtcd:
    first = cluster.target(name) if name else cluster.controllers[0]
    others = tuple(controller for controller in cluster.controllers if controller != first)
    return BootstrapEtcd(machine=first, others=others)


def etcds(cluster: Scene) -> int:
    """How many there are in the world."""
    return len(cluster.world.state.talos.etcd)


def test_beginning_twice_begins_once() -> None:
    cluster = configured()

    assert told(perform_action(begins_on(cluster), cluster.ports)) is True
    assert told(perform_action(begins_on(cluster), cluster.ports)) is False

    assert etcds(cluster) == 1
    assert cluster.watched.writes == ["bootstrap"]


def test_a_run_that_was_killed_anywhere_is_finished_by_the_next_with_one_etcd() -> None:
    start = configured()
    for cluster in killed(start, begins_on(start)):
        cluster.again()

        told(perform_action(begins_on(cluster), cluster.ports))

        assert etcds(cluster) == 1


def test_a_call_that_was_carried_out_and_never_answered_begins_one_etcd() -> None:
    cluster = configured()
    cut = Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, {"method": "Bootstrap"}, times=1)
    cluster.world.faults.add(cut)

    told(perform_action(begins_on(cluster), cluster.ports))

    assert etcds(cluster) == 1
    assert cluster.watched.writes == ["bootstrap"]


def test_a_call_that_was_lost_is_waited_for_and_made_again_by_the_next_attempt() -> None:
    cluster = configured()
    cluster.world.faults.add(Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Bootstrap"}, times=1))

    with pytest.raises(Unreachable, match=r"node\.late"):
        told(perform_action(begins_on(cluster), cluster.ports))
    told(perform_action(begins_on(cluster), cluster.ports))

    assert etcds(cluster) == 1
    assert cluster.watched.writes == ["bootstrap", "bootstrap"]


def test_nobody_begins_a_second_etcd_beside_that_of_another_controller() -> None:
    cluster = configured("three-node")
    told(perform_action(begins_on(cluster, NEO), cluster.ports))

    begun = told(perform_action(begins_on(cluster, TRINITY), cluster.ports))

    assert begun is False
    assert etcds(cluster) == 1


def test_two_runs_at_the_same_time_begin_one_etcd() -> None:
    cluster = configured("three-node")
    action = begins_on(cluster)

    async def race() -> None:
        import asyncio

        async with asyncio.TaskGroup() as group:
            group.create_task(perform_action(action, cluster.ports))
            group.create_task(perform_action(action, cluster.ports))

    told(race())

    assert etcds(cluster) == 1


def test_a_controller_of_which_nobody_knows_whether_it_has_data_keeps_etcd_from_beginning() -> None:
    cluster = configured("three-node")
    cluster.power_off(NEO)

    with pytest.raises(Unreachable, match=r"node\.unknown"):
        told(perform_action(begins_on(cluster), cluster.ports))

    assert etcds(cluster) == 0
    assert cluster.watched.writes == []


def test_data_of_a_member_that_is_down_is_not_taken_for_no_data() -> None:
    cluster = scene(up=True)
    ill = Fault(Point.TALOS_STEP, Effect.FAIL, {"step": "service/etcd"}, times=None)
    cluster.world.faults.add(ill)
    cluster.power_off(NEO)
    gate = EtcdNotBootstrapped(controllers=(cluster.target(NEO),))

    verdict = told(gate.check(cluster.ports))

    assert verdict.answer is GateAnswer.WAIT


def test_the_first_controller_is_the_same_in_whatever_order_the_nodes_are_written() -> None:
    cluster = configured("three-node")
    before = cluster.controllers[0]

    cluster.wants(replace(cluster.desired, nodes=tuple(reversed(cluster.desired.nodes))))

    assert cluster.controllers[0] == before


def test_no_etcd_begins_by_plan_while_one_runs() -> None:
    cluster = scene(up=True)
    cluster.power_off(TRINITY)

    ids = [step.id for step in cluster.plan(fresh=frozenset({TRINITY}))]

    assert "talos/bootstrap" not in ids
    assert ids[0] == f"talos/remove-member/{TRINITY}"
