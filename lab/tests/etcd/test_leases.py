"""Leases end when somebody who asks brings a time at which they are over."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.keyspace import Keyspace, Lease
from stockman_lab.etcd.leases import attached, expire, grant, renew, revoke

NOW = 100.0


def leased() -> Keyspace:
    keyspace = Keyspace()
    grant(keyspace, 7, 10, NOW)
    keyspace.put(b"/b", b"", 7)
    keyspace.put(b"/a", b"", 7)
    keyspace.put(b"/c", b"")
    return keyspace


def test_keys_go_with_their_lease_at_one_revision() -> None:
    keyspace = leased()

    assert revoke(keyspace, 7) == 5
    assert [item.key for item in keyspace.range(b"/", b"\0").items] == [b"/c"]
    assert keyspace.leases == {}


def test_time_alone_ends_nothing_before_it_is_over() -> None:
    keyspace = leased()

    assert expire(keyspace, NOW + 9.9) is False
    assert expire(keyspace, NOW + 10) is True
    assert keyspace.range(b"/", b"\0").count == 1


def test_a_renewed_lease_begins_anew() -> None:
    keyspace = leased()
    renew(keyspace, 7, NOW + 9)

    assert expire(keyspace, NOW + 18) is False


def test_a_key_that_was_put_without_its_lease_stays() -> None:
    keyspace = leased()
    keyspace.put(b"/a", b"mine")

    assert attached(keyspace, 7) == [b"/b"]
    revoke(keyspace, 7)
    assert keyspace.get(b"/a") is not None


def test_leases_that_nobody_granted() -> None:
    keyspace = leased()

    with pytest.raises(EtcdError, match="requested lease not found"):
        renew(keyspace, 8, NOW)
    with pytest.raises(EtcdError, match="requested lease not found"):
        keyspace.put(b"/d", b"", 8)
    with pytest.raises(EtcdError, match="lease already exists"):
        grant(keyspace, 7, 10, NOW)
    with pytest.raises(EtcdError, match="too large lease TTL"):
        grant(keyspace, 8, 10**10, NOW)


def test_leases_end_one_after_the_other_though_some_were_renewed() -> None:
    keyspace = leased()
    for number, ttl in ((8, 20), (9, 5)):
        grant(keyspace, number, ttl, NOW)
    renew(keyspace, 9, NOW + 4)

    assert expire(keyspace, NOW + 8) is False
    assert expire(keyspace, NOW + 9) is True
    assert list(keyspace.leases) == [7, 8]
    assert expire(keyspace, NOW + 30) is True
    assert keyspace.leases == {}


def test_leases_of_a_keyspace_that_was_loaded_end_too() -> None:
    keyspace = Keyspace(leases={3: Lease(10, NOW + 10), 4: Lease(5, NOW + 5)})

    assert expire(keyspace, NOW + 5) is True
    assert list(keyspace.leases) == [3]
