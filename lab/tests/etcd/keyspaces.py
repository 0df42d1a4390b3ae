"""Keyspaces and clusters of several sizes and histories, for tests and for real programs."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.core.dice import Dice
from stockman_lab.etcd import leases
from stockman_lab.etcd.cluster import Alarm, AlarmKind, EtcdCluster
from stockman_lab.etcd.keyspace import Keyspace, compact
from stockman_lab.etcd.membership import add_learner, new_cluster, promote, start
from stockman_lab.etcd.seeded import seed_server
from stockman_lab.etcd.transactions import Put, transact

NOW = 1_767_225_600.0


def urls(number: int) -> tuple[list[str], list[str]]:
    """Where peers and clients reach a member."""
    address = f"10.42.0.{10 + number}"
    return [f"https://{address}:2380"], [f"https://{address}:2379"]


def one_member(version: str = "3.6.12") -> EtcdCluster:
    """A cluster that was just bootstrapped."""
    peers, clients = urls(1)
    return new_cluster("ctrl-01", peers, clients, version, NOW)


def three_members() -> EtcdCluster:
    """A cluster that two more members joined."""
    cluster = one_member()
    for number in (2, 3):
        join_and_promote(cluster, number)
    return cluster


def join_and_promote(cluster: EtcdCluster, number: int) -> str:
    """Let one more member join; returns its id."""
    peers, clients = urls(number)
    added = add_learner(cluster, set(cluster.members), peers, NOW + number)
    start(cluster, added, f"ctrl-{number:02}", clients, NOW + number + 1)
    promote(cluster, set(cluster.members), added, NOW + number + 1)
    return added


def seeded() -> EtcdCluster:
    """A cluster with the first objects of Kubernetes."""
    cluster = one_member()
    seed_server(cluster.keyspace, "10.96.0.0/12", Dice(seed=1), NOW)
    return cluster


def _many(keyspace: Keyspace) -> None:
    for number in range(3_000):
        keyspace.put(b"/registry/pods/default/%d" % (number % 2_000), b"%d" % number * 40)


def _tombstones(keyspace: Keyspace) -> None:
    for number in range(200):
        keyspace.put(b"/registry/pods/default/%03d" % number, b"{}\n")
    keyspace.delete(b"/registry/pods/default/05", b"/registry/pods/default/15")
    keyspace.put(b"/registry/pods/default/055", b"again")


def _leased(keyspace: Keyspace) -> None:
    for number in range(1, 4):
        leases.grant(keyspace, number << 40 | number, 60 * number, NOW)
        keyspace.put(b"/registry/events/default/%d" % number, b"{}", number << 40 | number)
    leases.revoke(keyspace, 2 << 40 | 2)


def _compacted(keyspace: Keyspace) -> None:
    _tombstones(keyspace)
    for _ in range(5):
        keyspace.put(b"/registry/pods/default/199", b"newer")
    compact(keyspace, keyspace.revision - 2)


def _large_values(keyspace: Keyspace) -> None:
    for size in (0, 1, 4_000, 65_500, 65_536, 1 << 20, (3 << 20) // 2):
        keyspace.put(b"/registry/secrets/default/%d" % size, bytes([size % 251]) * size)


def _transactions(keyspace: Keyspace) -> None:
    transact(keyspace, [], [Put(b"/registry/%04d" % number, b"{}") for number in range(2_000)])


HISTORIES: dict[str, Callable[[Keyspace], None]] = {
    "empty": lambda keyspace: None,
    "many": _many,
    "tombstones": _tombstones,
    "leases": _leased,
    "compacted": _compacted,
    "large-values": _large_values,
    "transactions": _transactions,
}


def with_history(name: str) -> EtcdCluster:
    """A cluster of three members, one more that was removed, an alarm, and a history."""
    cluster = three_members()
    HISTORIES[name](cluster.keyspace)
    cluster.removed.add("00000000deadbeef")
    cluster.alarms.append(Alarm(next(iter(cluster.members)), AlarmKind.NOSPACE))
    return cluster
