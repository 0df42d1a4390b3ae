"""What may be done to etcd: by the numbers, and closed when in doubt."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from stockman_lab.servers.port import memory_proxmox

from stockman.model.errors import Refused
from stockman.steps.base import GateAnswer
from stockman.steps.etcd.gates import (
    EtcdHealthy,
    EtcdQuorum,
    EtcdQuorumAfterRemoval,
    check_quorum_without,
)
from stockman.steps.etcd.members import LeaveEtcd, RemoveEtcdMember
from stockman.steps.etcd.view import EtcdReport, ObservedEtcd
from stockman.steps.talos.gates import ApiAddressHeld, MachineIdentity, MachineRunning, TimeInSync
from stockman.steps.talos.machine import TalosMachine
from stockman.steps.talos.wait import MachineVm
from stockman.talos.records.machines import EtcdMember, EtcdStatus
from tests.steps.talos_scene import (
    NEO,
    NIOBE,
    TRINITY,
    Scene,
    copied,
    killed,
    performed,
    scene,
    told,
)


@cache
def _up() -> Scene:
    return scene(up=True)


def up() -> Scene:
    """A cluster of three controllers."""
    return copied(_up())


def view(healthy: int, all_: int) -> ObservedEtcd:
    """So many healthy members of so many."""
    members = tuple(
        EtcdMember(id=number, hostname=f"cp-{number}", is_learner=False)
        for number in range(1, all_ + 1)
    )
    return ObservedEtcd(
        answers=tuple(
            EtcdReport(node=one.hostname, state="Running", status=status(one.id), members=members)
            for one in members[:healthy]
        )
    )


def status(member: int) -> EtcdStatus:
    return EtcdStatus(
        member=member,
        leader=1,
        is_learner=False,
        db_size=1,
        db_in_use=1,
        raft_term=1,
        raft_index=1,
        raft_applied=1,
    )


@pytest.mark.parametrize(
    ("healthy", "all_", "taken", "answer"),
    [
        (3, 3, 3, GateAnswer.GO),
        (2, 3, 3, GateAnswer.GO),
        (2, 3, 1, GateAnswer.WAIT),
        (1, 3, 3, GateAnswer.WAIT),
        (2, 2, 2, GateAnswer.GO),
        (1, 2, 2, GateAnswer.WAIT),
        (1, 1, 1, GateAnswer.STOP),
        (3, 5, 5, GateAnswer.GO),
        (3, 5, 1, GateAnswer.WAIT),
        (0, 3, 3, GateAnswer.WAIT),
    ],
)
def test_a_member_is_taken_out_where_the_others_keep_their_quorum(
    healthy: int, all_: int, taken: int, answer: GateAnswer
) -> None:
    assert check_quorum_without(view(healthy, all_), f"{taken:016x}").answer is answer


def test_quorum_is_kept_by_three_and_not_by_two_of_three() -> None:
    found = up()
    gate = EtcdQuorum(controllers=found.controllers)

    before = told(gate.check(found.ports))
    found.power_off(NEO)
    after = told(gate.check(found.ports))

    assert (before.answer, before.because) == (GateAnswer.GO, "3 of 3 voters healthy, quorum 2")
    assert (after.answer, after.because) == (GateAnswer.WAIT, "2 of 3 voters healthy, quorum 2")


def test_a_member_that_is_down_already_is_nothing_more_to_lose() -> None:
    found = up()
    found.power_off(NEO)

    same = told(EtcdQuorum(controllers=found.controllers, node=NEO).check(found.ports))
    other = told(EtcdQuorum(controllers=found.controllers, node=NIOBE).check(found.ports))

    assert (same.answer, other.answer) == (GateAnswer.GO, GateAnswer.WAIT)


def test_a_vm_that_is_stopped_may_be_started_whatever_is_known_of_etcd() -> None:
    found = scene("three-node")
    cluster = next(iter(found.world.clusters))
    vm = next(one.vm for one in found.desired.nodes if one.name == NEO)
    assert vm is not None
    ports = replace(found.ports, proxmox={cluster: memory_proxmox(found.world, cluster)})
    place = MachineVm(cluster=cluster, vmid=vm.vmid)
    gate = EtcdQuorum(controllers=found.controllers, node=NEO, vm=place)

    verdict = told(gate.check(ports))

    assert (verdict.answer, "is stopped already" in verdict.because) == (GateAnswer.GO, True)
    assert told(replace(gate, vm=None).check(ports)).answer is GateAnswer.WAIT


def test_members_that_nobody_tells_of_are_not_healthy() -> None:
    found = up()
    found.power_off(NEO)
    found.power_off(TRINITY)

    for gate in (
        EtcdQuorum(controllers=found.controllers),
        EtcdHealthy(controllers=found.controllers),
        EtcdQuorumAfterRemoval(controllers=found.controllers, member="1"),
    ):
        assert told(gate.check(found.ports)).answer is GateAnswer.WAIT


def test_a_member_too_many_is_not_healthy() -> None:
    found = up()
    two = tuple(one for one in found.controllers if one.node != NIOBE)

    verdict = told(EtcdHealthy(controllers=two).check(found.ports))

    assert verdict.answer is GateAnswer.WAIT
    assert NIOBE in verdict.because


def test_a_member_that_lives_is_not_removed_as_dead() -> None:
    found = up()
    member = found.observe().etcd.member_of(NIOBE)
    assert member is not None
    others = tuple(one for one in found.controllers if one.node != NIOBE)
    action = RemoveEtcdMember(
        member=member.hex, hostname=NIOBE, others=others, machine=found.target(NIOBE)
    )

    with pytest.raises(Refused, match=r"etcd\.member-lives"):
        told(performed(action, found.ports))

    assert found.watched.writes == []


def test_machines_that_run_pass_their_gates() -> None:
    found = up()
    neo = found.target(NEO)
    gates = (
        MachineIdentity(machine=neo),
        TimeInSync(machine=neo),
        MachineRunning(machine=neo),
        ApiAddressHeld(controllers=found.controllers, address="127.67.0.15"),
        EtcdHealthy(controllers=found.controllers),
    )

    assert {told(one.check(found.ports)).answer for one in gates} == {GateAnswer.GO}


def test_machines_that_are_silent_pass_none_of_their_gates() -> None:
    found = up()
    found.power_off(NEO)
    neo = found.target(NEO)
    gates = (
        MachineIdentity(machine=neo),
        TimeInSync(machine=neo),
        MachineRunning(machine=neo),
        ApiAddressHeld(controllers=(neo,), address="127.67.0.15"),
    )

    assert {told(one.check(found.ports)).answer for one in gates} == {GateAnswer.WAIT}


def member_of(found: Scene, name: str) -> str:
    member = found.observe().etcd.member_of(name)
    assert member is not None
    return member.hex


def others_of(found: Scene, name: str) -> tuple[TalosMachine, ...]:
    return tuple(one for one in found.controllers if one.node != name)


def test_a_member_leaves_once_wherever_the_run_was_killed() -> None:
    start = up()
    action = LeaveEtcd(
        machine=start.target(NIOBE),
        member=member_of(start, NIOBE),
        others=others_of(start, NIOBE),
    )
    for found in killed(start, action):
        found.again()

        told(performed(action, found.ports))

        assert {one.hostname for one in found.observe().etcd.members} == {TRINITY, NEO}


def test_a_dead_member_is_removed_once_wherever_the_run_was_killed() -> None:
    start = up()
    member = member_of(start, NIOBE)
    start.power_off(NIOBE)
    action = RemoveEtcdMember(
        member=member,
        hostname=NIOBE,
        others=others_of(start, NIOBE),
        machine=start.target(NIOBE),
    )
    for found in killed(start, action):
        found.again()

        told(performed(action, found.ports))

        view = found.observe().etcd
        assert {one.hostname for one in view.members} == {TRINITY, NEO}
        assert view.healthy_voters == 2
