"""etcd begins once, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from stockman_lab.core.faults import Effect, Fault, Point

from lab.tests.kube.helm.installing import Installing
from stockman.model.errors import Refused, Unreachable
from stockman.model.problem import Problem
from stockman.planning.talos.refusals import find_refusals
from stockman.steps.base import GateAnswer
from stockman.steps.etcd.bootstrap import BootstrapEtcd, EtcdNotBootstrapped
from stockman.steps.etcd.view import ObservedEtcd
from stockman.talos.records.machines import EtcdMember
from tests.steps.kube_cluster import ports_of
from tests.steps.talos_scene import (
    NEO,
    NIOBE,
    TRINITY,
    Scene,
    copied,
    killed,
    perform_action,
    scene,
    told,
)


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


def test_an_etcd_with_data_that_is_preparing_keeps_a_new_controller_from_bootstrapping() -> None:
    cluster = scene(up=True)
    slow = Fault(Point.TALOS_STEP, Effect.HANG, {"step": "service/etcd"}, times=None)
    cluster.world.faults.add(slow)
    for name in (NEO, NIOBE):
        cluster.power_off(name)
        cluster.start([name])
    others = tuple(cluster.target(name) for name in (NEO, NIOBE))
    states = {report.state for report in cluster.observe().etcd.answers if report.node != TRINITY}
    gate = EtcdNotBootstrapped(controllers=others)

    verdict = told(gate.check(cluster.ports))

    assert states == {"Preparing"}
    assert verdict.answer is GateAnswer.WAIT
    assert "has data, and its etcd does not answer" in verdict.because


def test_a_data_directory_that_cannot_be_read_is_not_taken_for_no_data() -> None:
    cluster = configured("three-node")
    denied = Fault(Point.TALOS_CALL, Effect.CUT, {"method": "List"}, times=None)
    cluster.world.faults.add(denied)

    verdict = told(EtcdNotBootstrapped(controllers=cluster.controllers).check(cluster.ports))

    assert verdict.answer is GateAnswer.WAIT
    with pytest.raises(Unreachable, match=r"node\.unknown"):
        told(perform_action(begins_on(cluster), cluster.ports))
    assert etcds(cluster) == 0


def test_a_recorded_run_with_an_etcd_keeps_another_one_from_beginning() -> None:
    cluster = configured("three-node")

    async def earlier(controllers: tuple[str, ...]) -> str:
        return f"run 7 bootstrapped {len(controllers)} controllers"

    ports = replace(cluster.ports, earlier_etcd=earlier)

    verdict = told(EtcdNotBootstrapped(controllers=cluster.controllers).check(ports))

    assert (verdict.answer, verdict.because) == (
        GateAnswer.STOP,
        "run 7 bootstrapped 3 controllers",
    )
    with pytest.raises(Refused, match=r"etcd\.exists"):
        told(perform_action(begins_on(cluster), ports))
    assert etcds(cluster) == 0


def test_a_kubernetes_api_that_answers_keeps_etcd_from_beginning() -> None:
    cluster = configured("three-node")
    ports = replace(cluster.ports, kubernetes=ports_of(Installing()).kubernetes)

    with pytest.raises(Refused, match=r"etcd\.exists") as refused:
        told(perform_action(begins_on(cluster), ports))

    assert "the Kubernetes API answers" in refused.value.problem.why
    assert etcds(cluster) == 0


def test_a_member_that_is_joining_is_not_reported_as_one_to_remove() -> None:
    cluster = scene(up=True)
    cluster.power_off(NIOBE)
    observed = cluster.observe()
    known = next(member for member in observed.etcd.members if member.hostname == NIOBE)
    stranger = replace(known, id=7, hostname="", peer_urls=("https://10.9.9.9:2380",))

    def refusals(*members: EtcdMember) -> list[Problem]:
        answers = tuple(
            replace(report, members=members) if report.members else report
            for report in observed.etcd.answers
        )
        seen = replace(observed, etcd=ObservedEtcd(answers=answers))
        problems = find_refusals(cluster.wish(), seen)
        return [problem for problem in problems if problem.code == "etcd.unknown-member"]

    assert refusals(replace(known, hostname="", is_learner=True)) == []
    assert "must not be removed" in refusals(stranger)[0].fix
    assert "remove the member" in refusals(replace(stranger, hostname="cp-7"))[0].fix
