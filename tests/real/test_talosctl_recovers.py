"""Snapshots that talosctl takes of the lab are real, and those of a real etcd begin a lab anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from stockman.etcd.records import KeyValue
from stockman.etcd.status import SnapshotStatus, snapshot_status
from tests.real.rendered.api_server import api_server
from tests.real.talos.maintenance import without_etcd
from tests.real.talos.served import served, staged, succeeded
from tests.real.talos.stories import recovering
from tests.real.test_etcd_snapshots_judged import judged, output, restore
from tests.real.test_etcd_snapshots_judged import served as held
from tools.pytest_plugin import RealTool


@dataclass(frozen=True)
class Taken:
    """A snapshot of the lab, what real programs made of it, and what they wrote themselves."""

    file: Path
    revision: int
    objects: list[KeyValue]
    """Of the lab."""
    held: list[KeyValue]
    """By a real etcd."""
    nodes: list[str]
    """As a real API server shows them."""
    real: Path
    raw: Path


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Taken:
    mktemp = tmp_path_factory.mktemp("taken")
    file, real = mktemp / "lab.snapshot", mktemp / "real.snapshot"
    with served(staged("three-node", "1.12.1"), mktemp, real_tool) as lab:
        succeeded(lab.talosctl("1.13.9")("etcd", "snapshot", file))
        keyspace = lab.etcd.keyspace
        objects = keyspace.range(b"/registry", b"/registry\xff").items
    restore(real_tool, file, mktemp)
    with api_server(mktemp, real_tool) as server:
        found = held(real_tool, server.etcd, "/registry", keyspace.revision)
        items = json.loads(server.ask("get", "nodes", "-o", "json").stdout)["items"]
        etcdctl = (real_tool("etcdctl"), "--endpoints", server.etcd)
        output(*etcdctl, "snapshot", "save", real)
    nodes = sorted(one["metadata"]["name"] for one in items)
    raw = mktemp / "etcd" / "member" / "snap" / "db"
    return Taken(file, keyspace.revision, objects, found, nodes, real, raw)


def test_etcdutl_says_the_same_of_a_snapshot_that_talosctl_took(
    taken: Taken, real_tool: RealTool
) -> None:
    found: SnapshotStatus = judged(real_tool, taken.file)

    assert found == snapshot_status(taken.file.read_bytes())
    assert found.revision == taken.revision


def test_a_real_etcd_serves_the_objects_of_the_lab(taken: Taken) -> None:
    assert taken.held == taken.objects
    assert taken.objects


def test_a_real_api_server_shows_the_machines_of_the_lab(taken: Taken) -> None:
    assert taken.nodes == ["talos-neo", "talos-niobe", "talos-trinity"]


@pytest.mark.parametrize(
    ("client", "server", "which", "flags"),
    [
        ("1.11.5", "1.11.5", "file", ()),
        ("1.12.1", "1.13.9", "file", ()),
        ("1.13.9", "1.14.1", "raw", ("--recover-skip-hash-check",)),
        ("1.14.1", "1.14.1", "real", ()),
    ],
)
def test_a_cluster_is_recovered(
    taken: Taken,
    client: str,
    server: str,
    which: str,
    flags: tuple[str, ...],
    tmp_path: Path,
    real_tool: RealTool,
) -> None:
    file: Path = getattr(taken, which)
    with served(without_etcd(server), tmp_path, real_tool) as lab:
        recovering.a_cluster_is_recovered(lab, client, file, *flags)


def test_a_copy_is_not_trusted(taken: Taken, tmp_path: Path, real_tool: RealTool) -> None:
    with served(without_etcd("1.13.9"), tmp_path, real_tool) as lab:
        recovering.nothing_begins(lab, "1.13.9", taken.raw, recovering.NO_HASH)


def test_an_older_etcd_does_not_begin_with_a_newer_file(
    taken: Taken, tmp_path: Path, real_tool: RealTool
) -> None:
    with served(without_etcd("1.13.9"), tmp_path, real_tool) as lab:
        recovering.nothing_begins(lab, "1.12.1", taken.real, "is not supported")
