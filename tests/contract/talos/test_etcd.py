"""What holds for etcd through any door."""

import hashlib
from collections.abc import AsyncIterator

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.servers.memory import MemoryClient

from lab.tests.talos.staged import staged
from stockman.model.errors import Conflict, NotFound, Rejected, StockmanError, Unreachable
from stockman.talos.api.client import TalosClient
from tests.contract.talos.doors import Backend, Stage

BACKUP = "os:etcd:backup"
NEO, NIOBE, TRINITY = "talos-neo", "talos-niobe", "talos-trinity"


async def whole(talos: TalosClient, stage: Stage, name: str = "") -> bytes:
    return b"".join([piece async for piece in talos.etcd_snapshot(stage.node(name))])


def test_members_agree_on_who_they_are_and_who_leads(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        members = await talos.etcd_members(stage.node(NEO))
        assert [member.hostname for member in members if not member.is_learner] == sorted(
            [NEO, NIOBE, TRINITY], key=lambda name: _id(members, name)
        )
        etcd_statuses = [
            await talos.etcd_status(stage.node(name)) for name in (NEO, NIOBE, TRINITY)
        ]
        assert {etcd_status.member for etcd_status in etcd_statuses} == {
            member.id for member in members
        }
        assert len({etcd_status.leader for etcd_status in etcd_statuses}) == 1
        assert sum(etcd_status.is_leader for etcd_status in etcd_statuses) == 1
        assert len({etcd_status.raft_term for etcd_status in etcd_statuses}) == 1
        assert all(
            etcd_status.errors == () and etcd_status.db_in_use <= etcd_status.db_size
            for etcd_status in etcd_statuses
        )
        assert await talos.etcd_alarms(stage.node(NEO)) == ()

    backend(staged("three-node"), story)


def _id(members: object, name: str) -> int:
    assert isinstance(members, tuple)
    return next(int(member.id) for member in members if member.hostname == name)


def test_the_leader_lets_another_lead(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        leads = [
            name
            for name in (NEO, NIOBE, TRINITY)
            if (await talos.etcd_status(stage.node(name))).is_leader
        ]
        (leader,) = leads
        new = await talos.forfeit_etcd_leadership(stage.node(leader))
        assert new in {NEO, NIOBE, TRINITY} - {leader}
        assert (await talos.etcd_status(stage.node(new))).is_leader
        assert await talos.forfeit_etcd_leadership(stage.node(leader)) == ""

    backend(staged("three-node"), story)


def test_a_member_leaves_and_another_is_removed(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node(TRINITY)
        await talos.leave_etcd(stage.node(NEO))
        assert {etcd_member.hostname for etcd_member in await talos.etcd_members(node)} == {
            NIOBE,
            TRINITY,
        }
        with pytest.raises(NotFound):
            await talos.remove_etcd_member(node, 4711)

    backend(staged("three-node"), story)


def test_a_member_without_its_machine_is_removed(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node(TRINITY)
        (gone,) = [
            etcd_member
            for etcd_member in await talos.etcd_members(node)
            if etcd_member.hostname == NEO
        ]
        stage.power_off(NEO)
        await talos.remove_etcd_member(node, gone.id)
        assert {etcd_member.hostname for etcd_member in await talos.etcd_members(node)} == {
            NIOBE,
            TRINITY,
        }

    backend(staged("three-node"), story)


def test_without_quorum_nobody_claims_that_all_is_well(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node(TRINITY)
        stage.power_off(NEO)
        stage.power_off(NIOBE)
        with pytest.raises(StockmanError):
            await talos.etcd_alarms(node)
        status = await talos.etcd_status(node)
        assert status.leader is None
        assert status.errors != ()

    backend(staged("three-node"), story)


def test_the_only_member_cannot_step_down(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        with pytest.raises(Rejected):
            await talos.forfeit_etcd_leadership(stage.node())

    backend(staged(), story)


@pytest.mark.parametrize("version", ["1.11.5", "1.14.1"])
def test_a_snapshot_has_its_checksum(backend: Backend, version: str) -> None:
    result = backend(staged("single", version), whole, BACKUP)

    assert len(result) % 512 == 32
    assert hashlib.sha256(result[:-32]).digest() == result[-32:]


def test_a_snapshot_that_was_damaged_on_its_way_is_rejected(backend: Backend) -> None:
    world = staged()
    match = {"method": "EtcdSnapshot"}
    world.faults.add(Fault(Point.TALOS_CALL, Effect.CORRUPT, match, times=None))

    with pytest.raises(Rejected) as caught:
        backend(world, whole)

    assert caught.value.problem.code == "talos.answer"


def test_a_snapshot_that_is_cut_off_is_none(backend: Backend) -> None:
    world = staged()
    match = {"method": "EtcdSnapshot"}
    world.faults.add(Fault(Point.TALOS_CALL, Effect.CUT, match, times=None))

    with pytest.raises(Unreachable):
        backend(world, whole)


def test_defragmenting_and_disarming_are_done(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        await talos.defragment_etcd(node)
        await talos.disarm_etcd(node)
        status = await talos.etcd_status(node)
        assert status.db_size == pytest.approx(status.db_in_use, rel=0.5)

    backend(staged(), story)


def test_a_cluster_that_is_there_is_not_begun_again(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> bool:
        return await talos.bootstrap(stage.node())

    assert backend(staged(), story) is False


def test_a_cluster_is_begun_from_a_snapshot_that_was_sent(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        node = stage.node()
        with pytest.raises(Conflict):
            await talos.bootstrap(node, recover=True)
        await talos.send_etcd_snapshot(node, pieces())
        assert await talos.bootstrap(node, recover=True) is True
        stage.settle()
        assert (await talos.machine_status(node)).is_up
        assert [etcd_member.hostname for etcd_member in await talos.etcd_members(node)] == [
            "talos-1"
        ]

    async def pieces() -> AsyncIterator[bytes]:
        yield content[:100]
        yield content[100:]

    content, world = backend(staged(), whole), staged(bootstrap=False)
    name, cluster = next(iter(world.clusters.items()))
    ((vmid, guest),) = cluster.state.guests.items()
    MemoryClient(world, name).post(f"/nodes/{guest.node}/qemu/{vmid}/status/start")
    world.settle()
    backend(world, story)


def test_a_bootstrap_that_comes_too_early_is_a_conflict(backend: Backend) -> None:
    async def story(talos: TalosClient, stage: Stage) -> None:
        stage.machine().state.services["cri"].state = "Waiting"
        with pytest.raises(Conflict) as caught:
            await talos.bootstrap(stage.node())
        assert caught.value.problem.code == "talos.state"

    backend(staged(), story)
