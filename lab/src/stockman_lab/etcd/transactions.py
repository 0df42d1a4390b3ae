"""Transactions of etcd: compare, then do one list of things or the other, at one revision."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from stockman.etcd.records import KeyValue
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.index import FROM_KEY_ON, NEWEST, within
from stockman_lab.etcd.keyspace import Found, Keyspace, WriteTransaction


class Target(Enum):
    """What of a key is compared."""

    VERSION = "version"
    CREATE = "create_revision"
    MOD = "mod_revision"
    VALUE = "value"
    LEASE = "lease"


class Relation(Enum):
    """How it has to be."""

    EQUAL = "="
    GREATER = ">"
    LESS = "<"
    NOT_EQUAL = "!="


_HOLDS: dict[Relation, Callable[..., bool]] = {
    Relation.EQUAL: operator.eq,
    Relation.GREATER: operator.gt,
    Relation.LESS: operator.lt,
    Relation.NOT_EQUAL: operator.ne,
}


@dataclass(frozen=True, slots=True)
class Compare:
    """A condition on a key, or on every key of a range; what is not there counts as all zeros."""

    key: bytes
    target: Target
    relation: Relation
    against: int | bytes
    range_end: bytes = b""


@dataclass(frozen=True, slots=True)
class Put:
    """Set a key."""

    key: bytes
    value: bytes
    lease: int = 0


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a key or a range."""

    key: bytes
    range_end: bytes = b""


@dataclass(frozen=True, slots=True)
class Range:
    """Read a key or a range; what was written before in the same transaction is seen."""

    key: bytes
    range_end: bytes = b""
    limit: int = 0
    revision: int = 0


Operation: TypeAlias = Put | Delete | Range


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a transaction."""

    succeeded: bool
    """Whether all conditions held."""
    revision: int
    replies: list[Found | int | None]
    """Of a range what was found, of a deletion how many keys went, of a put nothing."""


def transact(
    keyspace: Keyspace,
    compares: Sequence[Compare],
    success: Sequence[Operation],
    failure: Sequence[Operation] = (),
) -> Done:
    """Do one list of things if all conditions hold, else the other. All of it, or nothing."""
    _check_keys(success)
    _check_keys(failure)
    succeeded = all(_holds(keyspace, compare) for compare in compares)
    chosen = success if succeeded else failure
    for one in chosen:
        if isinstance(one, Put) and one.lease and one.lease not in keyspace.leases:
            raise EtcdError(Reason.LEASE_NOT_FOUND)
        if isinstance(one, Range) and one.revision:
            keyspace.range(one.key, one.range_end, limit=1, revision=one.revision)
    change = WriteTransaction(keyspace)
    replies = [_done(keyspace, change, one) for one in chosen]
    return Done(succeeded, change.commit(), replies)


def _check_keys(operations: Sequence[Operation]) -> None:
    """No key may be empty, and none be set twice or set and deleted.

    etcd does not look at deletions of everything from a key on.
    """
    if not all(operation.key for operation in operations):
        raise EtcdError(Reason.EMPTY_KEY)
    puts = [operation.key for operation in operations if isinstance(operation, Put)]
    gone = [
        operation
        for operation in operations
        if isinstance(operation, Delete) and operation.range_end != FROM_KEY_ON
    ]
    if len(set(puts)) < len(puts):
        raise EtcdError(Reason.DUPLICATE_KEY)
    if any(within(key, one.key, one.range_end) for key in puts for one in gone):
        raise EtcdError(Reason.DUPLICATE_KEY)


def _holds(keyspace: Keyspace, compare: Compare) -> bool:
    contents = [
        version.content for version in keyspace.index.there(compare.key, compare.range_end, NEWEST)
    ]
    if not contents:
        if compare.target is Target.VALUE:
            return False
        contents = [KeyValue(compare.key)]
    relation = _HOLDS[compare.relation]
    return all(
        relation(getattr(content, compare.target.value), compare.against) for content in contents
    )


def _done(keyspace: Keyspace, change: WriteTransaction, operation: Operation) -> Found | int | None:
    match operation:
        case Put(key, value, lease):
            change.put(key, value, lease)
            return None
        case Delete(key, range_end):
            return change.delete(key, range_end)
        case Range(key, range_end, limit, revision):
            numbers = keyspace.range(key, range_end, limit=limit, revision=revision)
            return Found(change.revision, numbers.items, numbers.count)
