"""Members come as learners, are promoted, and go; under the conditions that etcd has for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stockman.etcd.identities import added_member_id, cluster_id, hex_id, member_id
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember, minor_of
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.quorum import agreed, leader, living_voters, need_quorum
from stockman_lab.etcd.space import grow

_MOST_LEARNERS = 1


def new_cluster(
    name: str, peer_urls: Sequence[str], client_urls: Sequence[str], version: str, now: float
) -> EtcdCluster:
    """A cluster of one member, as Talos bootstraps it."""
    number = member_id(peer_urls)
    key = hex_id(number)
    etcd_cluster = EtcdCluster(id=hex_id(cluster_id([number])), leader=key)
    etcd_cluster.members[key] = EtcdMember(
        name=name,
        peer_urls=list(peer_urls),
        client_urls=list(client_urls),
        started=True,
        in_sync_at=now,
        has_data=True,
        server_version=version,
    )
    etcd_cluster.cluster_version = etcd_cluster.storage_version = minor_of(version)
    etcd_cluster.kept["auth"] = {"authRevision": (1).to_bytes(8, "big")}
    leader(etcd_cluster, {key})
    grow(etcd_cluster, {key})
    return etcd_cluster


def listed(cluster: EtcdCluster, alive: Collection[str], asked: str = "") -> dict[str, EtcdMember]:
    """All members by id. One member asked alone says what it knows, also without a quorum."""
    if not asked:
        need_quorum(cluster, alive)
    elif asked not in alive:
        raise EtcdError(Reason.DEADLINE)
    return dict(sorted(cluster.members.items()))


def join(
    cluster: EtcdCluster, alive: Collection[str], name: str, peer_urls: Sequence[str], now: float
) -> str:
    """Add a machine that has no data, as Talos does: whoever had its name goes first."""
    need_quorum(cluster, alive)
    stale = cluster.named(name)
    if stale is not None:
        remove(cluster, alive, stale)
    return add_learner(cluster, alive, peer_urls, now)


def add_learner(
    cluster: EtcdCluster, alive: Collection[str], peer_urls: Sequence[str], now: float
) -> str:
    """Add a member that does not vote yet and has not started; returns its id."""
    need_quorum(cluster, alive)
    voters = cluster.voters
    if len(living_voters(cluster, alive)) < len(voters):
        raise EtcdError(Reason.UNHEALTHY)
    key = hex_id(added_member_id(peer_urls, now))
    if key in cluster.members or key in cluster.removed:
        raise EtcdError(Reason.MEMBER_EXISTS)
    known = {url for member in cluster.members.values() for url in member.peer_urls}
    if known.intersection(peer_urls):
        raise EtcdError(Reason.PEER_URLS_EXIST)
    if len(cluster.members) - len(voters) >= _MOST_LEARNERS:
        raise EtcdError(Reason.TOO_MANY_LEARNERS)
    cluster.members[key] = EtcdMember(name="", peer_urls=list(peer_urls), is_learner=True)
    _reconfigure(cluster, alive)
    return key


def start(
    cluster: EtcdCluster, member: str, name: str, client_urls: Sequence[str], in_sync_at: float
) -> None:
    """Let a member start and tell its name; at `in_sync_at` it has what the leader has."""
    found = cluster.member(member)
    found.name, found.client_urls = name, list(client_urls)
    found.started = found.has_data = True
    found.in_sync_at = in_sync_at
    found.db_size = max(one.db_size for one in cluster.members.values())
    cluster.index += 1


def is_in_sync(cluster: EtcdCluster, member: str, now: float) -> bool:
    """Whether a member holds what the leader holds."""
    found = cluster.member(member)
    return found.started and found.in_sync_at is not None and found.in_sync_at <= now


def promote(cluster: EtcdCluster, alive: Collection[str], member: str, now: float) -> None:
    """Let a learner vote."""
    need_quorum(cluster, alive)
    found = cluster.member(member)
    if not found.is_learner:
        raise EtcdError(Reason.NOT_A_LEARNER)
    if member not in alive or not is_in_sync(cluster, member, now):
        raise EtcdError(Reason.LEARNER_NOT_READY)
    voters = cluster.voters.values()
    if sum(voter.started for voter in voters) + 1 < (len(voters) + 1) // 2 + 1:
        raise EtcdError(Reason.NOT_ENOUGH_STARTED)
    found.is_learner = False
    _reconfigure(cluster, alive)


def remove(cluster: EtcdCluster, alive: Collection[str], member: str) -> None:
    """Take a member out for ever; refused where the others could not go on."""
    need_quorum(cluster, alive)
    found = cluster.member(member)
    if not found.is_learner:
        _may_remove_voter(cluster, alive, member)
    del cluster.members[member]
    cluster.removed.add(member)
    cluster.alarms = [alarm for alarm in cluster.alarms if alarm.member != member]
    _reconfigure(cluster, alive)


def _may_remove_voter(cluster: EtcdCluster, alive: Collection[str], member: str) -> None:
    voters = cluster.voters
    left = [voter for key, voter in voters.items() if key != member]
    if sum(one.started for one in left) < len(left) // 2 + 1:
        raise EtcdError(Reason.NOT_ENOUGH_STARTED)
    if member not in alive:
        return
    if len(living_voters(cluster, alive)) - 1 < 1 + (len(voters) - 1) // 2:
        raise EtcdError(Reason.UNHEALTHY)


def leave(cluster: EtcdCluster, alive: Collection[str], member: str) -> None:
    """Let a member give up its place and its data, as Talos does before a machine is reset."""
    found = cluster.member(member)
    remove(cluster, alive, member)
    found.has_data = False


def rename(cluster: EtcdCluster, alive: Collection[str], member: str, name: str) -> None:
    """Let a member have another name, as after a start of a machine that was renamed."""
    need_quorum(cluster, alive)
    cluster.member(member).name = name
    agreed(cluster, alive)


def _reconfigure(cluster: EtcdCluster, alive: Collection[str]) -> None:
    cluster.stale_voters.clear()
    agreed(cluster, alive)
