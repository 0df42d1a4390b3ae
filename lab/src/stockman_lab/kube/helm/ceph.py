"""Ceph clusters, as the operator of Rook runs them: their daemons, and how they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, TypeAlias

from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, named_key
from stockman_lab.kube.helm.ceph_daemons import (
    CLUSTER,
    Daemon,
    budgets,
    daemons,
    deployment,
    name_of,
)
from stockman_lab.kube.helm.ceph_health import Found, Health, health
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of
from stockman_lab.kube.programs import is_ready

Trouble: TypeAlias = Callable[[Point, Mapping[str, object]], Fault | None]
"""A fault that lasts where the facts fit."""
ALL = "*"
"""The key that stands for every cluster."""
GROUP = "ceph.rook.io"
_OPERATOR = "rook-ceph-operator"
_EVERY = 60.0
"""Seconds between two looks of the operator at the health of a cluster."""
_RECOVERS = (20.0, 90.0)
"""Least and most seconds until all copies are there again, after all disks are."""


def no_trouble(point: Point, facts: Mapping[str, object]) -> Fault | None:
    """Nothing ever goes wrong."""
    del point, facts
    return None


class CephClusters(Controller):
    """Brings daemons, and says how clusters are, while the operator's pod is ready."""

    name = "rook-ceph"
    component = "rook-ceph-operator"
    watches = (f"cephclusters.{GROUP}", "pods", "nodes")
    trouble: ClassVar[Trouble] = staticmethod(no_trouble)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self.client = context.client.acting("rook/v1.20.6", User("rook", ("system:masters",)))

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Clusters; all of them when a node, the operator or a daemon changes."""
        if change.key.group == GROUP:
            return (change.name,)
        labels = metadata_of(change.newest).get("labels") or {}
        matters = change.key.resource == "nodes" or labels.get("app") == _OPERATOR
        if not matters and CLUSTER not in labels:
            return ()
        return (ALL,) if self.objects.listed("cephclusters", group=GROUP) else ()

    def sync(self, key: str) -> None:
        """Look after one cluster, or after all."""
        if key == ALL:
            for cluster in self.objects.listed("cephclusters", group=GROUP):
                self._look(
                    named_key(metadata_of(cluster)["namespace"], metadata_of(cluster)["name"])
                )
        else:
            self._look(key)

    def _look(self, key: str) -> None:
        cluster = self.objects.get("cephclusters", key, GROUP)
        if cluster is None or metadata_of(cluster).get("deletionTimestamp"):
            self.context.notes.pop(_note(key), None)
        elif self._has_operator() and not part_of(cluster, "spec", "external").get("enable"):
            desired = daemons(cluster, self.objects.listed("nodes"), self._deployments(cluster))
            self._bring(cluster, desired)
            self._tell(key, cluster, desired)

    def _has_operator(self) -> bool:
        return any(
            (metadata_of(pod).get("labels") or {}).get("app") == _OPERATOR and is_ready(pod)
            for pod in self.objects.listed("pods")
        )

    # -- daemons -------------------------------------------------------------------------------

    def _deployments(self, cluster: Object) -> list[Object]:
        return [
            one
            for one in self.objects.listed("deployments", metadata_of(cluster)["namespace"])
            if CLUSTER in (metadata_of(one).get("labels") or {})
        ]

    def _bring(self, cluster: Object, desired: list[Daemon]) -> None:
        result = [("apps/v1", "Deployment", deployment(cluster, item)) for item in desired]
        result += [
            ("policy/v1", "PodDisruptionBudget", budget) for budget in budgets(cluster, desired)
        ]
        for api_version, kind, content in result:
            metadata = metadata_of(content)
            key = named_key(metadata["namespace"], metadata["name"])
            plural = "deployments" if kind == "Deployment" else "poddisruptionbudgets"
            if self.objects.get(plural, key) is not None:
                continue
            try:
                self.client.create(api_version, kind, content)
            except Refused as why:
                if not why.is_taken:
                    raise

    def _ready(self, cluster: Object) -> set[str]:
        """Names of daemons that work."""
        pods = self.objects.listed("pods", metadata_of(cluster)["namespace"])
        return {name_of(pod) for pod in pods if is_ready(pod)} - {""}

    # -- health --------------------------------------------------------------------------------

    def _tell(self, key: str, cluster: Object, desired: list[Daemon]) -> None:
        result = self._found(key, cluster, desired)
        told = health(result)
        before = part_of(cluster, "status")
        note = self._note(key)
        was_whole = before.get("phase") == "Ready"
        if was_whole and _same(part_of(before, "ceph"), told):
            note.pop("look", None)
            self._keep(key, note)
            return
        if not was_whole and not result.is_whole:
            self._progress(cluster)
            return
        if "look" not in note and was_whole:
            note["look"] = (self.now // _EVERY + 1) * _EVERY
            self._keep(key, note)
        if was_whole and self.now < float(note["look"]):
            self.look_again(key, float(note["look"]))
            return
        note.pop("look", None)
        self._keep(key, note)
        self._write(cluster, told)

    def _found(self, key: str, cluster: Object, desired: list[Daemon]) -> Found:
        ready = self._ready(cluster)
        down = [item for item in desired if item.name not in ready]
        metadata = metadata_of(cluster)
        facts = {"namespace": metadata["namespace"], "object": metadata["name"]}
        fault = type(self).trouble(Point.CEPH, facts)
        is_degraded = self._recovers(key, cluster, down, fault)
        failure = fault if fault is not None and fault.effect is Effect.FAIL else None
        return Found(desired, down, is_degraded, failure)

    def _recovers(self, key: str, cluster: Object, down: list[Daemon], fault: Fault | None) -> bool:
        """Whether copies are missing though all disks are there."""
        note = self._note(key)
        if any(item.kind == "osd" for item in down):
            if part_of(cluster, "status").get("phase") == "Ready":
                self._keep(key, {**note, "missing": True, "until": None})
            return False
        if not note.get("missing"):
            return False
        if fault is not None and fault.effect is Effect.HANG:
            return True
        if note.get("until") is None:
            late = fault.seconds if fault is not None and fault.effect is Effect.DELAY else 0.0
            note["until"] = self.now + self.context.dice.between(*_RECOVERS) + late
            self._keep(key, note)
        if self.now < note["until"]:
            self.look_again(key, note["until"])
            return True
        self._keep(key, {**note, "missing": False, "until": None})
        return False

    def _note(self, key: str) -> Object:
        content: Object = json.loads(self.context.notes.get(_note(key), "{}"))
        return content

    def _keep(self, key: str, note: Object) -> None:
        self.context.notes[_note(key)] = json.dumps(note, separators=(",", ":"), sort_keys=True)

    # -- status --------------------------------------------------------------------------------

    def _progress(self, cluster: Object) -> None:
        text = "Configuring Ceph Mons"
        status = {**part_of(cluster, "status"), "phase": "Progressing", "state": "Creating"}
        status |= {
            "message": text,
            "conditions": [self._condition(cluster, "Progressing", "ClusterProgressing", text)],
            "observedGeneration": metadata_of(cluster).get("generation", 1),
        }
        if status != part_of(cluster, "status"):
            self.client.update_status(cluster, status)

    def _write(self, cluster: Object, told: Health) -> None:
        before = part_of(cluster, "status")
        ceph = copied(part_of(before, "ceph"))
        if ceph.get("health") != told.word:
            if ceph.get("health"):
                ceph["previousHealth"] = ceph["health"]
            ceph["lastChanged"] = self.today
        ceph |= {"health": told.word, "lastChecked": self.today}
        ceph.setdefault("fsid", metadata_of(cluster)["uid"])
        ceph.pop("details", None)
        if told.details:
            ceph["details"] = told.details
        text = "Cluster created successfully"
        status = {
            **before,
            "phase": "Ready",
            "state": "Created",
            "message": text,
            "ceph": ceph,
            "conditions": [
                *(entry for entry in entries_of(before, "conditions") if entry["type"] != "Ready"),
                self._condition(cluster, "Ready", "ClusterCreated", text),
            ],
            "observedGeneration": metadata_of(cluster).get("generation", 1),
        }
        self.client.update_status(cluster, status)

    def _condition(self, cluster: Object, kind: str, reason: str, text: str) -> Object:
        known = entries_of(cluster, "status", "conditions")
        before = next((item for item in known if item["type"] == kind), {})
        return {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": text,
            "lastHeartbeatTime": before.get("lastHeartbeatTime", self.today),
            "lastTransitionTime": before.get("lastTransitionTime", self.today),
        }


def _same(ceph: Object, told: Health) -> bool:
    return ceph.get("health") == told.word and (ceph.get("details") or {}) == told.details


def _note(key: str) -> str:
    return f"ceph {key}"
