"""What clients can do: with and without quorum, room and good data."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.cluster import Alarm, AlarmKind, EtcdCluster
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.space import defragment, disarm, size_in_use
from stockman_lab.etcd.transactions import Delete, Put, Range

from lab.tests.etcd.keyspaces import NOW, one_member, three_members


def client(cluster: EtcdCluster, now: float = NOW) -> EtcdClient:
    return EtcdClient(cluster, set(cluster.members), now)


def test_every_change_is_an_entry_of_the_log() -> None:
    cluster = three_members()
    index = cluster.index
    etcd = client(cluster)

    etcd.put(b"/a", b"1")
    etcd.transact([], [Put(b"/b", b"2")])
    etcd.delete(b"/a")

    assert cluster.index == index + 3
    assert {member.applied for member in cluster.members.values()} == {cluster.index}
    assert [item.key for item in etcd.range(b"/", b"\0").items] == [b"/b"]
    assert len(list(etcd.events(2, b"/", b"\0"))) == 3


def test_nothing_works_without_a_quorum() -> None:
    cluster = three_members()
    first, *_ = cluster.members
    etcd = EtcdClient(cluster, {first}, NOW)

    for action in (
        lambda: etcd.put(b"/a", b""),
        lambda: etcd.range(b"/a"),
        lambda: etcd.compact(1),
    ):
        with pytest.raises(EtcdError, match="request timed out"):
            action()


def test_leases_end_by_the_clock_of_who_asks() -> None:
    cluster = one_member()
    client(cluster).grant(7, 10)
    client(cluster).put(b"/a", b"", 7)
    client(cluster, NOW + 5).renew(7)

    assert client(cluster, NOW + 14).range(b"/a").count == 1
    assert client(cluster, NOW + 15).range(b"/a").count == 0
    with pytest.raises(EtcdError, match="requested lease not found"):
        client(cluster, NOW + 15).revoke(7)


def test_a_full_database_raises_an_alarm_and_is_read_only() -> None:
    cluster = one_member()
    cluster.quota = 100_000
    etcd = client(cluster)
    etcd.put(b"/a", bytes(60_000))

    for _ in range(2):
        with pytest.raises(EtcdError, match="database space exceeded"):
            etcd.put(b"/b", bytes(60_000))

    assert cluster.alarms == [Alarm(cluster.leader, AlarmKind.NOSPACE)]
    assert etcd.range(b"/a").count == 1
    assert etcd.delete(b"/a") == 1
    assert etcd.transact([], [Delete(b"/a")]).revision == 3


def test_a_full_database_is_rescued_by_compaction_defragmentation_and_disarming() -> None:
    cluster = one_member()
    cluster.quota = 200_000
    etcd = client(cluster)
    for _ in range(3):
        etcd.put(b"/a", bytes(50_000))
    with pytest.raises(EtcdError, match="database space exceeded"):
        etcd.put(b"/a", bytes(50_000))
    etcd.compact(cluster.keyspace.revision)
    full = cluster.members[cluster.leader].db_size

    assert size_in_use(cluster) < full
    defragment(cluster, cluster.leader)
    assert disarm(cluster) == [Alarm(cluster.leader, AlarmKind.NOSPACE)]

    assert cluster.members[cluster.leader].db_size < full
    assert etcd.put(b"/a", bytes(50_000)) == cluster.keyspace.revision


def test_an_alarm_without_its_cause_removed_comes_back() -> None:
    cluster = one_member()
    cluster.quota = 1_000
    disarm(cluster)

    with pytest.raises(EtcdError, match="database space exceeded"):
        client(cluster).put(b"/a", b"")
    assert len(cluster.alarms) == 1


def test_a_corrupt_cluster_is_read_and_not_changed() -> None:
    cluster = one_member()
    client(cluster).put(b"/a", b"1")
    cluster.alarms.append(Alarm(cluster.leader, AlarmKind.CORRUPT))
    etcd = client(cluster)

    for action in (
        lambda: etcd.put(b"/a", b""),
        lambda: etcd.delete(b"/a"),
        lambda: etcd.compact(2),
        lambda: etcd.transact([], [Delete(b"/a")]),
    ):
        with pytest.raises(EtcdError, match="corrupt cluster"):
            action()
    assert etcd.range(b"/a").count == 1
    assert etcd.transact([], [Range(b"/a")]).succeeded
