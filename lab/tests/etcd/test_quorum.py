"""Who leads, and what works without a quorum."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.membership import add_learner, listed
from stockman_lab.etcd.quorum import forfeit, has_quorum, leader, move_leader, quorum

from lab.tests.etcd.keyspaces import NOW, one_member, three_members, urls


def test_more_than_half_of_the_voters_are_needed() -> None:
    cluster = three_members()
    first, second, third = cluster.members

    assert quorum(cluster) == 2
    assert has_quorum(cluster, {first, third})
    assert not has_quorum(cluster, {second})


def test_learners_do_not_count() -> None:
    cluster = three_members()
    learner = add_learner(cluster, set(cluster.members), urls(4)[0], NOW + 9)
    first, *_ = cluster.members

    assert quorum(cluster) == 2
    assert not has_quorum(cluster, {first, learner})


def test_somebody_else_leads_when_the_leader_is_gone() -> None:
    cluster = three_members()
    everybody = set(cluster.members)
    old, term = leader(cluster, everybody), cluster.term

    new = leader(cluster, everybody - {old})

    assert new not in ("", old)
    assert cluster.term == term + 1
    assert leader(cluster, everybody) == new
    assert cluster.term == term + 1


def test_nobody_leads_without_a_quorum_and_terms_stay() -> None:
    cluster = three_members()
    first, *_ = cluster.members
    term = cluster.term

    assert leader(cluster, {first}) == ""
    assert cluster.term == term
    with pytest.raises(EtcdError, match="request timed out"):
        listed(cluster, {first})
    with pytest.raises(EtcdError, match="context deadline exceeded"):
        listed(cluster, set())
    assert len(listed(cluster, {first}, asked=first)) == 3


def test_who_is_not_there_falls_behind_and_catches_up() -> None:
    cluster = three_members()
    first, second, third = cluster.members
    leader(cluster, set(cluster.members))

    move_leader(cluster, {first, second}, second)

    assert cluster.members[third].applied < cluster.index
    leader(cluster, set(cluster.members))
    assert cluster.members[third].applied == cluster.index


def test_leadership_moves_to_the_first_other_member() -> None:
    cluster = three_members()
    everybody = set(cluster.members)
    old = leader(cluster, everybody)

    name = forfeit(cluster, everybody, old)

    assert cluster.leader == min(everybody - {old})
    assert name == cluster.members[cluster.leader].name
    assert forfeit(cluster, everybody, old) == ""


def test_one_member_cannot_give_the_leadership_away() -> None:
    cluster = one_member()

    with pytest.raises(EtcdError, match="only one member"):
        forfeit(cluster, set(cluster.members), cluster.leader)


def test_learners_and_the_dead_cannot_lead() -> None:
    cluster = three_members()
    everybody = set(cluster.members)
    old = leader(cluster, everybody)
    other = min(everybody - {old})
    learner = add_learner(cluster, everybody, urls(4)[0], NOW + 9)

    with pytest.raises(EtcdError, match="bad leader transferee"):
        move_leader(cluster, everybody, learner)
    with pytest.raises(EtcdError, match="leader transfer took too long"):
        move_leader(cluster, everybody - {other}, other)
