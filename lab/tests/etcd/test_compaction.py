"""Compaction forgets history, and nothing that is there."""

from __future__ import annotations

import pytest
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.keyspace import Keyspace, compact


def history() -> Keyspace:
    keyspace = Keyspace()
    for value in (b"1", b"2", b"3"):
        keyspace.put(b"/a", value)
    keyspace.put(b"/b", b"1")
    keyspace.delete(b"/b")
    keyspace.put(b"/c", b"1")
    return keyspace


def test_what_is_there_stays_and_what_was_is_gone() -> None:
    keyspace = history()
    before = keyspace.range(b"/", b"\0")
    size = keyspace.size

    compact(keyspace, 7)

    assert keyspace.range(b"/", b"\0") == before
    assert keyspace.size < size
    assert len(keyspace.revisions) == 2
    with pytest.raises(EtcdError, match="required revision has been compacted"):
        keyspace.range(b"/a", revision=6)


def test_a_deletion_at_the_very_revision_stays() -> None:
    keyspace = history()
    compact(keyspace, 6)

    assert [len(revision) for revision in keyspace.revisions] == [17, 18, 17]


def test_a_compaction_goes_forward_only() -> None:
    keyspace = history()
    compact(keyspace, 5)

    with pytest.raises(EtcdError, match="has been compacted"):
        compact(keyspace, 5)
    with pytest.raises(EtcdError, match="future revision"):
        compact(keyspace, 8)
