"""Room: how large databases are, the quota, alarms, and defragmentation.

A file grows with its content and never shrinks by itself: what a compaction freed is used again.
"""

from __future__ import annotations

from collections.abc import Collection

from stockman.etcd.bbolt.pages import PAGE_SIZE
from stockman_lab.etcd.cluster import Alarm, AlarmKind, EtcdCluster
from stockman_lab.etcd.errors import EtcdError, Reason

_EMPTY = 6 * PAGE_SIZE
_FILL_PERCENT = 90


def size_in_use(cluster: EtcdCluster) -> int:
    """Bytes of the pages that hold something."""
    pages = -(-cluster.keyspace.size * 100 // _FILL_PERCENT // PAGE_SIZE)
    return _EMPTY + pages * PAGE_SIZE


def grow(cluster: EtcdCluster, alive: Collection[str]) -> None:
    """Let the files of members be as large as their content needs."""
    used = size_in_use(cluster) + PAGE_SIZE  # a page is copied before it is changed
    for key in alive:
        member = cluster.members.get(key)
        if member is not None and member.has_data:
            member.db_size = max(member.db_size, used)


def defragment(cluster: EtcdCluster, member: str) -> None:
    """Give back what the file of one member does not use."""
    cluster.member(member).db_size = size_in_use(cluster)


def need_room(cluster: EtcdCluster, alive: Collection[str], more: int) -> None:
    """Raise an alarm where so many more bytes are too many; refuse while there is one."""
    if any(alarm.kind is AlarmKind.NOSPACE for alarm in cluster.alarms):
        raise EtcdError(Reason.NO_SPACE)
    full = [
        key
        for key in alive
        if key in cluster.members and cluster.members[key].db_size + more >= cluster.quota
    ]
    if full:
        cluster.alarms += [Alarm(key, AlarmKind.NOSPACE) for key in sorted(full)]
        raise EtcdError(Reason.NO_SPACE)


def need_no_corruption(cluster: EtcdCluster) -> None:
    """Refuse every change while a member has other data than the rest; reading still works."""
    if any(alarm.kind is AlarmKind.CORRUPT for alarm in cluster.alarms):
        raise EtcdError(Reason.CORRUPT)


def disarm(cluster: EtcdCluster) -> list[Alarm]:
    """End all alarms; returns them. One whose cause is still there comes back."""
    gone, cluster.alarms = cluster.alarms, []
    return gone
