"""Leases: keys that go with them. Nothing watches the clock; who asks brings the time along."""

from __future__ import annotations

from heapq import heappop, heappush

from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.keyspace import Keyspace, Lease, WriteTransaction

_LONGEST = 9_000_000_000


def grant(keyspace: Keyspace, lease: int, ttl: int, now: float) -> Lease:
    """A new lease of so many seconds under an id that nobody has."""
    if ttl > _LONGEST:
        raise EtcdError(Reason.LEASE_TOO_LONG)
    if lease in keyspace.leases:
        raise EtcdError(Reason.LEASE_EXISTS)
    ends = keyspace.lease_ends
    made = keyspace.leases[lease] = Lease(ttl=ttl, expires_at=now + ttl)
    heappush(ends, (made.expires_at, lease))
    return made


def renew(keyspace: Keyspace, lease: int, now: float) -> Lease:
    """Let a lease begin anew."""
    found = _found(keyspace, lease)
    found.expires_at = now + found.ttl
    return found


def revoke(keyspace: Keyspace, lease: int) -> int:
    """End a lease and delete its keys, in order; returns the revision of the keyspace."""
    _found(keyspace, lease)
    change = WriteTransaction(keyspace)
    for key in attached(keyspace, lease):
        change.delete(key)
    del keyspace.leases[lease]
    keyspace.index.leased.pop(lease, None)
    return change.commit()


def attached(keyspace: Keyspace, lease: int) -> list[bytes]:
    """The keys that go with a lease, in order."""
    return sorted(keyspace.index.leased.get(lease, ()))


def expire(keyspace: Keyspace, now: float) -> bool:
    """End every lease whose time is over, the oldest first; returns whether there was one."""
    ends = keyspace.lease_ends
    is_over = False
    while ends and ends[0][0] <= now:
        lease = heappop(ends)[1]
        found = keyspace.leases.get(lease)
        if found is None:
            continue
        if found.expires_at > now:  # it was renewed
            heappush(ends, (found.expires_at, lease))
            continue
        revoke(keyspace, lease)
        is_over = True
    return is_over


def _found(keyspace: Keyspace, lease: int) -> Lease:
    found = keyspace.leases.get(lease)
    if found is None:
        raise EtcdError(Reason.LEASE_NOT_FOUND)
    return found
