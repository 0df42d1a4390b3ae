"""An index knows when keys of a family changed last, also when history is forgotten."""

from __future__ import annotations

from stockman_lab.etcd.keyspace import Keyspace, compact


def test_every_change_touches_its_family_alone() -> None:
    keyspace = Keyspace()
    keyspace.put(b"/registry/pods/default/sheep", b"")
    keyspace.put(b"/registry/minions/meadow", b"")
    assert keyspace.index.touched == {b"pods": 2, b"minions": 3}

    keyspace.delete(b"/registry/pods/default/sheep")
    assert keyspace.index.touched == {b"pods": 4, b"minions": 3}


def test_a_deletion_that_is_forgotten_has_touched_all_the_same() -> None:
    keyspace = Keyspace()
    keyspace.put(b"/registry/pods/default/sheep", b"")
    keyspace.put(b"/registry/pods/default/goat", b"")
    keyspace.delete(b"/registry/pods/default/goat")
    keyspace.put(b"/registry/minions/meadow", b"")
    compact(keyspace, keyspace.revision)

    assert keyspace.index.touched[b"pods"] == 4
