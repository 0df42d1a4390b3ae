"""What one member says of itself, as `talosctl etcd status` shows it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stockman_lab.etcd.cluster import Alarm, EtcdCluster, numbered
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.quorum import leader
from stockman_lab.etcd.space import size_in_use
from stockman_lab.etcd.versions import minor_of

_WITH_SPACE_BEHIND = "3.6.0"


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """The state of a member; ids are numbers, as on the wire."""

    member_id: int
    leader: int
    """Zero: there is none."""
    server_version: str
    storage_version: str
    db_size: int
    db_size_in_use: int
    raft_index: int
    raft_term: int
    applied_index: int
    is_learner: bool
    errors: tuple[str, ...]


def member_status(cluster: EtcdCluster, alive: Collection[str], member: str) -> MemberStatus:
    """What a member that is alive says, also without a quorum."""
    found = cluster.member(member)
    if member not in alive:
        raise EtcdError(Reason.DEADLINE)
    leading = leader(cluster, alive)
    none = () if leading else (Reason.NO_LEADER.value[1],)
    return MemberStatus(
        member_id=numbered(member),
        leader=numbered(leading) if leading else 0,
        server_version=found.server_version,
        storage_version=cluster.storage_version,
        db_size=found.db_size,
        db_size_in_use=min(size_in_use(cluster), found.db_size),
        raft_index=cluster.index if leading else found.applied,
        raft_term=cluster.term,
        applied_index=found.applied,
        is_learner=found.is_learner,
        errors=(*none, *(_said(alarm, found.server_version) for alarm in cluster.alarms)),
    )


def _said(alarm: Alarm, version: str) -> str:
    text = f"memberID:{numbered(alarm.member)} alarm:{alarm.kind.name}"
    return f"{text} " if minor_of(version) == _WITH_SPACE_BEHIND else text
