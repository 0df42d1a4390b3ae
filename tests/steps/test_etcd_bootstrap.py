"""etcd begins once, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from stockman_lab.core.faults import Effect, Fault, Point

from stockman.model.errors import Unreachable
from stockman.steps.base import GateAnswer
from stockman.steps.etcd.bootstrap import BootstrapEtcd, EtcdNotBootstrapped
from tests.steps.talos_scene import NEO, TRINITY, Scene, copied, killed, performed, scene, told


@cache
def _configured(preset: str) -> Scene:
    found = scene(preset)
    found.start()
    found.carry_out(
        one for one in found.plan() if one.id.startswith(("talos/await", "talos/configure"))
    )
    found.world.advance(60.0)
    return found


def configured(preset: str = "single") -> Scene:
    """Machines with their configurations, and without etcd."""
    return copied(_configured(preset))


def begins_on(found: Scene, name: str = "") -> BootstrapEtcd:
    first = found.target(name) if name else found.controllers[0]
    others = tuple(one for one in found.controllers if one != first)
    return BootstrapEtcd(machine=first, others=others)


def etcds(found: Scene) -> int:
    """How many there are in the world."""
    return len(found.world.state.talos.etcd)


def test_beginning_twice_begins_once() -> None:
    found = configured()

    assert told(performed(begins_on(found), found.ports)) is True
    assert told(performed(begins_on(found), found.ports)) is False

    assert etcds(found) == 1
    assert found.watched.writes == ["bootstrap"]


def test_a_run_that_was_killed_anywhere_is_finished_by_the_next_with_one_etcd() -> None:
    start = configured()
    for found in killed(start, begins_on(start)):
        found.again()

        told(performed(begins_on(found), found.ports))

        assert etcds(found) == 1


def test_a_call_that_was_carried_out_and_never_answered_begins_one_etcd() -> None:
    found = configured()
    cut = Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, {"method": "Bootstrap"}, times=1)
    found.world.faults.add(cut)

    told(performed(begins_on(found), found.ports))

    assert etcds(found) == 1
    assert found.watched.writes == ["bootstrap"]


def test_a_call_that_was_lost_is_waited_for_and_made_again_by_the_next_attempt() -> None:
    found = configured()
    found.world.faults.add(Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Bootstrap"}, times=1))

    with pytest.raises(Unreachable, match=r"node\.late"):
        told(performed(begins_on(found), found.ports))
    told(performed(begins_on(found), found.ports))

    assert etcds(found) == 1
    assert found.watched.writes == ["bootstrap", "bootstrap"]


def test_nobody_begins_a_second_etcd_beside_that_of_another_controller() -> None:
    found = configured("three-node")
    told(performed(begins_on(found, NEO), found.ports))

    begun = told(performed(begins_on(found, TRINITY), found.ports))

    assert begun is False
    assert etcds(found) == 1


def test_two_runs_at_the_same_time_begin_one_etcd() -> None:
    found = configured("three-node")
    action = begins_on(found)

    async def race() -> None:
        import asyncio

        async with asyncio.TaskGroup() as group:
            group.create_task(performed(action, found.ports))
            group.create_task(performed(action, found.ports))

    told(race())

    assert etcds(found) == 1


def test_a_controller_of_which_nobody_knows_whether_it_has_data_keeps_etcd_from_beginning() -> None:
    found = configured("three-node")
    found.power_off(NEO)

    with pytest.raises(Unreachable, match=r"node\.unknown"):
        told(performed(begins_on(found), found.ports))

    assert etcds(found) == 0
    assert found.watched.writes == []


def test_data_of_a_member_that_is_down_is_not_taken_for_no_data() -> None:
    found = scene(up=True)
    ill = Fault(Point.TALOS_STEP, Effect.FAIL, {"step": "service/etcd"}, times=None)
    found.world.faults.add(ill)
    found.power_off(NEO)
    gate = EtcdNotBootstrapped(controllers=(found.target(NEO),))

    verdict = told(gate.check(found.ports))

    assert verdict.answer is GateAnswer.WAIT


def test_the_first_controller_is_the_same_in_whatever_order_the_nodes_are_written() -> None:
    found = configured("three-node")
    before = found.controllers[0]

    found.wants(replace(found.desired, nodes=tuple(reversed(found.desired.nodes))))

    assert found.controllers[0] == before


def test_no_etcd_begins_by_plan_while_one_runs() -> None:
    found = scene(up=True)
    found.power_off(TRINITY)

    ids = [one.id for one in found.plan(fresh=frozenset({TRINITY}))]

    assert "talos/bootstrap" not in ids
    assert ids[0] == f"talos/remove-member/{TRINITY}"
