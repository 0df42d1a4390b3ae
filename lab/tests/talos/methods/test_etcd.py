"""etcd through the API of machines."""

from __future__ import annotations

import hashlib

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.etcd.cluster import Alarm, AlarmKind
from stockman_lab.talos import acting
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.api.transport import GrpcCode


@pytest.fixture
def world() -> World:
    return staged("three-node")


def ask(world: World, name: str = "talos-trinity") -> Asking:
    return Asking(world, machine(world, name))


def test_every_member_knows_all_members(world: World) -> None:
    for member_machine in world.talos.machines:
        result = Asking(world, member_machine).call("EtcdMemberList", query_local=True)
        assert sorted(member.hostname for member in result.members) == [
            "talos-neo",
            "talos-niobe",
            "talos-trinity",
        ]


def test_leadership_moves_when_it_is_forfeited(world: World) -> None:
    before = ask(world).call("EtcdStatus").member_status.leader
    leader = next(
        machine
        for machine in world.talos.machines
        if Asking(world, machine).call("EtcdStatus").member_status.member_id == before
    )
    named = Asking(world, leader).call("EtcdForfeitLeadership").member
    after = ask(world).call("EtcdStatus").member_status.leader
    assert after != before
    assert named != leader.hostname
    assert Asking(world, leader).call("EtcdForfeitLeadership").member == ""


def test_a_single_member_cannot_forfeit(world: World) -> None:
    alone = staged("single")
    with pytest.raises(Refusal, match="only one member"):
        Asking(alone, machine(alone)).call("EtcdForfeitLeadership")


def test_a_snapshot_ends_with_the_checksum_of_what_is_before(world: World) -> None:
    content = b"".join(value.bytes for value in ask(world).stream("EtcdSnapshot"))
    assert len(content) % 512 == 32
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]


def test_a_member_that_leaves_is_gone_and_can_come_back(world: World) -> None:
    ask(world, "talos-neo").call("EtcdLeaveCluster")
    names = [member.hostname for member in ask(world).call("EtcdMemberList").members]
    assert sorted(names) == ["talos-niobe", "talos-trinity"]
    assert machine(world, "talos-neo").state.services["etcd"].state == "Finished"
    ask(world, "talos-neo").call("Reboot")
    world.settle()
    members = ask(world).call("EtcdMemberList").members
    assert sorted(member.hostname for member in members) == [
        "talos-neo",
        "talos-niobe",
        "talos-trinity",
    ]
    assert not any(member.is_learner for member in members)


def test_an_unknown_member_cannot_be_removed(world: World) -> None:
    with pytest.raises(Refusal) as caught:
        ask(world).call("EtcdRemoveMemberByID", member_id=12345)
    assert caught.value.code is GrpcCode.NOT_FOUND


def test_a_dead_member_is_removed_and_its_machine_says_so_when_it_returns(world: World) -> None:
    lost = machine(world, "talos-neo")
    key = next(
        member.id
        for member in ask(world).call("EtcdMemberList").members
        if member.hostname == "talos-neo"
    )
    world.talos.power_off(lost)
    ask(world).call("EtcdRemoveMemberByID", member_id=key)
    guest = world.talos.guest(lost)
    assert guest is not None
    from stockman_lab.servers.memory import MemoryClient

    MemoryClient(world, lost.state.cluster).post(
        f"/nodes/{guest.node}/qemu/{guest.vmid}/status/start"
    )
    world.settle()
    assert lost.state.services["etcd"].state == "Failed"
    assert "permanently removed" in lost.state.services["etcd"].events[-1].message


def test_without_quorum_calls_fail_as_those_of_etcd_do(world: World) -> None:
    for name in ("talos-neo", "talos-niobe"):
        world.talos.power_off(machine(world, name))
    with pytest.raises(Refusal) as caught:
        ask(world).call("EtcdMemberList")
    assert (caught.value.code, caught.value.message) == (GrpcCode.UNKNOWN, "etcdserver: no leader")
    assert b"".join(value.bytes for value in ask(world).stream("EtcdSnapshot"))
    assert "etcdserver: no leader" in ask(world).call("EtcdStatus").member_status.errors


def test_alarms_are_listed_and_disarmed(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    cluster.alarms.append(Alarm(cluster.leader, AlarmKind.NOSPACE))
    assert [
        member_alarm.alarm for member_alarm in ask(world).call("EtcdAlarmList").member_alarms
    ] == [1]
    ask(world).call("EtcdAlarmDisarm")
    assert not ask(world).call("EtcdAlarmList").member_alarms


def test_a_learner_that_is_never_promoted_stays_one(world: World) -> None:
    world.faults.add(Fault(Point.ETCD, Effect.HANG, {"action": "promote"}, times=None))
    ask(world, "talos-neo").call("EtcdLeaveCluster")
    ask(world, "talos-neo").call("Reboot")
    world.settle()
    learners = [
        member.hostname for member in ask(world).call("EtcdMemberList").members if member.is_learner
    ]
    assert learners == ["talos-neo"]


def test_a_member_that_is_ill_shows_it_until_the_fault_is_gone(world: World) -> None:
    fault = world.faults.add(
        Fault(Point.ETCD, Effect.FAIL, {"action": "run", "machine": "talos-neo"}, times=None)
    )
    world.talos.look_around()
    assert machine(world, "talos-neo").state.services["etcd"].is_healthy is False
    assert machine(world, "talos-trinity").state.services["etcd"].is_healthy is True
    world.faults.remove(fault.number)
    world.talos.look_around()
    assert machine(world, "talos-neo").state.services["etcd"].is_healthy is True


def test_a_cluster_is_recovered_from_its_own_snapshot(world: World) -> None:
    (cluster,) = world.state.talos.etcd.values()
    cluster.keyspace.put(b"/registry/configmaps/default/kept", b'{"kind":"ConfigMap"}')
    content = b"".join(value.bytes for value in ask(world).stream("EtcdSnapshot"))
    for one in world.talos.machines:
        acting.reset(one, frozenset({"partitions"}), ["EPHEMERAL"], [])
    world.settle()
    first = machine(world, "talos-trinity")
    assert first.state.stage is Stage.BOOTING
    assert first.state.services["etcd"].state == "Preparing"
    ask(world).upload("EtcdRecover", content)
    ask(world).call("Bootstrap", recover_etcd=True)
    world.settle()
    again = next(one for one in world.state.talos.etcd.values() if one is not cluster)
    assert again.keyspace.range(b"/registry/configmaps/default/kept").items[0].value
    assert len(again.members) == 3
    assert all(machine.state.stage is Stage.RUNNING for machine in world.talos.machines)


def test_bootstrap_is_refused_once_there_is_data(world: World) -> None:
    with pytest.raises(Refusal) as caught:
        ask(world).call("Bootstrap")
    assert caught.value.code is GrpcCode.ALREADY_EXISTS
    assert caught.value.message == "etcd data directory is not empty"


def test_bootstrap_is_accepted_again_until_there_is_data(world: World) -> None:
    """Recorded on Talos 1.13.9: three calls within a second all answer OK."""
    for one in world.talos.machines:
        acting.reset(one, frozenset({"partitions"}), ["EPHEMERAL"], [])
    world.settle()
    first = machine(world, "talos-trinity")
    first.state.bootstrap = {"recover": False, "skip_hash": False, "wanted": True}

    ask(world).call("Bootstrap")
    world.settle()

    with pytest.raises(Refusal, match="etcd data directory is not empty"):
        ask(world).call("Bootstrap")


def test_a_machine_that_is_cut_off_knows_that_its_etcd_is_alone(world: World) -> None:
    fault = world.faults.add(
        Fault(Point.NETWORK, Effect.FAIL, {"machine": "talos-neo"}, times=None)
    )
    world.talos.look_around()
    lost, left = machine(world, "talos-neo"), machine(world, "talos-trinity")
    assert not lost.runs("etcd")
    assert not lost.state.kubernetes.node_ready
    assert left.runs("etcd")
    assert lost.api is None
    world.faults.remove(fault.number)
    world.talos.look_around()
    world.settle()
    assert lost.runs("etcd")
    assert lost.state.kubernetes.node_ready
