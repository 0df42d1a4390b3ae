"""Refusals in the words of etcd, with the gRPC status that each comes with."""

from __future__ import annotations

from enum import Enum

_DEADLINE, _NOT_FOUND, _EXHAUSTED, _PRECONDITION, _OUT_OF_RANGE = 4, 5, 8, 9, 11
_UNKNOWN, _INVALID, _UNAVAILABLE, _DATA_LOSS = 2, 3, 14, 15


class Reason(Enum):
    """Why etcd says no: number of the gRPC status, and text."""

    TIMEOUT = (_UNAVAILABLE, "etcdserver: request timed out")
    DEADLINE = (_DEADLINE, "context deadline exceeded")
    NO_LEADER = (_UNAVAILABLE, "etcdserver: no leader")
    UNHEALTHY = (_UNAVAILABLE, "etcdserver: unhealthy cluster")
    NOT_ENOUGH_STARTED = (
        _PRECONDITION,
        "etcdserver: re-configuration failed due to not enough started members",
    )
    TOO_MANY_LEARNERS = (_PRECONDITION, "etcdserver: too many learner members in cluster")
    LEARNER_NOT_READY = (
        _PRECONDITION,
        "etcdserver: can only promote a learner member which is in sync with leader",
    )
    NOT_A_LEARNER = (_PRECONDITION, "etcdserver: can only promote a learner member")
    BAD_TRANSFEREE = (_PRECONDITION, "etcdserver: bad leader transferee")
    TRANSFER_TIMEOUT = (
        _UNAVAILABLE,
        "etcdserver: request timed out, leader transfer took too long",
    )
    ONLY_ONE_MEMBER = (_UNKNOWN, "cannot forfeit leadership, only one member")
    MEMBER_NOT_FOUND = (_NOT_FOUND, "etcdserver: member not found")
    MEMBER_EXISTS = (_PRECONDITION, "etcdserver: member ID already exist")
    PEER_URLS_EXIST = (_PRECONDITION, "etcdserver: Peer URLs already exists")
    NO_SPACE = (_EXHAUSTED, "etcdserver: mvcc: database space exceeded")
    CORRUPT = (_DATA_LOSS, "etcdserver: corrupt cluster")
    COMPACTED = (_OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted")
    FUTURE_REVISION = (_OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision")
    TOO_LARGE = (_INVALID, "etcdserver: request is too large")
    EMPTY_KEY = (_INVALID, "etcdserver: key is not provided")
    DUPLICATE_KEY = (_INVALID, "etcdserver: duplicate key given in txn request")
    LEASE_NOT_FOUND = (_NOT_FOUND, "etcdserver: requested lease not found")
    LEASE_EXISTS = (_PRECONDITION, "etcdserver: lease already exists")
    LEASE_TOO_LONG = (_OUT_OF_RANGE, "etcdserver: too large lease TTL")


class EtcdError(Exception):
    """A refusal; its text is that of etcd."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        self.code: int
        """Number of the gRPC status."""
        self.code, text = reason.value
        super().__init__(text)


class WatchCompacted(EtcdError):
    """Somebody wants to see changes that are no longer kept."""

    def __init__(self, revision: int) -> None:
        super().__init__(Reason.COMPACTED)
        self.revision = revision
        """Up to which changes were forgotten."""
