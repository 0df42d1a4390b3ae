"""What a member says of itself."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.cluster import Alarm, AlarmKind
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.member_status import member_status

from lab.tests.etcd.keyspaces import one_member, three_members


def test_a_new_member_is_where_a_real_one_is() -> None:
    cluster = one_member("3.7.1")

    found = member_status(cluster, set(cluster.members), cluster.leader)

    assert (found.raft_index, found.raft_term, found.applied_index) == (4, 2, 4)
    assert (found.db_size, found.db_size_in_use) == (28_672, 24_576)
    assert found.leader == found.member_id
    assert found.storage_version == "3.7.0"
    assert found.errors == ()


@pytest.mark.parametrize(("version", "behind"), [("3.6.12", " "), ("3.7.1", "")])
def test_alarms_are_among_the_errors(version: str, behind: str) -> None:
    cluster = one_member(version)
    cluster.alarms.append(Alarm("00000000000000ff", AlarmKind.NOSPACE))

    found = member_status(cluster, set(cluster.members), cluster.leader)

    assert found.errors == (f"memberID:255 alarm:NOSPACE{behind}",)


def test_a_member_without_a_quorum_answers_without_a_leader() -> None:
    cluster = three_members()
    first, second, _ = cluster.members

    found = member_status(cluster, {first}, first)

    assert found.leader == 0
    assert found.errors == ("etcdserver: no leader",)
    with pytest.raises(EtcdError, match="context deadline exceeded"):
        member_status(cluster, {first}, second)
