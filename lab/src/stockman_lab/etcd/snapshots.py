"""Snapshots that a simulated cluster gives out, and clusters that are made from snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stockman.etcd.bbolt.reader import Content
from stockman.etcd.buckets import DatabaseMetadata, StoredLease, StoredMember
from stockman.etcd.errors import BrokenDatabase, MissingChecksum, WrongChecksum
from stockman.etcd.identities import cluster_id, hex_id
from stockman.etcd.snapshot import Snapshot, read_snapshot, snapshot_pieces
from stockman_lab.etcd.cluster import (
    Alarm,
    AlarmKind,
    EtcdCluster,
    EtcdMember,
    numbered,
    refusal_to_start,
)
from stockman_lab.etcd.keyspace import FIRST_REVISION, Keyspace, Lease
from stockman_lab.etcd.membership import new_cluster
from stockman_lab.etcd.quorum import leader
from stockman_lab.etcd.space import grow


class RestoreRefused(Exception):
    """A file that no cluster can be made from; the text is that of etcd."""


def snapshot(cluster: EtcdCluster) -> Iterator[bytes]:
    """The file of a cluster as it is now, piece by piece; later changes are not in it."""
    return snapshot_pieces(content_of(cluster))


def content_of(cluster: EtcdCluster) -> Snapshot:
    """What stands in the database of a cluster now."""
    keyspace = cluster.keyspace
    beside = DatabaseMetadata(
        index=cluster.index,
        term=cluster.term,
        voters=[numbered(key) for key in cluster.stale_voters or cluster.voters],
        learners=[numbered(key) for key, member in cluster.members.items() if member.is_learner],
        storage_version=cluster.storage_version,
        cluster_version=cluster.cluster_version,
        scheduled_compaction=keyspace.compacted,
        finished_compaction=keyspace.compacted,
        members=[_stored_member(key, member) for key, member in cluster.members.items()],
        removed=[numbered(key) for key in cluster.removed],
        alarms=[(numbered(alarm.member), alarm.kind.value) for alarm in cluster.alarms],
        leases=[StoredLease(key, lease.ttl) for key, lease in keyspace.leases.items()],
        other={_bytes(name): _records_by_key(content) for name, content in cluster.kept.items()},
    )
    return Snapshot(list(keyspace.revisions), list(keyspace.values), beside)


def loaded(content: Snapshot, now: float) -> EtcdCluster:
    """The cluster that a database is of, with its members, none of them alive yet."""
    beside = content.beside
    cluster = _with_content(EtcdCluster(id=hex_id(cluster_id(_ids(beside)))), content, now)
    cluster.index, cluster.term = beside.index or 0, beside.term or 0
    for member in beside.members:
        cluster.members[hex_id(member.id)] = EtcdMember(
            name=member.name,
            peer_urls=list(member.peer_urls),
            client_urls=list(member.client_urls),
            is_learner=member.is_learner,
            started=bool(member.name),
            in_sync_at=now if member.name else None,
            has_data=bool(member.name),
        )
    cluster.removed = {hex_id(one) for one in beside.removed}
    if set(cluster.stale_voters) == set(cluster.voters):
        cluster.stale_voters.clear()
    grow(cluster, cluster.members)
    return cluster


def restored(file: Content, first: EtcdMember, now: float, *, checked: bool = True) -> EtcdCluster:
    """A cluster of one new member with the content of a file; raises `RestoreRefused`.

    Who was a member before is forgotten. Revisions, alarms, leases and versions stay.
    """
    content = _read(file, checked=checked)
    refusal = refusal_to_start(content.beside, first.server_version)
    if refusal:
        raise RestoreRefused(refusal)
    cluster = new_cluster(first.name, first.peer_urls, first.client_urls, first.server_version, now)
    version = cluster.cluster_version
    _with_content(cluster, content, now)
    cluster.cluster_version = cluster.storage_version = version
    leader(cluster, cluster.members)
    grow(cluster, cluster.members)
    return cluster


def _read(file: Content, *, checked: bool) -> Snapshot:
    try:
        content = read_snapshot(file, checked=checked)
        for _ in content.records():
            pass
    except MissingChecksum:
        raise RestoreRefused("snapshot missing hash but --skip-hash-check=false") from None
    except WrongChecksum as error:
        expected, got = (" ".join(map(str, one)) for one in (error.expected, error.found))
        raise RestoreRefused(f"expected sha256 [{expected}], got [{got}]") from None
    except BrokenDatabase as error:
        raise RestoreRefused(f"snapshot file integrity check failed: {error}") from None
    return content


def _with_content(cluster: EtcdCluster, content: Snapshot, now: float) -> EtcdCluster:
    beside = content.beside
    cluster.keyspace = Keyspace(
        revision=max(content.revision, FIRST_REVISION),
        compacted=max(beside.scheduled_compaction, beside.finished_compaction),
        revisions=list(content.revisions),
        values=list(content.values),
        leases={lease.id: Lease(lease.ttl, now + lease.ttl) for lease in beside.leases},
    )
    cluster.alarms = [
        Alarm(hex_id(member), AlarmKind(kind))
        for member, kind in beside.alarms
        if kind in (one.value for one in AlarmKind)
    ]
    cluster.cluster_version, cluster.storage_version = (
        beside.cluster_version,
        beside.storage_version,
    )
    cluster.stale_voters = [hex_id(voter) for voter in beside.voters or ()]
    cluster.kept = {_text(name): _buckets_by_name(found) for name, found in beside.other.items()}
    return cluster


def _stored_member(key: str, member: EtcdMember) -> StoredMember:
    urls: tuple[Sequence[str], Sequence[str]] = (member.peer_urls, member.client_urls)
    peers, clients = (tuple(url) for url in urls)
    return StoredMember(numbered(key), member.name, peers, clients, member.is_learner)


def _ids(beside: DatabaseMetadata) -> list[int]:
    return [member.id for member in beside.members]


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _text(content: bytes) -> str:
    return content.decode("latin-1")


def _records_by_key(content: dict[str, bytes]) -> dict[bytes, bytes]:
    return {_bytes(key): value for key, value in content.items()}


def _buckets_by_name(content: dict[bytes, bytes]) -> dict[str, bytes]:
    return {_text(key): value for key, value in content.items()}
