"""A machine that closes its node and evicts its pods before it goes down, as Talos does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.core.timeline import Arguments, Timeline
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.kube.api.admission_context import StoredContext
from stockman_lab.kube.api.messages import User
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.objects import Object, metadata_of, part_of
from stockman_lab.kube.programs import is_daemon, is_mirror
from stockman_lab.talos import etcd_member
from stockman_lab.talos.cosi.facts import nodename

if TYPE_CHECKING:
    from stockman_lab.etcd.cluster import EtcdCluster
    from stockman_lab.kube.api.server import Api
    from stockman_lab.talos.machine import Machine

LOOK = "kube.drain.look"
_EVERY, _AT_MOST = 5.0, 300.0
"""Seconds between two tries, and until a machine gives up and goes down all the same."""
_GRACE = 60
_PATIENCE = 60.0
"""Seconds after which a pod that does not go is not waited for any more."""
_NEVER = -1.0
_TOO_MANY = 429
_TOO_LATE = "client rate limiter Wait returned an error: context deadline exceeded"
_STILL_THERE = "pod is still running on the node"
_CORDONED = "talos.dev/cordoned"


class Draining:
    """Drains of one cluster."""

    def __init__(self, api: Api, timeline: Timeline) -> None:
        self._client = Client(api, "talos", User("system:node", ("system:masters",)))
        self._objects: StoredContext = api.context
        self._timeline = timeline

    def begin(self, machine: Machine) -> bool:
        """Close the node of a machine and evict its pods; it goes on by itself."""
        running = machine.state.sequence
        node = self._objects.found("nodes", "", nodename(machine))
        cluster = etcd_member.cluster_of(machine) or self._any_cluster(machine)
        if node is None or running is None or cluster is None:
            return False
        try:
            change = {"metadata": {"annotations": {_CORDONED: "true"}}}
            self._client.patch(node, {**change, "spec": {"unschedulable": True}})
        except (Refused, EtcdError):
            return False
        arguments: Arguments = {
            "cluster": cluster.id,
            "machine": machine.key,
            "number": running.number,
            "since": machine.now,
            "meant": ",".join(metadata_of(item)["uid"] for item in self._left(nodename(machine))),
        }
        self._timeline.after(0.5, LOOK, arguments)
        return True

    def open_again(self, machine: Machine) -> None:
        """Open the node of a machine that came back, if it was the machine that closed it."""
        running = machine.state.sequence
        if running is not None and running.name != "boot":
            return
        node = self._objects.found("nodes", "", nodename(machine))
        if node is None or _CORDONED not in (metadata_of(node).get("annotations") or {}):
            return
        change = {"metadata": {"annotations": {_CORDONED: None}}, "spec": {"unschedulable": None}}
        try:
            self._client.patch(node, change)
        except (Refused, EtcdError):
            return  # it is tried at the next look

    def _any_cluster(self, machine: Machine) -> EtcdCluster | None:
        clusters = (
            etcd_member.cluster_of(controller) for controller in machine.land.controllers(machine)
        )
        return next((cluster for cluster in clusters if cluster is not None), None)

    def go_on(self, machine: Machine, arguments: Arguments) -> None:
        """Evict those that are still there; the machine goes on when none is left, or too late."""
        from stockman_lab.talos.sequences import running as sequences

        running = machine.state.sequence
        if running is None or running.number != arguments["number"]:
            return
        if sequences.current_phase(machine) != "drain":
            return
        moments, meant = _moments(arguments), str(arguments["meant"]).split(",")
        left = [
            item
            for item in self._left(nodename(machine))
            if metadata_of(item)["uid"] in meant and not self._is_given_up(machine, item, moments)
        ]
        late = machine.now - float(str(arguments["since"])) >= _AT_MOST
        if not left or late:
            for pod in left:
                _warn(machine, f"failed to evict pod {_pod_name(pod)}: {_TOO_LATE}")
            sequences.finish_phase(machine, running)
            machine.land.settle(machine)
            return
        for pod in left:
            uid = str(metadata_of(pod)["uid"])
            if uid not in moments and not self._evict(machine, pod, moments):
                moments[uid] = _NEVER
        self._timeline.after(_EVERY, LOOK, {**arguments, "asked": moments})

    def _is_given_up(self, machine: Machine, pod: Object, requested: dict[str, float]) -> bool:
        """Whether a pod is not waited for any more."""
        uid = str(metadata_of(pod)["uid"])
        if requested.get(uid) == _NEVER:
            return True
        if uid not in requested or machine.now - requested[uid] < _PATIENCE:
            return False
        requested[uid] = _NEVER
        text = f"failed waiting on pod {_pod_name(pod)} to be deleted: {_STILL_THERE}"
        _warn(machine, text)
        return True

    def _left(self, node: str) -> list[Object]:
        return [
            pod
            for pod in self._objects.listed("pods")
            if part_of(pod, "spec").get("nodeName") == node
            and not is_daemon(pod)
            and not is_mirror(pod)
            and metadata_of(pod).get("ownerReferences")
            and part_of(pod, "status").get("phase") not in ("Succeeded", "Failed")
        ]

    def _evict(self, machine: Machine, pod: Object, requested: dict[str, float]) -> bool:
        """Ask a pod to go; returns whether there is hope."""
        metadata = metadata_of(pod)
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "deleteOptions": {"gracePeriodSeconds": _GRACE},
        }
        try:
            self._client.post(pod, "eviction", body)
        except Refused as why:
            if why.code != _TOO_MANY and not why.is_absent:
                _warn(machine, f"failed to evict pod {_pod_name(pod)}: {why}")
                return False
        else:
            requested[str(metadata["uid"])] = machine.now
        return True


def _warn(machine: Machine, text: str) -> None:
    machine.note(f"WARNING: failed to evict pod: {text}")


def _pod_name(pod: Object) -> str:
    return f"{metadata_of(pod)['namespace']}/{metadata_of(pod)['name']}"


def _moments(arguments: Arguments) -> dict[str, float]:
    """When which pods were asked to go, by their ids."""
    asked = arguments.get("asked")
    return {str(uid): float(one) for uid, one in asked.items()} if isinstance(asked, dict) else {}
