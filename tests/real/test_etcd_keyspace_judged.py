"""The simulated etcd does what a real one does: the same requests leave the same records."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.core.dice import Dice
from stockman_lab.etcd import leases
from stockman_lab.etcd.errors import EtcdError, Reason
from stockman_lab.etcd.keyspace import Keyspace, compact
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

from lab.tests.etcd.keyspaces import one_member
from stockman.adapters.system import SystemClock
from stockman.etcd.bbolt.pages import PAGE_SIZE
from stockman.etcd.identities import added_member_id, cluster_id, member_id
from stockman.etcd.snapshot import read_snapshot
from tests.real.etcd_gateway import Gateway, Refused
from tests.real.rendered.api_server import etcd_server
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

NOW = 1_767_225_600.0
STEPS = 800


class Both:
    """A real and a simulated keyspace that get the same requests."""

    def __init__(self, gateway: Gateway, seed: int) -> None:
        self.gateway = gateway
        self.keyspace = Keyspace()
        self.dice = Dice(seed=seed)
        self.refused: set[str] = set()

    def key(self) -> bytes:
        return b"/%d" % self.dice.below(40)

    def ends(self) -> tuple[bytes, bytes]:
        return self.key(), self.dice.one_of([b"", b"\0", self.key()])

    def lease(self) -> int:
        return self.dice.one_of([0, 0, 0, *sorted(self.keyspace.leases), 77])

    def same(self, real: Callable[[], Any], simulated: Callable[[], object]) -> tuple[Any, object]:
        """What both answer; refusals have to be the same."""
        refusal = ""
        try:
            ours = simulated()
        except EtcdError as error:
            refusal = str(error)
        if not refusal:
            return real(), ours
        with pytest.raises(Refused) as caught:
            real()
        assert str(caught.value) == refusal
        self.refused.add(refusal)
        return None, None

    def step(self) -> None:
        kinds = [self.put] * 6 + [self.delete] * 2 + [self.transact] * 4 + [self.range] * 3
        self.dice.one_of([*kinds, self.grant, self.revoke, self.compact])()

    def put(self) -> None:
        key, value, lease = self.key(), self.dice.random_bytes(self.dice.below(50)), self.lease()
        self.same(
            lambda: self.gateway.ask("kv/put", key=key, value=value, lease=lease),
            lambda: self.keyspace.put(key, value, lease),
        )

    def delete(self) -> None:
        key, end = self.ends()
        real, ours = self.same(
            lambda: self.gateway.ask("kv/deleterange", key=key, range_end=end),
            lambda: self.keyspace.delete(key, end),
        )
        assert int(real.get("deleted", 0)) == ours

    def range(self) -> None:
        key, end = self.ends()
        limit = self.dice.below(5)
        revision = self.dice.below(self.keyspace.revision + 3)
        real, ours = self.same(
            lambda: self.gateway.ask(
                "kv/range", key=key, range_end=end, limit=limit, revision=revision
            ),
            lambda: self.keyspace.range(key, end, limit=limit, revision=revision),
        )
        if real is not None:
            found: Any = ours
            assert int(real.get("count", 0)) == found.count
            assert bool(real.get("more")) == found.more
            revisions = [int(one["mod_revision"]) for one in real.get("kvs", [])]
            assert revisions == [one.mod_revision for one in found.items]

    def transact(self) -> None:
        compares = [self.compare() for _ in range(self.dice.below(3))]
        success = [self.operation() for _ in range(self.dice.below(4))]
        failure = [self.operation() for _ in range(self.dice.below(4))]
        real, ours = self.same(
            lambda: self.gateway.transact(compares, success, failure),
            lambda: transact(self.keyspace, compares, success, failure),
        )
        if real is not None:
            found: Any = ours
            assert bool(real.get("succeeded")) == found.succeeded
            assert int(real["header"]["revision"]) == found.revision

    def compare(self) -> Compare:
        target, relation = self.dice.one_of(list(Target)), self.dice.one_of(list(Relation))
        against: int | bytes = self.dice.below(self.keyspace.revision + 1)
        if target is Target.VERSION:
            against = self.dice.below(3)
        if target is Target.VALUE:
            against = self.dice.random_bytes(2)
        return Compare(*(self.key(), target, relation, against, self.dice.one_of([b"", b"\0"])))

    def operation(self) -> Operation:
        key, end = self.ends()
        put = Put(key, self.dice.random_bytes(5), self.dice.one_of([0, self.lease()]))
        choices: list[Operation] = [put, put, Delete(key, end), Range(key, end)]
        return self.dice.one_of(choices)

    def grant(self) -> None:
        lease, ttl = self.dice.below(6) + 1, 3_600
        self.same(
            lambda: self.gateway.ask("lease/grant", ID=lease, TTL=ttl),
            lambda: leases.grant(self.keyspace, lease, ttl, NOW),
        )

    def revoke(self) -> None:
        lease = self.dice.below(6) + 1
        self.same(
            lambda: self.gateway.ask("lease/revoke", ID=lease),
            lambda: leases.revoke(self.keyspace, lease),
        )

    def compact(self) -> None:
        revision = self.dice.below(self.keyspace.revision + 2)
        self.same(
            lambda: self.gateway.ask("kv/compaction", revision=revision, physical=True),
            lambda: compact(self.keyspace, revision),
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_requests_leave_the_same_records(
    tmp_path: Path, real_tool: RealTool, seed: int
) -> None:
    with etcd_server(tmp_path, real_tool) as etcd:
        both = Both(Gateway(etcd), seed)
        for _ in range(STEPS):
            both.step()
        file = tmp_path / "real.snapshot"
        etcdctl = str(real_tool("etcdctl"))
        command = [etcdctl, "--endpoints", etcd, "snapshot", "save", str(file)]
        subprocess.run(command, check=True, capture_output=True)

    snapshot = read_snapshot(file.read_bytes())
    keyspace = both.keyspace
    assert snapshot.revisions == keyspace.revisions
    assert snapshot.values == keyspace.values
    assert snapshot.revision == keyspace.revision
    assert snapshot.beside.finished_compaction == keyspace.compacted
    assert {lease.id for lease in snapshot.beside.leases} == keyspace.leases.keys()
    assert len(both.refused) >= 5


def test_members_are_named_and_refused_alike(tmp_path: Path, real_tool: RealTool) -> None:
    with etcd_server(tmp_path, real_tool) as etcd:
        gateway = Gateway(etcd)
        header = gateway.ask("maintenance/status")["header"]
        (first,) = gateway.ask("cluster/member/list")["members"]
        before = SystemClock().now().timestamp()
        url = "http://127.0.0.1:1"
        added = gateway.ask("cluster/member/add", peerURLs=[url], isLearner=True)["member"]
        after = SystemClock().now().timestamp()
        told = {}
        for reason, path, fields in (
            (Reason.TOO_MANY_LEARNERS, "add", {"peerURLs": [f"{url}1"], "isLearner": True}),
            (Reason.PEER_URLS_EXIST, "add", {"peerURLs": [url, f"{url}1"], "isLearner": True}),
            (Reason.LEARNER_NOT_READY, "promote", {"ID": added["ID"]}),
            (Reason.NOT_A_LEARNER, "promote", {"ID": first["ID"]}),
            (Reason.MEMBER_NOT_FOUND, "promote", {"ID": "1"}),
            (Reason.MEMBER_NOT_FOUND, "remove", {"ID": "1"}),
            (Reason.NOT_ENOUGH_STARTED, "remove", {"ID": first["ID"]}),
        ):
            with pytest.raises(Refused) as caught:
                gateway.ask(f"cluster/member/{path}", **fields)
            told[reason, path] = str(caught.value)
        with pytest.raises(Refused) as caught:
            gateway.ask("maintenance/transfer-leadership", targetID=added["ID"])

    own = member_id(first["peerURLs"], "etcd-cluster")
    assert own == int(first["ID"])
    assert int(header["cluster_id"]) == cluster_id([own])
    seconds = range(int(before), int(after) + 1)
    assert int(added["ID"]) in {added_member_id([url], second) for second in seconds}
    assert told == {(reason, path): reason.value[1] for reason, path in told}
    assert str(caught.value) == Reason.BAD_TRANSFEREE.value[1]


def test_a_new_member_looks_alike_and_alarms_refuse_writes(
    tmp_path: Path, real_tool: RealTool
) -> None:
    with etcd_server(tmp_path, real_tool) as etcd:
        gateway = Gateway(etcd)
        new = settled(gateway)
        own = new["header"]["member_id"]
        alarm = {"action": "ACTIVATE", "memberID": own}
        gateway.ask("maintenance/alarm", alarm="NOSPACE", **alarm)
        full = changes(gateway)
        gateway.ask("maintenance/alarm", alarm="CORRUPT", **alarm)
        corrupt = changes(gateway)

    cluster = one_member("3.7.3")
    member = cluster.member(cluster.leader)
    assert (int(new["raftIndex"]), int(new["raftTerm"])) == (cluster.index, cluster.term)
    assert abs(int(new["dbSize"]) - member.db_size) <= 2 * PAGE_SIZE
    assert int(new["header"]["revision"]) == cluster.keyspace.revision
    assert new["storageVersion"] == cluster.storage_version
    assert full == [Reason.NO_SPACE.value[1], ""]
    assert corrupt == [Reason.CORRUPT.value[1]] * 2


def settled(gateway: Gateway) -> Any:
    """The status of a new member, once its storage came up to its version, minor by minor."""
    seen: list[Any] = []

    def has_settled() -> bool:
        seen[:] = [gateway.ask("maintenance/status")]
        minor, _, _ = seen[0]["version"].rpartition(".")
        return int(seen[0]["raftIndex"]) >= 4 and seen[0].get("storageVersion") == f"{minor}.0"

    wait_until(has_settled, lambda: seen)
    return seen[0]


def changes(gateway: Gateway) -> list[str]:
    """How a put and a deletion are refused; a range never is."""
    found = []
    for path, fields in (("kv/put", {"value": b"b"}), ("kv/deleterange", {})):
        try:
            gateway.ask(path, key=b"a", **fields)
            found.append("")
        except Refused as refusal:
            found.append(str(refusal))
    gateway.ask("kv/range", key=b"a")
    return found
