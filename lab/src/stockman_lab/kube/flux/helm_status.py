"""What HelmReleases say of themselves: conditions, and the releases they know."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.helm.release import Release
from stockman_lab.kube.objects import Object, Tree, entries_of, metadata_of, written_time
from stockman_lab.kube.programs import is_ready

_WEIGHTS = {"Stalled": 0, "Reconciling": 1, "Ready": 2}
_SUMMED = ("Remediated", "Released")


def digest(content: Tree) -> str:
    """Of any tree, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(slots=True)
class Standing:
    """The status of an object while it is worked on."""

    content: Object
    status: Object
    now: float

    @property
    def generation(self) -> int:
        return int(metadata_of(self.content).get("generation", 1))

    def condition(self, kind: str) -> Object:
        """A condition; an empty one where there is none."""
        entries = entries_of(self.status, "conditions")
        return next((entry for entry in entries if entry.get("type") == kind), {})

    def mark(self, kind: str, value: str, reason: str, message: str) -> None:
        """Set a condition; the moment of its change stays where it says what it said."""
        before = self.condition(kind)
        result: Object = {
            "type": kind,
            "status": value,
            "observedGeneration": self.generation,
            "lastTransitionTime": written_time(self.now),
            "reason": reason,
            "message": message,
        }
        same = ("status", "reason", "message")
        if before and all(before.get(name) == result[name] for name in same):
            result["lastTransitionTime"] = before["lastTransitionTime"]
        entries = [
            entry for entry in entries_of(self.status, "conditions") if entry["type"] != kind
        ]
        every = sorted([*entries, result], key=_order)
        self.status["conditions"] = every

    def drop(self, *kinds: str) -> None:
        """Take conditions away."""
        entries = [
            entry for entry in entries_of(self.status, "conditions") if entry["type"] not in kinds
        ]
        self.status["conditions"] = entries

    def reconciling(self, reason: str, message: str) -> None:
        """Say that work is under way."""
        self.drop("Stalled")
        self.mark("Reconciling", "True", reason, message)

    def stalled(self, reason: str, message: str) -> None:
        """Say that nothing will become better by itself."""
        self.drop("Reconciling")
        self.mark("Stalled", "True", reason, message)

    def summarize(self) -> None:
        """Say in `Ready` what was released or remediated."""
        conditions = [self.condition(item) for item in _SUMMED if self.condition(item)]
        if not conditions:
            return
        newest = max(int(condition.get("observedGeneration", 0)) for condition in conditions)
        first = next(
            condition
            for condition in conditions
            if int(condition.get("observedGeneration", 0)) == newest
        )
        value = "False" if first["type"] == "Remediated" else str(first["status"])
        if value == "True":
            self.drop("Stalled")
        self.mark("Ready", value, str(first["reason"]), str(first["message"]))


def _order(condition: Object) -> tuple[int, str]:
    kind = str(condition["type"])
    return _WEIGHTS.get(kind, len(_WEIGHTS)), kind


def snapshot(release: Release, action: str, oci_digest: str) -> Object:
    """A release as a HelmRelease remembers it."""
    content: Object = {
        "apiVersion": "v2",
        "digest": observed_digest(release),
        "name": release.name,
        "namespace": release.namespace,
        "version": release.revision,
        "status": release.status,
        "action": action,
        "chartName": release.chart.get("name"),
        "chartVersion": release.chart.get("version"),
        "appVersion": release.chart.get("appVersion"),
        "configDigest": digest(release.values),
        "firstDeployed": written_time(release.first),
        "lastDeployed": written_time(release.last),
        "ociDigest": oci_digest,
    }
    if release.deleted:
        content["deleted"] = written_time(release.deleted)
    return {name: one for name, one in content.items() if one not in (None, "")}


def observed_digest(release: Release) -> str:
    """By which a release is known again."""
    return digest(
        {
            "name": release.name,
            "version": release.revision,
            "info": release.info,
            "chartMetadata": release.chart,
            "config": release.values,
            "manifest": release.manifest,
            "namespace": release.namespace,
        }
    )


def full_name(content: Object) -> str:
    """`namespace/name.v1` of a remembered release."""
    return f"{content['namespace']}/{content['name']}.v{content['version']}"


def chart_name(content: Object) -> str:
    """`chart@version` of a remembered release."""
    return f"{content['chartName']}@{content['chartVersion']}"


def inventory(release: Release) -> Object:
    """What a release holds, as objects of Flux list it."""
    entries = []
    for content in release.objects:
        about = metadata_of(content)
        group, _, version = str(content["apiVersion"]).rpartition("/")
        name = str(about["name"]).replace(":", "__")
        key = f"{about.get('namespace', '')}_{name}_{group}_{content['kind']}"
        entries.append({"id": key, "v": version})
    return {"entries": entries}


_GATES = "--feature-gates="


def image_name(pod: Object) -> str:
    """The last part of the name of the image of a pod's first container."""
    first = next(iter(entries_of(pod, "spec", "containers")), {})
    name = str(first.get("image", "")).partition("@")[0]
    path, _, tag = name.rpartition(":")
    return (name if "/" in tag or not path else path).rpartition("/")[2]


def running_pod(objects: Objects, program: str) -> Object | None:
    """A ready pod of a program; None: nobody does its work."""
    for pod in objects.listed("pods"):
        is_going = bool(metadata_of(pod).get("deletionTimestamp"))
        if image_name(pod) == program and is_ready(pod) and not is_going:
            return pod
    return None


def has_gate(pod: Object, gate: str) -> bool:
    """Whether a feature is switched on in the arguments of a pod."""
    first = next(iter(entries_of(pod, "spec", "containers")), {})
    result = [
        item
        for argument in first.get("args") or ()
        if str(argument).startswith(_GATES)
        for item in str(argument).removeprefix(_GATES).split(",")
    ]
    return f"{gate}=true" in result
