"""Snapshots of the simulated etcd are judged by etcdutl, talosctl, etcd and kube-apiserver."""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from stockman_lab.etcd.cluster import EtcdCluster, EtcdMember
from stockman_lab.etcd.snapshots import content_of, loaded, restored, snapshot

from lab.tests.etcd.keyspaces import HISTORIES, NOW, seeded, with_history
from stockman.etcd.kubernetes.keys import read_object_key
from stockman.etcd.kubernetes.objects import StoredObject, read_stored_object
from stockman.etcd.records import KeyValue
from stockman.etcd.snapshot import read_snapshot
from stockman.etcd.status import SnapshotStatus, snapshot_status
from tests.real.rendered.api_server import api_server, etcd_server
from tools.pytest_plugin import RealTool

PEER = "http://127.0.0.1:2380"
NOBODY = "127.255.255.254"
"""Where no machine answers."""


def output(*command: str | Path) -> str:
    """What a program says."""
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 0, answer.stderr[-3000:]
    return answer.stdout


def judged(real_tool: RealTool, file: Path) -> SnapshotStatus:
    """What etcdutl makes of a file."""
    found = json.loads(output(real_tool("etcdutl"), "snapshot", "status", file, "-w", "json"))
    return SnapshotStatus(
        hash=found["hash"],
        revision=found["revision"],
        total_keys=found["totalKey"],
        total_size=found["totalSize"],
        version=found["version"],
    )


def saved(cluster: EtcdCluster, file: Path) -> Path:
    """A snapshot of a simulated cluster, written piece by piece."""
    with file.open("wb") as opened:
        for piece in snapshot(cluster):
            opened.write(piece)
    return file


def restore(real_tool: RealTool, file: Path, place: Path) -> None:
    """Let etcdutl make the data of a new cluster."""
    output(
        *(real_tool("etcdutl"), "snapshot", "restore", file, "--data-dir", place / "etcd"),
        *("--initial-cluster", f"default={PEER}", "--initial-advertise-peer-urls", PEER),
    )


def served(real_tool: RealTool, etcd: str, prefix: str, revision: int = 0) -> list[KeyValue]:
    """What a real etcd answers for a prefix."""
    found = output(
        *(real_tool("etcdctl"), "--endpoints", etcd, "get", "--prefix", prefix),
        *("--rev", str(revision), "-w", "json"),
    )
    return [
        KeyValue(
            key=base64.b64decode(one["key"]),
            value=base64.b64decode(one.get("value", "")),
            create_revision=one["create_revision"],
            mod_revision=one["mod_revision"],
            version=one["version"],
            lease=int(one.get("lease", 0)),
        )
        for one in json.loads(found)["kvs"]
    ]


@pytest.mark.parametrize("history", HISTORIES)
def test_etcdutl_and_we_say_the_same_of_a_generated_snapshot(
    tmp_path: Path, real_tool: RealTool, history: str
) -> None:
    file = saved(with_history(history), tmp_path / "db.snapshot")

    assert snapshot_status(file.read_bytes()) == judged(real_tool, file)


@pytest.mark.parametrize("version", ["1.11.5", "1.12.1", "1.13.9", "1.14.1"])
def test_talosctl_sums_a_snapshot_up_before_it_uploads_it(
    tmp_path: Path, real_tool: RealTool, version: str
) -> None:
    talosctl = real_tool(f"talosctl@{version}")
    file = saved(with_history("compacted"), tmp_path / "db.snapshot")
    output(talosctl, "gen", "config", "-o", tmp_path / "made", "meadow", "https://127.0.0.1:6443")
    config = str(tmp_path / "made" / "talosconfig")
    command = [str(talosctl), "--talosconfig", config, "-e", NOBODY]

    answer = subprocess.run(
        [*command, "-n", NOBODY, "bootstrap", "--recover-from", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    found = snapshot_status(file.read_bytes())
    assert (
        f"hash {found.hash:08x}, revision {found.revision}, total keys {found.total_keys},"
        f" total size {found.total_size}"
    ) in answer.stderr + answer.stdout


@pytest.mark.parametrize("history", ["tombstones", "leases", "compacted", "large-values"])
def test_a_real_etcd_serves_what_the_simulated_one_held(
    tmp_path: Path, real_tool: RealTool, history: str
) -> None:
    cluster = with_history(history)
    cluster.alarms.clear()
    restore(real_tool, saved(cluster, tmp_path / "db.snapshot"), tmp_path)

    with etcd_server(tmp_path, real_tool) as etcd:
        found = served(real_tool, etcd, "/registry")

    assert found == cluster.keyspace.range(b"/registry", b"/registry\xff").items
    assert found


@dataclass(frozen=True)
class Grown:
    """What a real API server, on a snapshot of the lab, made of it and of what it was given."""

    shown: dict[str, Any]
    records: list[KeyValue]
    snapshot: Path
    raw: Path


OBJECTS = """
apiVersion: v1
kind: Namespace
metadata: {name: meadow, labels: {kind: grass}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: fence, namespace: meadow, annotations: {posts: many}}
data: {wire: none}
---
apiVersion: v1
kind: Secret
metadata: {name: gate, namespace: meadow}
stringData: {code: open}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: gone, namespace: meadow}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sheep.farm.example}
spec:
  group: farm.example
  scope: Namespaced
  names: {kind: Sheep, plural: sheep}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
SHEEP = '{"apiVersion":"farm.example/v1","kind":"Sheep","metadata":{"name":"dolly"}}'
SHOWN = ("namespaces", "services", "priorityclasses")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Grown:
    mktemp = tmp_path_factory.mktemp("grown")
    restore(real_tool, saved(seeded(), mktemp / "lab.snapshot"), mktemp)
    with api_server(mktemp, real_tool) as server:
        shown = {
            kind: json.loads(server.ask("get", kind, "-A", "-o", "json").stdout)["items"]
            for kind in SHOWN
        }
        for command in (
            ("apply", "-f", "-"),
            ("delete", "configmap", "gone", "-n", "meadow"),
            ("wait", "--for=condition=Established", "crd/sheep.farm.example"),
        ):
            answer = server.ask(*command, text=OBJECTS)
            assert answer.returncode == 0, answer.stderr
        answer = server.ask("create", "-n", "meadow", "-f", "-", text=SHEEP)
        assert answer.returncode == 0, answer.stderr
        etcdctl = (real_tool("etcdctl"), "--endpoints", server.etcd)
        file = mktemp / "real.snapshot"
        output(*etcdctl, "compact", "--physical", "40")
        output(*etcdctl, "snapshot", "save", file)
        records = served(real_tool, server.etcd, "", judged(real_tool, file).revision)
    return Grown(shown, records, file, mktemp / "etcd" / "member" / "snap" / "db")


def test_an_api_server_reads_the_seeded_objects(grown: Grown) -> None:
    counts = {kind: len(items) for kind, items in grown.shown.items()}

    assert all(counts.values())
    names = {namespace["metadata"]["name"] for namespace in grown.shown["namespaces"]}
    assert names == {"default", "kube-system", "kube-public", "kube-node-lease"}


def test_a_snapshot_of_a_real_etcd_is_summed_up_alike(grown: Grown, real_tool: RealTool) -> None:
    assert snapshot_status(grown.snapshot.read_bytes()) == judged(real_tool, grown.snapshot)


def test_every_record_of_a_real_etcd_is_read_as_it_serves_it(grown: Grown) -> None:
    cluster = loaded(read_snapshot(grown.snapshot.read_bytes()), NOW)

    assert cluster.keyspace.range(b"\0", b"\0").items == grown.records
    assert cluster.keyspace.compacted == 40


def test_a_loaded_snapshot_of_a_real_etcd_is_written_with_the_same_hash(
    grown: Grown, tmp_path: Path, real_tool: RealTool
) -> None:
    before = snapshot_status(grown.snapshot.read_bytes())
    cluster = loaded(read_snapshot(grown.snapshot.read_bytes()), NOW)

    after = judged(real_tool, saved(cluster, tmp_path / "again.snapshot"))

    assert after._replace(total_size=0) == before._replace(total_size=0)


def test_a_copy_of_the_file_that_etcd_worked_on_is_restored_unchecked(
    grown: Grown, real_tool: RealTool
) -> None:
    content = grown.raw.read_bytes()
    first = EtcdMember("ctrl-01", [PEER], server_version="3.7.3")

    cluster = restored(content, first, NOW, checked=False)

    assert snapshot_status(content) == judged(real_tool, grown.raw)
    assert cluster.keyspace.revision == snapshot_status(content).revision
    assert content_of(cluster).beside.members[0].name == "ctrl-01"


def test_keys_and_metadata_of_what_an_api_server_wrote_agree(grown: Grown) -> None:
    compared = set()
    for record in grown.records:
        object_key, stored = read_object_key(record.key), read_stored_object(record.value)
        if object_key is None or not isinstance(stored, StoredObject):
            continue
        assert (stored.name, stored.namespace) == (object_key.name, object_key.namespace), (
            record.key
        )
        compared.add((object_key.resource, object_key.group))

    assert ("sheep", "farm.example") in compared
    assert {"configmaps", "secrets", "customresourcedefinitions", "apiservices"} <= {
        resource for resource, _ in compared
    }
