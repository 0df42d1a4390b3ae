"""Members that come and go."""

from __future__ import annotations

import hashlib
import json

import pytest
from stockman_lab.core.saved import plain, restored
from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.membership import add_learner, join, leave, promote, remove, rename, start

from lab.tests.etcd.keyspaces import NOW, join_and_promote, one_member, three_members, urls


def everybody(cluster: EtcdCluster) -> set[str]:
    return set(cluster.members)


def test_a_new_cluster_has_the_ids_of_an_empty_token() -> None:
    cluster = one_member()
    own = hashlib.sha1(b"https://10.42.0.11:2380", usedforsecurity=False).digest()[:8]

    assert list(cluster.members) == [own.hex()]
    assert cluster.leader == own.hex()
    assert cluster.id == hashlib.sha1(own, usedforsecurity=False).hexdigest()[:16]


def test_a_member_joins_as_a_learner_and_is_promoted() -> None:
    cluster = one_member()
    peers, clients = urls(2)

    added = join(cluster, everybody(cluster), "ctrl-02", peers, NOW)

    assert cluster.members[added].name == ""
    assert len(cluster.voters) == 1
    start(cluster, added, "ctrl-02", clients, NOW + 10)
    with pytest.raises(EtcdError, match="in sync with leader"):
        promote(cluster, everybody(cluster), added, NOW + 9)
    promote(cluster, everybody(cluster), added, NOW + 10)
    assert len(cluster.voters) == 2
    assert cluster.members[added].db_size > 0
    with pytest.raises(EtcdError, match=r"can only promote a learner member$"):
        promote(cluster, everybody(cluster), added, NOW + 11)


def test_a_learner_that_is_not_alive_is_not_in_sync() -> None:
    cluster = one_member()
    alive = everybody(cluster)
    peers, clients = urls(2)
    added = join(cluster, alive, "ctrl-02", peers, NOW)
    start(cluster, added, "ctrl-02", clients, NOW)

    with pytest.raises(EtcdError, match="in sync with leader"):
        promote(cluster, alive, added, NOW + 1)


def test_there_is_one_learner_at_a_time() -> None:
    cluster = one_member()
    add_learner(cluster, everybody(cluster), urls(2)[0], NOW)

    with pytest.raises(EtcdError, match="too many learner members"):
        add_learner(cluster, {cluster.leader}, urls(3)[0], NOW)
    with pytest.raises(EtcdError, match="Peer URLs already exists"):
        add_learner(cluster, {cluster.leader}, urls(2)[0], NOW + 1)
    with pytest.raises(EtcdError, match="member ID already exist"):
        add_learner(cluster, {cluster.leader}, urls(2)[0], NOW)


def test_nobody_is_added_while_a_voter_is_down() -> None:
    cluster = three_members()
    first, second, _ = cluster.members

    with pytest.raises(EtcdError, match="unhealthy cluster"):
        add_learner(cluster, {first, second}, urls(4)[0], NOW)


def test_a_machine_of_the_same_name_takes_the_place_of_the_old_one() -> None:
    cluster = three_members()
    first, second, third = cluster.members

    added = join(cluster, {first, second}, "ctrl-03", urls(3)[0], NOW + 99)

    assert third in cluster.removed
    assert set(cluster.members) == {first, second, added}


def test_a_dead_voter_can_be_removed_and_a_needed_one_cannot() -> None:
    cluster = three_members()
    first, second, third = cluster.members

    with pytest.raises(EtcdError, match="unhealthy cluster"):
        remove(cluster, {first, second}, second)
    remove(cluster, {first, second}, third)
    assert len(cluster.members) == 2


def test_two_members_need_both() -> None:
    cluster = three_members()
    first, second, third = cluster.members
    remove(cluster, everybody(cluster), third)

    with pytest.raises(EtcdError, match="request timed out"):
        remove(cluster, {first}, second)


def test_the_last_member_cannot_be_removed() -> None:
    cluster = one_member()

    with pytest.raises(EtcdError, match="not enough started members"):
        remove(cluster, everybody(cluster), cluster.leader)
    with pytest.raises(EtcdError, match="member not found"):
        remove(cluster, everybody(cluster), "0000000000000001")


def test_a_leader_that_leaves_is_followed_by_another() -> None:
    cluster = three_members()
    old, term = cluster.leader, cluster.term
    member = cluster.members[old]

    leave(cluster, everybody(cluster), old)

    assert cluster.leader in cluster.members
    assert cluster.term == term + 1
    assert member.has_data is False
    assert old in cluster.removed


def test_who_left_comes_back_with_another_id() -> None:
    cluster = three_members()
    _, _, third = cluster.members
    leave(cluster, everybody(cluster), third)

    assert join_and_promote(cluster, 3 + 1) != third


def test_a_renamed_member_keeps_its_id() -> None:
    cluster = three_members()
    _, second, _ = cluster.members

    rename(cluster, everybody(cluster), second, "ctrl-20")

    assert cluster.named("ctrl-20") == second


def test_a_cluster_is_saved_and_goes_on() -> None:
    cluster = three_members()
    cluster.keyspace.put(b"/a", b"\xff")

    again = restored(EtcdCluster, json.loads(json.dumps(plain(cluster))))

    assert again == cluster
    assert again.keyspace.get(b"/a") == cluster.keyspace.get(b"/a")
