"""What goes wrong with machines in upgrades can be brought about: etcd."""

from __future__ import annotations

import pytest
from stockman_lab.core.faults import Effect, Point
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.keyspace import compact
from stockman_lab.talos import etcd_member
from stockman_lab.talos.machine import Machine
from stockman_lab.world.world import World

from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from lab.tests.talos.troubles import installer, let, nic_of, reconfigured, refused
from stockman.talos.api.transport import GrpcCode

NAMES = ("talos-neo", "talos-niobe", "talos-trinity")


def ask(world: World, name: str = "talos-trinity") -> Asking:
    return Asking(world, machine(world, name))


def ill(world: World, name: str) -> None:
    let(world, Point.ETCD, Effect.FAIL, match={"machine": name, "action": "run"}, times=None)


def health(world: World) -> dict[str, bool]:
    """Of etcd on every machine, as its list of services tells."""
    return {
        machine.hostname: next(
            row.health.healthy
            for row in Asking(world, machine).call("ServiceList").services
            if row.id == "etcd"
        )
        for machine in world.talos.machines
    }


def test_a_member_is_ill_before_anything_begins_and_an_old_upgrade_is_refused() -> None:
    world = staged("three-node", "1.12.1")
    ill(world, "talos-neo")
    assert health(world) == {"talos-neo": False, "talos-niobe": True, "talos-trinity": True}
    refusal = refused(ask(world), "Upgrade", image=installer("1.13.9"))
    assert "is not healthy" in refusal.message


def test_a_member_falls_ill_while_another_one_is_down() -> None:
    world = staged("three-node")
    world.talos.power_off(machine(world, "talos-niobe"))
    assert ask(world).call("EtcdMemberList").members
    ill(world, "talos-neo")
    assert refused(ask(world), "EtcdAlarmList").code in (
        GrpcCode.UNKNOWN,
        GrpcCode.UNAVAILABLE,
        GrpcCode.DEADLINE_EXCEEDED,
    )
    assert "etcdserver: no leader" in ask(world).call("EtcdStatus").member_status.errors


def test_a_learner_is_never_promoted_and_can_be_taken_out() -> None:
    world = staged("three-node")
    let(world, Point.ETCD, Effect.HANG, match={"action": "promote"})
    ask(world, "talos-neo").call("EtcdLeaveCluster")
    ask(world, "talos-neo").call("Reboot")
    world.settle()
    (learner,) = [
        member for member in ask(world).call("EtcdMemberList").members if member.is_learner
    ]
    assert learner.hostname == "talos-neo"
    assert ask(world, "talos-neo").call("EtcdStatus").member_status.is_learner
    ask(world).call("EtcdRemoveMemberByID", member_id=learner.id)
    assert len(ask(world).call("EtcdMemberList").members) == 2


def test_a_learner_is_refused_some_times_and_votes_then() -> None:
    world = staged("three-node")
    let(world, Point.ETCD, Effect.FAIL, match={"action": "promote"}, times=3)
    ask(world, "talos-neo").call("EtcdLeaveCluster")
    ask(world, "talos-neo").call("Reboot")
    world.settle()
    assert not [member for member in ask(world).call("EtcdMemberList").members if member.is_learner]
    log = [one.text for one in machine(world, "talos-neo").state.logs["etcd"]]
    assert sum("error promoting" in text for text in log) == 3


def test_a_database_is_full_and_raises_an_alarm_until_there_is_room() -> None:
    world = staged("three-node")
    (cluster,) = world.state.talos.etcd.values()
    cluster.quota = 4 << 20
    client = EtcdClient(cluster, etcd_member.alive(world.talos, cluster), world.now)

    def write_much() -> None:
        for number in range(8):
            client.put(b"/registry/configmaps/default/large", bytes(1 << 20) + bytes([number]))

    with pytest.raises(EtcdError, match="space"):
        write_much()
    alarms = ask(world).call("EtcdAlarmList").member_alarms
    assert {alarm.alarm for alarm in alarms} == {1}
    status = ask(world).call("EtcdStatus").member_status
    assert any("alarm:NOSPACE" in error for error in status.errors)
    compact(cluster.keyspace, cluster.keyspace.revision)
    before = status.db_size
    for name in NAMES:
        ask(world, name).call("EtcdDefragment")
    ask(world).call("EtcdAlarmDisarm")
    assert ask(world).call("EtcdStatus").member_status.db_size < before
    assert not ask(world).call("EtcdAlarmList").member_alarms
    client.put(b"/registry/configmaps/default/small", b"wool")


def test_a_slow_disk_takes_its_time_until_etcd_is_there() -> None:
    taken = []
    for factor in (1.0, 20.0):
        world = staged("three-node")
        result = machine(world, "talos-neo")
        result.state.timings["etcd"] = factor
        begun, boot = world.now, result.state.boot_id
        Asking(world, result).call("Reboot")
        while result.state.boot_id == boot or not is_healthy(result):
            assert world.timeline.next_at is not None
            world.timeline.run_until(world.timeline.next_at)
        taken.append(world.now - begun)
    assert taken[1] > taken[0] + 150.0


def is_healthy(machine: Machine) -> bool:
    service = machine.service("etcd")
    return service is not None and service.is_healthy is True


def test_a_leader_that_comes_and_goes_makes_terms_pass() -> None:
    world = staged("three-node")
    before = ask(world).call("EtcdStatus").member_status.raft_term
    for _ in range(3):
        (cluster,) = world.state.talos.etcd.values()
        leader = cluster.members[cluster.leader].name
        fault = let(
            world,
            Point.ETCD,
            Effect.FAIL,
            match={"machine": leader, "action": "run"},
            times=None,
        )
        world.take_back(fault.number)
    assert ask(world).call("EtcdStatus").member_status.raft_term == before + 3


def test_two_control_planes_with_one_host_name_take_each_others_place() -> None:
    world = staged("three-node")
    first, second = machine(world, "talos-neo"), machine(world, "talos-niobe")
    before = {member.hostname: member.id for member in ask(world).call("EtcdMemberList").members}
    named = second.state.config.replace(b"talos-niobe", b"talos-neo")
    Asking(world, second).call("ApplyConfiguration", data=named, mode="STAGED")
    wiped = [{"label": "EPHEMERAL", "wipe": True}]
    Asking(world, second).call("Reset", graceful=True, reboot=True, system_partitions_to_wipe=wiped)
    world.settle()
    after = {member.hostname: member.id for member in ask(world).call("EtcdMemberList").members}
    assert (first.hostname, second.hostname) == ("talos-neo", "talos-neo")
    assert set(after) == {"talos-neo", "talos-trinity"}
    assert after["talos-neo"] != before["talos-neo"]
    (lost,) = [
        service
        for service in Asking(world, first).call("ServiceList").services
        if service.id == "etcd"
    ]
    assert lost.state == "Failed"
    assert "permanently removed" in lost.events.events[-1].msg


def test_a_member_whose_cable_is_pulled_is_cut_off_from_the_others() -> None:
    world = staged("three-node")
    result = machine(world, "talos-neo")
    reconfigured(world, result, net0=f"{nic_of(world, result)},link_down=1")
    assert machine(world, "talos-neo").state.services["etcd"].is_healthy is False
    assert is_healthy(machine(world, "talos-trinity"))
    assert ask(world).call("EtcdMemberList").members
