"""What may be done to etcd: by the numbers, and closed when in doubt."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import cast

import pytest
from stockman_lab.servers.port import memory_proxmox

from stockman.model.errors import Refused
from stockman.model.names import MachineAddress
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
from stockman.talos.api.client import TalosClient
from stockman.talos.records.machines import EtcdMember, EtcdStatus, MachineStatus, UnmetCondition
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
            EtcdReport(
                node=member.hostname, state="Running", status=status(member.id), members=members
            )
            for member in members[:healthy]
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
    cluster = up()
    gate = EtcdQuorum(controllers=cluster.controllers)

    before = told(gate.check(cluster.ports))
    cluster.power_off(NEO)
    after = told(gate.check(cluster.ports))

    assert (before.answer, before.because) == (GateAnswer.GO, "3 of 3 voters healthy, quorum 2")
    assert (after.answer, after.because) == (GateAnswer.WAIT, "2 of 3 voters healthy, quorum 2")


def test_a_member_that_is_down_already_is_nothing_more_to_lose() -> None:
    cluster = up()
    cluster.power_off(NEO)

    same = told(EtcdQuorum(controllers=cluster.controllers, node=NEO).check(cluster.ports))
    other = told(EtcdQuorum(controllers=cluster.controllers, node=NIOBE).check(cluster.ports))

    assert (same.answer, other.answer) == (GateAnswer.GO, GateAnswer.WAIT)


def test_a_vm_that_is_stopped_may_be_started_whatever_is_known_of_etcd() -> None:
    running = scene("three-node")
    cluster = next(iter(running.world.clusters))
    vm = next(node.vm for node in running.desired.nodes if node.name == NEO)
    assert vm is not None
    ports = replace(running.ports, proxmox={cluster: memory_proxmox(running.world, cluster)})
    machine_vm = MachineVm(cluster=cluster, vmid=vm.vmid)
    gate = EtcdQuorum(controllers=running.controllers, node=NEO, vm=machine_vm)

    verdict = told(gate.check(ports))

    assert (verdict.answer, "is stopped already" in verdict.because) == (GateAnswer.GO, True)
    assert told(replace(gate, vm=None).check(ports)).answer is GateAnswer.WAIT


def test_members_that_nobody_tells_of_are_not_healthy() -> None:
    cluster = up()
    cluster.power_off(NEO)
    cluster.power_off(TRINITY)

    for gate in (
        EtcdQuorum(controllers=cluster.controllers),
        EtcdHealthy(controllers=cluster.controllers),
        EtcdQuorumAfterRemoval(controllers=cluster.controllers, member="1"),
    ):
        assert told(gate.check(cluster.ports)).answer is GateAnswer.WAIT


def test_a_member_too_many_is_not_healthy() -> None:
    cluster = up()
    two = tuple(controller for controller in cluster.controllers if controller.node != NIOBE)

    verdict = told(EtcdHealthy(controllers=two).check(cluster.ports))

    assert verdict.answer is GateAnswer.WAIT
    assert NIOBE in verdict.because


def test_a_member_that_lives_is_not_removed_as_dead() -> None:
    cluster = up()
    member = cluster.observe().etcd.member_of(NIOBE)
    assert member is not None
    others = tuple(controller for controller in cluster.controllers if controller.node != NIOBE)
    action = RemoveEtcdMember(
        member=member.hex, hostname=NIOBE, others=others, machine=cluster.target(NIOBE)
    )

    with pytest.raises(Refused, match=r"etcd\.member-lives"):
        told(perform_action(action, cluster.ports))

    assert cluster.watched.writes == []


def test_machines_that_run_pass_their_gates() -> None:
    cluster = up()
    neo = cluster.target(NEO)
    gates = (
        MachineIdentity(machine=neo),
        TimeInSync(machine=neo),
        MachineRunning(machine=neo),
        ApiAddressHeld(controllers=cluster.controllers, address="127.67.0.15"),
        EtcdHealthy(controllers=cluster.controllers),
    )

    assert {told(gate.check(cluster.ports)).answer for gate in gates} == {GateAnswer.GO}


def test_the_time_gate_asks_only_whether_talos_has_synchronized_the_clock() -> None:
    cluster = copied(up())
    cluster.machine(NEO).state.is_time_synced = False
    gate = TimeInSync(machine=cluster.target(NEO))

    waits = told(gate.check(cluster.ports))
    cluster.machine(NEO).state.is_time_synced = True
    goes = told(gate.check(cluster.ports))

    assert (waits.answer, goes.answer) == (GateAnswer.WAIT, GateAnswer.GO)
    assert cluster.watched.made == ["time_sync", "time_sync"]


class _Talos:
    """A machine that runs, and what it says of its services."""

    def __init__(self, services: str) -> None:
        self._services = services

    async def machine_status(self, node: MachineAddress) -> MachineStatus:
        unmet = UnmetCondition(name="services", reason=self._services)
        return MachineStatus(stage="running", ready=False, unmet=(unmet,))


@pytest.mark.parametrize(
    ("services", "answer"),
    [
        ("ext-tailscale not running", GateAnswer.GO),
        ("ext-newt not healthy, ext-tailscale not running", GateAnswer.GO),
        ("ext-tailscale not running, kubelet not running", GateAnswer.WAIT),
        ("etcd not healthy", GateAnswer.WAIT),
    ],
)
def test_a_service_of_an_extension_is_reported_and_not_waited_for(
    services: str, answer: GateAnswer
) -> None:
    cluster = up()
    ports = replace(cluster.ports, talos=cast("TalosClient", _Talos(services)))

    verdict = told(MachineRunning(machine=cluster.target(NEO)).check(ports))

    assert verdict.answer is answer
    assert services.partition(",")[0] in verdict.because


def test_machines_that_are_silent_pass_none_of_their_gates() -> None:
    cluster = up()
    cluster.power_off(NEO)
    neo = cluster.target(NEO)
    gates = (
        MachineIdentity(machine=neo),
        TimeInSync(machine=neo),
        MachineRunning(machine=neo),
        ApiAddressHeld(controllers=(neo,), address="127.67.0.15"),
    )

    assert {told(gate.check(cluster.ports)).answer for gate in gates} == {GateAnswer.WAIT}


def member_of(cluster: Scene, name: str) -> str:
    member = cluster.observe().etcd.member_of(name)
    assert member is not None
    return member.hex


def others_of(cluster: Scene, name: str) -> tuple[TalosMachine, ...]:
    return tuple(controller for controller in cluster.controllers if controller.node != name)


def test_a_member_leaves_once_wherever_the_run_was_killed() -> None:
    start = up()
    action = LeaveEtcd(
        machine=start.target(NIOBE),
        member=member_of(start, NIOBE),
        others=others_of(start, NIOBE),
    )
    for cluster in killed(start, action):
        cluster.again()

        told(perform_action(action, cluster.ports))

        assert {member.hostname for member in cluster.observe().etcd.members} == {TRINITY, NEO}


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
    for cluster in killed(start, action):
        cluster.again()

        told(perform_action(action, cluster.ports))

        view = cluster.observe().etcd
        assert {member.hostname for member in view.members} == {TRINITY, NEO}
        assert view.healthy_voters == 2
