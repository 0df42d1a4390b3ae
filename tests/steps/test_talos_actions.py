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
from tests.steps.talos_scene import Scene, copied, killed, performed, scene, told

NODE = "talos-1"


def booted() -> Scene:
    """A machine that waits for its configuration."""
    found = scene("single")
    found.start()
    return found


def first_configuration(found: Scene) -> ConfigureMachine:
    join = next(one for one in found.changes() if isinstance(one, JoinChange))
    return ConfigureMachine(machine=join.machine, minor="1.13", digest=join.digest)


@cache
def _up() -> Scene:
    return scene("single", up=True)


def labelled(desired: Desired) -> Desired:
    """A wish that a machine takes on while it runs."""
    return replace(
        desired, nodes=tuple(replace(one, labels={"zone": "b"}) for one in desired.nodes)
    )


def changed(found: Scene) -> ReconfigureChange:
    return next(one for one in found.changes() if isinstance(one, ReconfigureChange))


def planned(found: Scene) -> Action:
    return next(one.action for one in found.plan() if "client-file" not in one.id)


def test_a_machine_is_configured_once_wherever_the_run_was_killed() -> None:
    start = booted()
    action = first_configuration(start)
    for found in killed(start, action):
        sent = found.watched.writes.count("apply_configuration")
        found.again()

        told(performed(action, found.ports))

        assert sent + found.watched.writes.count("apply_configuration") <= 2
        assert found.machine(NODE).config is not None
        assert told(action.done(found.ports))


def test_a_machine_with_another_uuid_gets_no_configuration() -> None:
    found = booted()
    action = first_configuration(found)
    stranger = replace(action, machine=replace(action.machine, uuid=UUID(int=7)))

    with pytest.raises(Refused, match=r"node\.identity"):
        told(performed(stranger, found.ports))

    assert found.watched.writes == []


def test_a_machine_with_other_cards_gets_no_configuration() -> None:
    found = booted()
    action = first_configuration(found)
    stranger = replace(action, machine=replace(action.machine, macs=(Mac("bc:24:11:00:00:99"),)))

    with pytest.raises(Refused, match=r"node\.identity"):
        told(performed(stranger, found.ports))

    assert found.watched.writes == []


def test_a_machine_that_booted_another_talos_gets_no_configuration() -> None:
    found = booted()
    action = replace(first_configuration(found), version="v1.12.0")

    with pytest.raises(Refused, match=r"node\.image"):
        told(performed(action, found.ports))

    assert found.watched.writes == []


def test_an_old_talos_that_does_not_tell_its_version_is_configured_all_the_same() -> None:
    found = scene("single", "1.11.5")
    found.start()
    join = next(one for one in found.changes() if isinstance(one, JoinChange))
    action = ConfigureMachine(
        machine=join.machine, minor="1.11", digest=join.digest, version="v1.11.5"
    )

    told(performed(action, found.ports))

    assert found.watched.writes == ["apply_configuration"]


def test_a_configuration_that_is_not_the_planned_one_is_not_sent() -> None:
    found = booted()
    action = first_configuration(found)
    found.wants(labelled(found.desired))

    with pytest.raises(Refused, match=r"node\.other-configuration"):
        told(performed(action, found.ports))

    assert found.watched.writes == []


def test_an_answer_that_was_lost_after_the_configuration_is_waited_for() -> None:
    found = booted()
    cut = Fault(Point.TALOS_CALL, Effect.DO_THEN_CUT, {"method": "ApplyConfiguration"}, times=1)
    found.world.faults.add(cut)

    told(performed(first_configuration(found), found.ports))

    assert found.watched.writes == ["apply_configuration"]


def test_a_machine_that_never_boots_is_given_up_in_time() -> None:
    found = scene("single")
    action = AwaitMachine(machine=found.target(NODE), patience=300.0)
    before = found.world.now

    with pytest.raises(Refused, match=r"node\.absent"):
        told(performed(action, found.ports))

    assert 300.0 <= found.world.now - before < 600.0


def test_a_machine_that_never_boots_is_told_with_its_port_its_vm_and_what_to_do() -> None:
    found = scene("single")
    cluster = next(iter(found.world.clusters))
    vm = found.desired.nodes[0].vm
    assert vm is not None
    action = AwaitMachine(
        machine=found.target(NODE),
        patience=300.0,
        vm=MachineVm(cluster=cluster, vmid=vm.vmid),
    )
    ports = replace(found.ports, proxmox={cluster: memory_proxmox(found.world, cluster)})

    with pytest.raises(Refused) as no:
        told(performed(action, ports))

    problem = no.value.problem
    assert "nobody answers on 127.67.0.11:50000" in problem.why
    assert f"VM {vm.vmid} is stopped on " in problem.why
    assert "start it" in problem.fix


def test_a_machine_that_answers_once_and_is_gone_again_is_not_there_yet() -> None:
    found = booted()
    away = Fault(Point.TALOS_CALL, Effect.CUT, {"method": "Get"}, times=2)
    action = AwaitMachine(machine=found.target(NODE))

    found.world.faults.add(away)

    assert told(action.done(found.ports)) is False
    assert told(action.done(found.ports)) is True


def test_a_change_that_needs_no_reboot_is_made_while_the_machine_runs() -> None:
    found = copied(_up())
    found.wants(labelled(found.desired))
    boot = found.machine(NODE).state.boot_id
    action = planned(found)

    assert isinstance(action, ChangeConfiguration)
    told(performed(action, found.ports))

    assert found.machine(NODE).state.boot_id == boot
    assert [one for one in found.plan() if "client-file" not in one.id] == []


def test_a_change_is_made_once_wherever_the_run_was_killed() -> None:
    start = copied(_up())
    start.wants(labelled(start.desired))
    action = planned(start)
    for found in killed(start, action):
        found.again()

        told(performed(action, found.ports))

        assert told(action.done(found.ports))


def test_a_machine_that_somebody_changed_meanwhile_is_left_alone() -> None:
    found = copied(_up())
    found.wants(labelled(found.desired))
    action = planned(found)
    assert isinstance(action, ChangeConfiguration)

    with pytest.raises(Refused, match=r"node\.moved"):
        told(performed(replace(action, before="0" * 64), found.ports))

    assert found.watched.writes == []


def reboot(found: Scene) -> RebootIntoConfiguration:
    change = changed(found)
    return RebootIntoConfiguration(
        machine=change.machine,
        minor="1.13",
        before=change.before,
        digest=change.digest,
        boot_id=found.machine(NODE).state.boot_id,
    )


def test_a_machine_boots_once_into_its_configuration_wherever_the_run_was_killed() -> None:
    start = copied(_up())
    start.wants(labelled(start.desired))
    action = reboot(start)
    for found in killed(start, action):
        boots = found.watched.writes.count("reboot")
        found.again()

        told(performed(action, found.ports))

        again = found.watched.writes.count("reboot")
        assert boots + again <= 2
        assert again == 0 or found.machine(NODE).state.boot_id != action.boot_id
        assert told(action.done(found.ports))
