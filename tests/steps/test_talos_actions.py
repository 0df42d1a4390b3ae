"""Actions on machines: done once, killed anywhere and repeated, and never on the wrong machine."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from uuid import UUID

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.port import memory_proxmox

from stockman.model.desired import Desired
from stockman.model.errors import Refused
from stockman.model.names import Mac
from stockman.planning.talos.changes import JoinChange, ReconfigureChange
from stockman.steps.base import Action
from stockman.steps.talos.configuration import (
    ChangeConfiguration,
    ConfigureMachine,
    RebootIntoConfiguration,
)
from stockman.steps.talos.wait import AwaitMachine, MachineVm
from tests.steps.talos_scene import Scene, copied, killed, perform_action, scene, told

NODE = "talos-1"


def boot_machines() -> Scene:
    """A machine that waits for its configuration."""
    cluster = scene("single")
    cluster.start()
    return cluster


def first_configuration(cluster: Scene) -> ConfigureMachine:
    join = next(change for change in cluster.changes() if isinstance(change, JoinChange))
    return ConfigureMachine(machine=join.machine, minor="1.13", digest=join.digest)


@cache
def _up() -> Scene:
    return scene("single", up=True)


def add_label(desired: Desired) -> Desired:
    """A wish that a machine takes on while it runs."""
    return replace(
        desired, nodes=tuple(replace(node, labels={"zone": "b"}) for node in desired.nodes)
    )


def reconfigure_change(cluster: Scene) -> ReconfigureChange:
    return next(change for change in cluster.changes() if isinstance(change, ReconfigureChange))


def planned(cluster: Scene) -> Action:
    return next(step.action for step in cluster.plan() if "client-file" not in step.id)


def test_a_machine_is_configured_once_wherever_the_run_was_killed() -> None:
    start = boot_machines()
    action = first_configuration(start)
    for cluster in killed(start, action):
        sent = cluster.watched.writes.count("apply_configuration")
        cluster.again()

        told(perform_action(action, cluster.ports))

        assert sent + cluster.watched.writes.count("apply_configuration") <= 2
        assert cluster.machine(NODE).config is not None
        assert told(action.done(cluster.ports))


def test_a_machine_with_another_uuid_gets_no_configuration() -> None:
    cluster = boot_machines()
    action = first_configuration(cluster)
    stranger = replace(action, machine=replace(action.machine, uuid=UUID(int=7)))

    with pytest.raises(Refused, match=r"node\.identity"):
        told(perform_action(stranger, cluster.ports))

    assert cluster.watched.writes == []


def test_a_machine_with_other_cards_gets_no_configuration() -> None:
    cluster = boot_machines()
    action = first_configuration(cluster)
    stranger = replace(action, machine=replace(action.machine, macs=(Mac("bc:24:11:00:00:99"),)))

    with pytest.raises(Refused, match=r"node\.identity"):
        told(perform_action(stranger, cluster.ports))

    assert cluster.watched.writes == []


def test_a_machine_that_booted_another_talos_gets_no_configuration() -> None:
    cluster = boot_machines()
    action = replace(first_configuration(cluster), version="v1.12.0")

    with pytest.raises(Refused, match=r"node\.image"):
        told(perform_action(action, cluster.ports))

    assert cluster.watched.writes == []


def test_an_old_talos_that_does_not_tell_its_version_is_configured_all_the_same() -> None:
    cluster = scene("single", "1.11.5")
    cluster.start()
    join = next(change for change in cluster.changes() if isinstance(change, JoinChange))
    action = ConfigureMachine(
        machine=join.machine, minor="1.11", digest=join.digest, version="v1.11.5"
    )

    told(perform_action(action, cluster.ports))

    assert cluster.watched.writes == ["apply_configuration"]


def test_a_configuration_that_is_not_the_planned_one_is_not_sent() -> None:
    cluster = boot_machines()
    action = first_configuration(cluster)
    cluster.wants(add_label(cluster.desired))

    with pytest.raises(Refused, match=r"node\.other-configuration"):
        told(perform_action(action, cluster.ports))

    assert cluster.watched.writes == []


def test_an_answer_that_was_lost_after_the_configuration_is_waited_for() -> None:
    cluster = boot_machines()
    cut = Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, {"method": "ApplyConfiguration"}, times=1)
    cluster.world.faults.add(cut)

    told(perform_action(first_configuration(cluster), cluster.ports))

    assert cluster.watched.writes == ["apply_configuration"]


def test_a_machine_that_never_boots_is_given_up_in_time() -> None:
    cluster = scene("single")
    action = AwaitMachine(machine=cluster.target(NODE), patience=300.0)
    before = cluster.world.now

    with pytest.raises(Refused, match=r"node\.absent"):
        told(perform_action(action, cluster.ports))

    assert 300.0 <= cluster.world.now - before < 600.0


def test_a_machine_that_never_boots_is_told_with_its_port_its_vm_and_what_to_do() -> None:
    running = scene("single")
    cluster = next(iter(running.world.clusters))
    vm = running.desired.nodes[0].vm
    assert vm is not None
    action = AwaitMachine(
        machine=running.target(NODE),
        patience=300.0,
        vm=MachineVm(cluster=cluster, vmid=vm.vmid),
    )
    ports = replace(running.ports, proxmox={cluster: memory_proxmox(running.world, cluster)})

    with pytest.raises(Refused) as error:
        told(perform_action(action, ports))

    problem = error.value.problem
    assert "nobody answers on 127.67.0.11:50000" in problem.why
    assert f"VM {vm.vmid} is stopped on " in problem.why
    assert "start it" in problem.fix


def test_a_machine_that_answers_once_and_is_gone_again_is_not_there_yet() -> None:
    cluster = boot_machines()
    away = Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Get"}, times=2)
    action = AwaitMachine(machine=cluster.target(NODE))

    cluster.world.faults.add(away)

    assert told(action.done(cluster.ports)) is False
    assert told(action.done(cluster.ports)) is True


def test_a_change_that_needs_no_reboot_is_made_while_the_machine_runs() -> None:
    cluster = copied(_up())
    cluster.wants(add_label(cluster.desired))
    boot = cluster.machine(NODE).state.boot_id
    action = planned(cluster)

    assert isinstance(action, ChangeConfiguration)
    told(perform_action(action, cluster.ports))

    assert cluster.machine(NODE).state.boot_id == boot
    assert [step for step in cluster.plan() if "client-file" not in step.id] == []


def test_a_change_is_made_once_wherever_the_run_was_killed() -> None:
    start = copied(_up())
    start.wants(add_label(start.desired))
    action = planned(start)
    for cluster in killed(start, action):
        cluster.again()

        told(perform_action(action, cluster.ports))

        assert told(action.done(cluster.ports))


def test_a_machine_that_somebody_changed_meanwhile_is_left_alone() -> None:
    cluster = copied(_up())
    cluster.wants(add_label(cluster.desired))
    action = planned(cluster)
    assert isinstance(action, ChangeConfiguration)

    with pytest.raises(Refused, match=r"node\.moved"):
        told(perform_action(replace(action, before="0" * 64), cluster.ports))

    assert cluster.watched.writes == []


def reboot(cluster: Scene) -> RebootIntoConfiguration:
    change = reconfigure_change(cluster)
    return RebootIntoConfiguration(
        machine=change.machine,
        minor="1.13",
        before=change.before,
        digest=change.digest,
        boot_id=cluster.machine(NODE).state.boot_id,
    )


def test_a_machine_boots_once_into_its_configuration_wherever_the_run_was_killed() -> None:
    start = copied(_up())
    start.wants(add_label(start.desired))
    action = reboot(start)
    for cluster in killed(start, action):
        boots = cluster.watched.writes.count("reboot")
        cluster.again()

        told(perform_action(action, cluster.ports))

        again = cluster.watched.writes.count("reboot")
        assert boots + again <= 2
        assert again == 0 or cluster.machine(NODE).state.boot_id != action.boot_id
        assert told(action.done(cluster.ports))
