"""Snapshots of simulated clusters, and clusters from snapshots."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.cluster import AlarmKind, EtcdCluster, EtcdMember
from stockman_lab.etcd.membership import add_learner
from stockman_lab.etcd.snapshots import RestoreRefused, content_of, loaded, restored, snapshot

from lab.tests.etcd.keyspaces import HISTORIES, NOW, one_member, urls, with_history
from stockman.etcd.snapshot import read_snapshot
from stockman.etcd.status import snapshot_status

LATER = NOW + 3_600


def saved(cluster: EtcdCluster) -> bytes:
    return b"".join(snapshot(cluster))


def first(version: str = "3.6.12") -> EtcdMember:
    peers, clients = urls(9)
    return EtcdMember("ctrl-09", peers, clients, server_version=version)


@pytest.mark.parametrize("history", HISTORIES)
def test_a_loaded_cluster_gives_the_same_snapshot(history: str) -> None:
    file = saved(with_history(history))

    assert saved(loaded(read_snapshot(file), LATER)) == file


@pytest.mark.parametrize("history", HISTORIES)
def test_a_restored_cluster_has_one_new_member_and_the_old_content(history: str) -> None:
    cluster = with_history(history)

    result = restored(saved(cluster), first(), LATER)

    assert [member.name for member in result.members.values()] == ["ctrl-09"]
    assert result.leader in result.members
    assert result.removed == set()
    assert result.id != cluster.id
    assert result.keyspace.revision == cluster.keyspace.revision
    assert result.keyspace.range(b"\0", b"\0") == cluster.keyspace.range(b"\0", b"\0")
    assert [alarm.kind for alarm in result.alarms] == [AlarmKind.NOSPACE]
    assert {lease.expires_at - LATER for lease in result.keyspace.leases.values()} == {
        float(lease.ttl) for lease in result.keyspace.leases.values()
    }


def test_a_restored_cluster_names_old_voters_until_members_change() -> None:
    cluster = with_history("empty")
    result = restored(saved(cluster), first(), LATER)

    assert sorted(content_of(result).beside.voters or ()) == sorted(
        int(member, 16) for member in cluster.members
    )
    add_learner(result, set(result.members), urls(10)[0], LATER)
    assert content_of(result).beside.voters == [int(result.leader, 16)]


def test_a_snapshot_is_of_the_moment_at_which_it_was_asked_for() -> None:
    cluster = one_member()
    cluster.keyspace.put(b"/a", b"1")
    pieces = snapshot(cluster)
    first_piece = next(pieces)
    cluster.keyspace.put(b"/b", b"2")

    found = read_snapshot(first_piece + b"".join(pieces))

    assert found.revision == 2


def test_a_copy_without_a_check_sum_is_restored_unchecked_only() -> None:
    raw = saved(with_history("many"))[:-32]

    assert restored(raw, first(), LATER, checked=False).keyspace.revision == 3_001
    with pytest.raises(RestoreRefused, match=r"snapshot missing hash but --skip-hash-check=false"):
        restored(raw, first(), LATER)


def test_a_wrong_check_sum_is_refused_or_ignored() -> None:
    file = saved(one_member())
    wrong = file[:-1] + bytes([file[-1] ^ 1])

    with pytest.raises(RestoreRefused, match=r"expected sha256 \[\d+ .*\], got \[\d+ .*\]"):
        restored(wrong, first(), LATER)
    assert restored(wrong, first(), LATER, checked=False).leader


def test_a_broken_file_is_refused() -> None:
    with pytest.raises(RestoreRefused, match="integrity check failed"):
        restored(b"sheep" * 512, first(), LATER, checked=False)


def test_an_older_etcd_does_not_start_on_newer_data() -> None:
    file = saved(one_member("3.7.1"))

    with pytest.raises(RestoreRefused, match=r'version "3\.7\.0" is not supported'):
        restored(file, first("3.6.12"), LATER)
    newer = restored(saved(one_member("3.6.12")), first("3.7.1"), LATER)
    assert snapshot_status(saved(newer)).version == "3.7.0"
