"""Daemon sets: one pod on every node that fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stockman_lab.kube.controllers import pods as pod_facts
from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.node_fitting import daemon_tolerations, should_run
from stockman_lab.kube.controllers.objects import ObjectChange, controller_of, named_key
from stockman_lab.kube.controllers.ownership import claimed
from stockman_lab.kube.controllers.pods import resolved
from stockman_lab.kube.controllers.revisions import kept_history, trim_history
from stockman_lab.kube.objects import Object, entries_of, metadata_of, part_of

_HASH = "controller-revision-hash"
_GENERATION = "deprecated.daemonset.template.generation"
_BURST = 250
_Decided = tuple[list[Object], Object, dict[str, tuple[bool, bool]]]


@dataclass(slots=True)
class _Work:
    """One daemon set as it is brought in order."""

    found: Object
    hash: str
    by_node: dict[str, list[Object]]
    nodes: dict[str, tuple[bool, bool]]
    """Of every node whether a pod belongs there, and whether one may stay."""
    revision: int
    """At which it is as it says."""
    failure: Refused | None = None


class DaemonSets(Controller):
    """Puts pods on nodes and replaces old ones."""

    name = "daemonset"
    component = "daemonset-controller"
    watches = ("daemonsets", "pods", "nodes")

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._decided: dict[str, _Decided] = {}

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Of a pod: its owner, or whoever may adopt it; of a node: all."""
        if change.key.resource == "pods":
            return pod_facts.touched_owners(change, self.objects, "daemonsets", "DaemonSet")
        if change.key.resource == "nodes":
            return self._of_node(change) if _is_moved(change) else ()
        return (change.name,)

    def _of_node(self, change: ObjectChange) -> Iterable[str]:
        """Sets that lack a pod on a node, or have one that may not stay."""
        for daemon_set in self.objects.listed("daemonsets"):
            metadata = metadata_of(daemon_set)
            runs = stays = False
            if change.after is not None:
                runs, stays = should_run(
                    part_of(daemon_set, "spec", "template", "spec"), change.after
                )
            there = self._is_on(metadata["uid"], change.key.name)
            if (runs and not there) or (there and not stays):
                yield named_key(metadata["namespace"], metadata["name"])

    def _is_on(self, uid: str, node: str) -> bool:
        """Whether a set has a pod on a node, or one that can be nowhere else."""
        if any((controller_of(pod) or {}).get("uid") == uid for pod in self.objects.pods_on(node)):
            return True
        return any(
            key.resource == "pods" and node_of(pod) == node for key, pod in self.objects.owned(uid)
        )

    def sync(self, key: str) -> None:
        """Make, delete and replace pods."""
        daemonsets = self.objects.get("daemonsets", key)
        if daemonsets is None:
            self._decided.pop(key, None)
            return
        if metadata_of(daemonsets).get("deletionTimestamp"):
            return
        history = kept_history(daemonsets, self.objects, self.client, _HASH)
        code = part_of(history.current, "metadata", "labels")[_HASH]
        work = self._begun(daemonsets, code)
        self._place(work)
        work_after = self._again(work)
        if (
            part_of(daemonsets, "spec", "updateStrategy").get("type", "RollingUpdate")
            == "RollingUpdate"
        ):
            self._replace(work_after)
            work_after = self._again(work_after)
        limit = part_of(daemonsets, "spec").get("revisionHistoryLimit", 10)
        stem = metadata_of(daemonsets)["name"]
        used = {f"{stem}-{_hash(pod)}" for pods in work_after.by_node.values() for pod in pods}
        trim_history(history, limit, used, self.client)
        self._tell(key, work_after)
        if work.failure is not None:
            raise work.failure

    def _again(self, work: _Work) -> _Work:
        """The same after something was done, if anything was."""
        if work.revision == self.objects.revision:
            return work
        return self._begun(work.found, work.hash)

    def _begun(self, content: Object, code: str) -> _Work:
        by_node: dict[str, list[Object]] = {}
        for pod in claimed(content, "pods", self.objects, self.client):
            by_node.setdefault(node_of(pod), []).append(pod)
        return _Work(content, code, by_node, self._nodes_for(content), self.objects.revision)

    def _nodes_for(self, content: Object) -> dict[str, tuple[bool, bool]]:
        """By name, whether pods of a set belong there and may stay; the same until one changes."""
        template = part_of(content, "spec", "template", "spec")
        every = self.objects.listed("nodes")
        key = named_key(metadata_of(content)["namespace"], metadata_of(content)["name"])
        known = self._decided.get(key)
        if known is not None and known[0] is every and known[1] == template:
            return known[2]
        should_runs = {metadata_of(node)["name"]: should_run(template, node) for node in every}
        self._decided[key] = every, template, should_runs
        return should_runs

    def _place(self, work: _Work) -> None:
        doomed: list[Object] = []
        lacking: list[str] = []
        for node, (runs, stays) in work.nodes.items():
            pods = work.by_node.get(node, [])
            failed = [
                one
                for one in pods
                if pod_facts.phase(one) in {"Failed", "Succeeded"} and not pod_facts.is_going(one)
            ]
            active = [one for one in pods if pod_facts.is_active(one)]
            if runs and not pods:
                lacking.append(node)
            elif stays or runs:
                doomed += failed
                if len(active) > 1:
                    doomed += sorted(active, key=_age)[1:]
            else:
                doomed += [one for one in pods if not pod_facts.is_going(one)]
        for node, pods in work.by_node.items():
            if node not in work.nodes and node:
                doomed += [one for one in pods if not pod_facts.is_going(one)]
        for node in lacking[:_BURST]:
            if work.failure is None:
                self._create(work, node)
        for pod in doomed:
            self._delete(work.found, pod)

    def _create(self, work: _Work, node: str) -> None:
        result = work.found
        template = part_of(result, "spec", "template")
        made = pod_facts.from_template(result, template)
        labels = made["metadata"].setdefault("labels", {})
        labels[_HASH] = work.hash
        annotations = part_of(result, "metadata", "annotations")
        if _GENERATION in annotations:
            labels["pod-template-generation"] = annotations[_GENERATION]
        spec = made["spec"]
        own = entries_of(spec, "tolerations")
        spec["tolerations"] = [
            *own,
            *(
                daemon_toleration
                for daemon_toleration in daemon_tolerations(spec)
                if daemon_toleration not in own
            ),
        ]
        _bind(spec, node)
        try:
            pod = self.client.create("v1", "Pod", made)
        except Refused as why:
            self.recorder.warning(result, "FailedCreate", f"Error creating: {why.message}")
            work.failure = why
            return
        self.recorder.normal(result, "SuccessfulCreate", f"Created pod: {metadata_of(pod)['name']}")

    def _delete(self, content: Object, pod: Object) -> None:
        self.client.delete(pod)
        self.recorder.normal(
            content, "SuccessfulDelete", f"Deleted pod: {metadata_of(pod)['name']}"
        )

    # -- replacing -----------------------------------------------------------------------------

    def _replace(self, work: _Work) -> None:
        result = work.found
        least = part_of(result, "spec").get("minReadySeconds", 0)
        desired = sum(runs for runs, _ in work.nodes.values())
        rolling = part_of(result, "spec", "updateStrategy", "rollingUpdate")
        most = resolved(rolling.get("maxUnavailable", 1), desired, up=True) or 1
        missing = 0
        candidates: list[Object] = []
        broken: list[Object] = []
        for node, (runs, _) in work.nodes.items():
            if not runs:
                continue
            active = [item for item in work.by_node.get(node, []) if pod_facts.is_active(item)]
            old = [item for item in active if _hash(item) != work.hash]
            new = [item for item in active if _hash(item) == work.hash]
            if not active or (not old and not new):
                missing += 1
            elif old:
                if pod_facts.is_available(old[0], least, self.now):
                    candidates.append(old[0])
                else:
                    missing += 1
                    broken.append(old[0])
            elif not pod_facts.is_available(new[0], least, self.now):
                missing += 1
        room = max(most - missing, 0)
        for pod in [*broken, *candidates[:room]]:
            self._delete(result, pod)

    # -- what is told --------------------------------------------------------------------------

    def _tell(self, key: str, work: _Work) -> None:
        result = work.found
        least = part_of(result, "spec").get("minReadySeconds", 0)
        desired = current = misplaced = ready = updated = available = 0
        for node, (runs, _) in work.nodes.items():
            pods = work.by_node.get(node, [])
            if not runs:
                misplaced += bool(pods)
                continue
            desired += 1
            if not pods:
                continue
            current += 1
            pod = min(pods, key=_age)
            if pod_facts.is_ready(pod):
                ready += 1
                if pod_facts.is_available(pod, least, self.now):
                    available += 1
                else:
                    self.look_again(key, pod_facts.available_at(pod, least))
            updated += _hash(pod) == work.hash
        old = part_of(result, "status")
        status: Object = {
            "currentNumberScheduled": current,
            "numberMisscheduled": misplaced,
            "desiredNumberScheduled": desired,
            "numberReady": ready,
            "observedGeneration": metadata_of(result)["generation"],
        }
        more = {
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
            "numberUnavailable": desired - available,
            "collisionCount": old.get("collisionCount", 0),
        }
        status |= {name: one for name, one in more.items() if one}
        if status != old:
            self.client.update_status(result, status)


def node_of(pod: Object) -> str:
    """The node for which a pod is meant: where it is, or where alone it may be."""
    spec = part_of(pod, "spec")
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    required = part_of(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    for term in entries_of(required, "nodeSelectorTerms"):
        for entry in entries_of(term, "matchFields"):
            if entry.get("key") == "metadata.name" and entry.get("values"):
                return str(entry["values"][0])
    return ""


def _bind(spec: Object, node: str) -> None:
    """Let a pod be for one node alone."""
    only = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = part_of(affinity, name).get("nodeSelectorTerms") or [{}]
    affinity[name] = {"nodeSelectorTerms": [{**term, "matchFields": only} for term in terms]}


def _hash(pod: Object) -> str:
    return str(part_of(pod, "metadata", "labels").get(_HASH, ""))


def _age(pod: Object) -> tuple[bool, str, str]:
    metadata = metadata_of(pod)
    return pod_facts.is_going(pod), str(metadata.get("creationTimestamp")), str(metadata["name"])


def _is_moved(change: ObjectChange) -> bool:
    """Whether a node came, went, or changed in what decides about pods."""
    if change.before is None or change.after is None:
        return True
    before, after = change.before, change.after
    same_labels = metadata_of(before).get("labels") == metadata_of(after).get("labels")
    taints = part_of(before, "spec").get("taints") == part_of(after, "spec").get("taints")
    return not (same_labels and taints)
