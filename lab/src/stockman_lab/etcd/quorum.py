"""Who leads, and whether a cluster can agree on anything.

Who is alive is given: ids of members whose etcd runs and is reached by the others.
"""

from __future__ import annotations

from collections.abc import Collection

from stockman_lab.etcd.cluster import EtcdCluster
from stockman_lab.etcd.errors import EtcdError, Reason


def quorum(cluster: EtcdCluster) -> int:
    """How many voting members have to agree."""
    return len(cluster.voters) // 2 + 1


def has_quorum(cluster: EtcdCluster, alive: Collection[str]) -> bool:
    """Whether enough of them are alive."""
    return len(living_voters(cluster, alive)) >= quorum(cluster)


def living_voters(cluster: EtcdCluster, alive: Collection[str]) -> list[str]:
    """Voting members that are alive, in the order in which they came."""
    return [key for key, voter in cluster.voters.items() if key in alive and voter.started]


def leader(cluster: EtcdCluster, alive: Collection[str]) -> str:
    """Who leads now; elects somebody where the leader is gone. Empty: there is no quorum."""
    voters = living_voters(cluster, alive)
    if len(voters) < quorum(cluster):
        cluster.leader = ""
    elif cluster.leader not in voters:
        cluster.term += 1
        cluster.index += 1  # a leader begins with an empty entry
        cluster.leader = max(voters, key=lambda one: (cluster.members[one].applied, one))
    if cluster.leader:
        for key in alive:
            if key in cluster.members:
                cluster.members[key].applied = cluster.index
    return cluster.leader


def need_quorum(cluster: EtcdCluster, alive: Collection[str]) -> str:
    """Who leads; raises what a client gets to hear after some seconds without a quorum."""
    if not living(cluster, alive):
        raise EtcdError(Reason.DEADLINE)
    text = leader(cluster, alive)
    if not text:
        raise EtcdError(Reason.TIMEOUT)
    return text


def living(cluster: EtcdCluster, alive: Collection[str]) -> bool:
    """Whether any member at all would answer."""
    return any(key in alive for key in cluster.members)


def forfeit(cluster: EtcdCluster, alive: Collection[str], member: str) -> str:
    """Move the leadership away as Talos does, to the first other member, whoever that is.

    Returns the name of the new leader; empty: the member did not lead.
    """
    text = need_quorum(cluster, alive)
    if len(cluster.members) == 1:
        raise EtcdError(Reason.ONLY_ONE_MEMBER)
    cluster.member(member)
    if text != member:
        return ""
    first = min(key for key in cluster.members if key != member)
    move_leader(cluster, alive, first)
    return cluster.members[first].name


def move_leader(cluster: EtcdCluster, alive: Collection[str], to: str) -> None:
    """Let a voting member lead."""
    if need_quorum(cluster, alive) == to:
        return
    if to not in cluster.voters:
        raise EtcdError(Reason.BAD_TRANSFEREE)
    if to not in living_voters(cluster, alive):
        raise EtcdError(Reason.TRANSFER_TIMEOUT)
    cluster.leader = to
    cluster.term += 1
    agreed(cluster, alive)


def agreed(cluster: EtcdCluster, alive: Collection[str]) -> None:
    """Note an entry of the log that everybody alive has."""
    cluster.index += 1
    leader(cluster, alive)
