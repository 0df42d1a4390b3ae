"""Transactions: conditions, one revision, all or nothing."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.keyspace import Found, Keyspace
from stockman_lab.etcd.transactions import (
    Compare,
    Delete,
    Operation,
    Put,
    Range,
    Relation,
    Target,
    transact,
)

from stockman.etcd.records import KeyValue


def with_one() -> Keyspace:
    keyspace = Keyspace()
    keyspace.put(b"/a", b"1")
    return keyspace


@pytest.mark.parametrize(
    ("compare", "holds"),
    [
        (Compare(b"/a", Target.MOD, Relation.EQUAL, 2), True),
        (Compare(b"/a", Target.MOD, Relation.EQUAL, 3), False),
        (Compare(b"/a", Target.CREATE, Relation.GREATER, 1), True),
        (Compare(b"/a", Target.VERSION, Relation.LESS, 1), False),
        (Compare(b"/a", Target.VALUE, Relation.EQUAL, b"1"), True),
        (Compare(b"/a", Target.VALUE, Relation.NOT_EQUAL, b"1"), False),
        (Compare(b"/b", Target.MOD, Relation.EQUAL, 0), True),
        (Compare(b"/b", Target.VALUE, Relation.NOT_EQUAL, b"1"), False),
        (Compare(b"/a", Target.LEASE, Relation.EQUAL, 0, b"\0"), True),
        (Compare(b"/b", Target.VERSION, Relation.GREATER, 0, b"\0"), False),
    ],
)
def test_conditions(compare: Compare, holds: bool) -> None:
    done = transact(with_one(), [compare], [Put(b"/x", b"yes")], [Put(b"/x", b"no")])

    assert done.succeeded is holds
    assert done.revision == 3


def test_all_changes_have_one_revision_and_are_seen_within() -> None:
    keyspace = with_one()

    done = transact(
        keyspace, [], [Put(b"/b", b"2"), Range(b"/", b"\0"), Delete(b"/a"), Range(b"/", b"\0")]
    )

    before, after = done.replies[1], done.replies[3]
    assert isinstance(before, Found)
    assert isinstance(after, Found)
    assert (before.count, done.replies[2], after.count) == (2, 1, 1)
    assert keyspace.get(b"/b") == KeyValue(b"/b", b"2", 3, 3, 1)
    assert keyspace.revision == 3


def test_reading_alone_takes_no_revision() -> None:
    assert transact(with_one(), [], [Range(b"/a"), Delete(b"/nothing")]).revision == 2


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        ([Put(b"/a", b""), Put(b"/a", b"")], "duplicate key"),
        ([Put(b"/a", b""), Delete(b"/", b"/b")], "duplicate key"),
        ([Put(b"/b", b"new"), Put(b"/c", b"", lease=5)], "lease not found"),
        ([Put(b"/b", b"new"), Range(b"/a", revision=99)], "future revision"),
        ([Put(b"/b", b"new"), Delete(b"")], "key is not provided"),
    ],
)
def test_what_is_refused_changes_nothing(operations: list[Operation], why: str) -> None:
    keyspace = with_one()

    with pytest.raises(EtcdError, match=why):
        transact(keyspace, [], operations)

    assert keyspace == with_one()
