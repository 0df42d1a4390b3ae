"""etcd through the API of its machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from stockman.etcd.identities import hex_id
from stockman.talos.api.transport import GrpcCode
from stockman_lab.etcd import membership, quorum, space
from stockman_lab.etcd.cluster import EtcdCluster, numbered
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.snapshots import snapshot
from stockman_lab.talos import etcd_member
from stockman_lab.talos.api.call import Call, Refusal
from stockman_lab.talos.api.registry import Fields, method, streamed
from stockman_lab.talos.services import running as services

T = TypeVar("T")
_SERVICE = "machine.MachineService"
_PIECE = 64 << 10
_TRIES, _PAUSE = 30, 10.0


def _local(call: Call) -> tuple[EtcdCluster, str, set[str]]:
    """The cluster, the member of this machine, and who is alive; refused where etcd is not up."""
    machine = call.machine
    cluster, member = etcd_member.cluster_of(machine), etcd_member.member_of(machine)
    if cluster is None or not etcd_member.is_alive(machine) or member not in cluster.members:
        raise Refusal(GrpcCode.DEADLINE_EXCEEDED, "context deadline exceeded")
    return cluster, member, etcd_member.alive(machine.land, cluster)


def _any(call: Call) -> tuple[EtcdCluster, set[str]]:
    """The cluster of the control plane, asked at any of its members."""
    for cluster in etcd_member.clusters_alive(call.machine):
        return cluster, etcd_member.alive(call.land, cluster)
    raise Refusal(GrpcCode.DEADLINE_EXCEEDED, "context deadline exceeded")


def _done(work: Callable[[], T], failed: str = "") -> T:
    """Do something; errors of etcd lose their code on their way, and get words in front."""
    try:
        return work()
    except EtcdError as error:
        raise Refusal(GrpcCode.UNKNOWN, f"{failed}: {error}" if failed else str(error)) from None


def _need_leader(cluster: EtcdCluster, alive: set[str], failed: str = "") -> None:
    """Members that know of no leader refuse what wants one at once."""
    if not quorum.leader(cluster, alive):
        text = str(EtcdError(Reason.NO_LEADER))
        raise Refusal(GrpcCode.UNKNOWN, f"{failed}: {text}" if failed else text)


@method(_SERVICE, "EtcdMemberList")
def members(call: Call) -> Fields:
    """Who is a member."""
    if call.request.query_local:
        cluster, member, alive = _local(call)
        _need_leader(cluster, alive)
        done = _done(lambda: membership.listed(cluster, alive, member))
    else:
        cluster, alive = _any(call)
        _need_leader(cluster, alive)
        done = _done(lambda: membership.listed(cluster, alive))
    rows = [
        {
            "id": numbered(key),
            "hostname": one.name,
            "peer_urls": one.peer_urls,
            "client_urls": one.client_urls,
            "is_learner": one.is_learner,
        }
        for key, one in sorted(done.items())
    ]
    return {"legacy_members": [one.name for one in done.values()], "members": rows}


@method(_SERVICE, "EtcdStatus")
def status(call: Call) -> Fields:
    """How the member of this machine is."""
    cluster, member, alive = _local(call)
    leader = quorum.leader(cluster, alive)
    found = cluster.members[member]
    errors = [] if leader else ["etcdserver: no leader"]
    errors += [
        f"memberID:{numbered(alarm.member)} alarm:{alarm.kind.name} " for alarm in cluster.alarms
    ]
    return {
        "member_status": {
            "protocol_version": found.server_version,
            "storage_version": cluster.storage_version,
            "db_size": found.db_size,
            "db_size_in_use": min(space.size_in_use(cluster), found.db_size),
            "leader": numbered(leader) if leader else 0,
            "raft_index": cluster.index,
            "raft_term": cluster.term,
            "raft_applied_index": found.applied,
            "errors": errors,
            "is_learner": found.is_learner,
            "member_id": numbered(member),
        }
    }


@method(_SERVICE, "EtcdAlarmList")
def alarms(call: Call) -> Fields:
    """Alarms that were raised."""
    cluster, _, alive = _local(call)
    _done(lambda: quorum.need_quorum(cluster, alive), "failed to list etcd alarms")
    return {"member_alarms": _alarms(cluster)}


def _alarms(cluster: EtcdCluster) -> list[Fields]:
    return [
        {"member_id": numbered(alarm.member), "alarm": alarm.kind.value} for alarm in cluster.alarms
    ]


@method(_SERVICE, "EtcdAlarmDisarm")
def disarm(call: Call) -> Fields:
    """Take all alarms back; one whose reason lasts comes again."""
    cluster, _, alive = _local(call)
    _done(lambda: quorum.need_quorum(cluster, alive), "failed to disarm etcd alarm")
    found = _alarms(cluster)
    space.disarm(cluster)
    call.land.changed()
    return {"member_alarms": found}


@method(_SERVICE, "EtcdDefragment")
async def defragment(call: Call) -> Fields:
    """Make the file of the member as small as what is in it."""
    cluster, member, _ = _local(call)
    await call.sleep(1.0)
    space.defragment(cluster, member)
    call.land.changed()
    return {}


@streamed(_SERVICE, "EtcdSnapshot")
async def take_snapshot(call: Call) -> AsyncIterator[Fields]:
    """The database as it is now, with its checksum; a member gives it without a leader too."""
    cluster, _, _ = _local(call)
    for piece in snapshot(cluster):
        for start in range(0, len(piece), _PIECE):
            yield {"bytes": piece[start : start + _PIECE]}


@method(_SERVICE, "EtcdForfeitLeadership")
def forfeit(call: Call) -> Fields:
    """Let another member lead."""
    cluster, member, alive = _local(call)
    failed = "failed to forfeit leadership"
    _need_leader(cluster, alive, f"{failed}: failed to list etcd members")
    if len(cluster.members) == 1:
        raise Refusal(GrpcCode.UNKNOWN, f"{failed}: cannot forfeit leadership, only one member")
    name = _done(lambda: quorum.forfeit(cluster, alive, member), failed)
    call.land.changed()
    return {"member": name}


@method(_SERVICE, "EtcdRemoveMemberByID")
def remove_member(call: Call) -> Fields:
    """Take a member out that is gone."""
    cluster, alive = _any(call)
    number = call.request.member_id
    member, failed = hex_id(number), f"failed to remove member {number}"
    if member not in cluster.members:
        raise Refusal(GrpcCode.NOT_FOUND, f"{failed}: {EtcdError(Reason.MEMBER_NOT_FOUND)}")
    failed = f"failed to remove member: {failed}"
    _need_leader(cluster, alive, failed)
    _done(lambda: membership.remove(cluster, alive, member), failed)
    call.land.settle(call.machine)
    return {}


@method(_SERVICE, "EtcdLeaveCluster")
async def leave(call: Call) -> Fields:
    """Leave the cluster: tried again for five minutes."""
    machine = call.machine
    for _ in range(_TRIES):
        try:
            etcd_member.leave(machine)
            break
        except etcd_member.EtcdRefused as refused:
            text = str(refused)
        await call.sleep(_PAUSE)
    else:
        number = numbered(etcd_member.member_of(machine))
        raise Refusal(
            GrpcCode.UNKNOWN, f"failed to leave cluster: failed to remove member {number}: {text}"
        )
    services.stop(machine, "etcd")
    call.land.settle(machine)
    return {}
