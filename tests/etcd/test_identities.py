"""Ids of members and clusters, by those that etcd gave itself."""

from __future__ import annotations

from stockman.etcd.identities import added_member_id, cluster_id, hex_id, member_id


def test_the_ids_of_an_etcd_with_its_own_settings() -> None:
    member = member_id(["http://localhost:2380"], "etcd-cluster")

    assert hex_id(member) == "8e9e05c52164694d"
    assert hex_id(cluster_id([member])) == "cdf818194e3a8c32"


def test_addresses_count_in_any_order() -> None:
    one, other = "https://10.42.0.11:2380", "https://10.42.0.12:2380"

    assert member_id([one, other]) == member_id([other, one])
    assert member_id([one]) != member_id([other])


def test_the_second_at_which_a_member_is_added_counts() -> None:
    urls = ["https://10.42.0.11:2380"]

    assert added_member_id(urls, 5.2) == added_member_id(urls, 5.9)
    assert added_member_id(urls, 5.9) != added_member_id(urls, 6.0)


def test_ids_have_sixteen_digits() -> None:
    assert hex_id(255) == "00000000000000ff"
