"""The daemons of a Ceph cluster: which there are, on which nodes, and their workloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from stockman_lab.kube.controllers.node_fitting import tolerates
from stockman_lab.kube.controllers.ownership import controller_reference
from stockman_lab.kube.nodes.scheduling.deciding import REPELLING
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

CLUSTER = "rook_cluster"
"""The label that all daemons have."""
_HOST = "kubernetes.io/hostname"
_IMAGE = "quay.io/ceph/ceph:v19.2.3"
_MONS, _MGRS = 3, 2
_NOT_LASTING = "node.kubernetes.io/"


@dataclass(frozen=True, slots=True)
class Daemon:
    """One of them."""

    kind: str
    """`mon`, `mgr` or `osd`."""
    id: str
    """`a`, or the number of an OSD."""
    node: str

    @property
    def name(self) -> str:
        return f"rook-ceph-{self.kind}-{self.id}"


def daemons(cluster: Object, nodes: list[Object], known: list[Object]) -> list[Daemon]:
    """All that a cluster has or should have; those that are there stay where they are."""
    spec = part_of(cluster, "spec")
    mades = [_read(item) for item in known]
    for kind, usual in (("mon", _MONS), ("mgr", _MGRS)):
        fitting = sorted(_fitting(spec, nodes, kind))
        have = [one for one in mades if one.kind == kind]
        for number in range(len(have), int(part_of(spec, kind).get("count", usual))):
            if fitting:
                key = fitting[number % len(fitting)]
                mades.append(Daemon(kind, ascii_lowercase[number], key))
    disks = [one for one in mades if one.kind == "osd"]
    for node, count in sorted(_disks(spec, nodes)):
        have = [disk for disk in disks if disk.node == node]
        for _ in range(count - len(have)):
            daemon = Daemon("osd", str(len(disks)), node)
            disks.append(daemon)
            mades.append(daemon)
    return mades


def name_of(pod: Object) -> str:
    """Whose pod it is; empty: of no daemon."""
    labels = metadata_of(pod).get("labels") or {}
    return f"{labels['app']}-{labels['ceph_daemon_id']}" if "ceph_daemon_id" in labels else ""


def _read(known: Object) -> Daemon:
    labels = metadata_of(known)["labels"]
    selector = part_of(known, "spec", "template", "spec", "nodeSelector")
    kind = str(labels["app"]).removeprefix("rook-ceph-")
    return Daemon(kind, str(labels["ceph_daemon_id"]), str(selector.get(_HOST, "")))


def _disks(spec: Object, nodes: list[Object]) -> Iterator[tuple[str, int]]:
    """Nodes, and how many disks of them are used: those that are named, else one each."""
    storage = part_of(spec, "storage")
    fitting = set(_fitting(spec, nodes, "osd"))
    if storage.get("useAllNodes", True) and not storage.get("nodes"):
        yield from ((item, max(len(storage.get("devices") or []), 1)) for item in fitting)
        return
    for entry in entries_of(storage, "nodes"):
        if entry.get("name") in fitting:
            yield str(entry["name"]), max(len(entry.get("devices") or []), 1)


def _fitting(spec: Object, nodes: list[Object], kind: str) -> Iterator[str]:
    tolerations = _tolerations(spec, kind)
    for node in nodes:
        taints = [
            entry
            for entry in entries_of(node, "spec", "taints")
            if entry.get("effect") in REPELLING and not str(entry["key"]).startswith(_NOT_LASTING)
        ]
        is_open = not part_of(node, "spec").get("unschedulable")
        if is_open and all(
            any(tolerates(toleration, taint) for toleration in tolerations) for taint in taints
        ):
            yield str(metadata_of(node)["name"])


def _tolerations(spec: Object, kind: str) -> list[Object]:
    placement = part_of(spec, "placement")
    return [
        *entries_of(placement, "all", "tolerations"),
        *entries_of(placement, kind, "tolerations"),
    ]


def deployment(cluster: Object, daemon: Daemon) -> Object:
    """The workload of a daemon."""
    spec, metadata = part_of(cluster, "spec"), metadata_of(cluster)
    labels = {
        "app": f"rook-ceph-{daemon.kind}",
        "ceph_daemon_id": daemon.id,
        "ceph_daemon_type": daemon.kind,
        CLUSTER: metadata["namespace"],
    }
    if daemon.kind == "osd":
        labels["ceph-osd-id"] = daemon.id
        labels["topology-location-host"] = daemon.node
    image = part_of(spec, "cephVersion").get("image") or _IMAGE
    pod = {
        "nodeSelector": {_HOST: daemon.node},
        "tolerations": _tolerations(spec, daemon.kind),
        "containers": [
            {"name": daemon.kind, "image": image, "command": [f"ceph-{daemon.kind}"]},
        ],
    }
    return {
        "metadata": {
            "name": daemon.name,
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [controller_reference(cluster)],
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def budgets(cluster: Object, desired: list[Daemon]) -> Iterator[Object]:
    """What keeps drains from taking more than one daemon of a kind at a time."""
    if part_of(cluster, "spec", "disruptionManagement").get("managePodBudgets") is False:
        return
    metadata = metadata_of(cluster)
    names = {"mon": "rook-ceph-mon-pdb", "mgr": "rook-ceph-mgr-pdb", "osd": "rook-ceph-osd"}
    for kind, name in names.items():
        if sum(item.kind == kind for item in desired) < 2:
            continue
        yield {
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "ownerReferences": [controller_reference(cluster)],
            },
            "spec": {
                "maxUnavailable": 1,
                "selector": {"matchLabels": {"app": f"rook-ceph-{kind}"}},
            },
        }
