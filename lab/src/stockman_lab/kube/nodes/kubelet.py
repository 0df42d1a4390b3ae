"""The kubelets of a cluster: they register their machines, report, and run pods."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import ClassVar

from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.logs import pod_log
from stockman_lab.kube.api.messages import Response, User
from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.controller import Controller, ControllerContext
from stockman_lab.kube.controllers.objects import ObjectChange, Objects, named_key
from stockman_lab.kube.controllers.recorder import Recorder
from stockman_lab.kube.nodes import leases
from stockman_lab.kube.nodes.acting import Acts, with_acts
from stockman_lab.kube.nodes.host import Host, Hosts
from stockman_lab.kube.nodes.memory import Memories
from stockman_lab.kube.nodes.node_object import new_node, node_status, ready_status
from stockman_lab.kube.nodes.pod_running import (
    NETWORK_NOT_READY,
    Outcome,
    Outcomes,
    Runner,
    volumes_of,
)
from stockman_lab.kube.nodes.pod_status import Standing, pod_status, ready_again
from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of, written_time
from stockman_lab.kube.programs import is_mirror, is_ready, program, purposes

_SYSTEM_CRITICAL = {"operator": "Exists", "effect": "NoExecute"}
HASH = "kubernetes.io/config.hash"


def bring(objects: Objects, client: Client, host: Host, node: Object, now: float) -> None:
    """Have one for every static pod that runs, and none for those that do not."""
    desired = {}
    for pod in host.static_pods():
        result = mirror(pod, host, node, now)
        desired[f"{result['metadata']['namespace']}/{result['metadata']['name']}"] = result
    for key, result in desired.items():
        pods = objects.get("pods", key)
        if pods is not None and _hash(pods) == _hash(result):
            continue
        if pods is not None:
            client.delete(pods, grace=0)
        try:
            client.create("v1", "Pod", result)
        except Refused:
            continue
        fresh = objects.get("pods", key)
        if fresh is not None:
            _run(client, fresh, host, now)


def _hash(pod: Object) -> str:
    return str((metadata_of(pod).get("annotations") or {}).get(HASH, ""))


def mirror(pod: Object, host: Host, node: Object, now: float) -> Object:
    """A static pod as the API shows it."""
    text = json.dumps([pod, host.boot], sort_keys=True, default=str)
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    metadata = copied(metadata_of(pod))
    owner = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": host.name,
        "uid": metadata_of(node).get("uid"),
        "controller": True,
    }
    annotations = {
        **(metadata.get("annotations") or {}),
        HASH: digest,
        "kubernetes.io/config.mirror": digest,
        "kubernetes.io/config.seen": written_time(now).replace("Z", ".000000000Z"),
        "kubernetes.io/config.source": "http",
    }
    spec = copied(part_of(pod, "spec"))
    spec["nodeName"] = host.name
    spec["tolerations"] = [*(spec.get("tolerations") or []), dict(_SYSTEM_CRITICAL)]
    spec["enableServiceLinks"] = True
    return {
        "metadata": {
            **metadata,
            "name": f"{metadata['name']}-{host.name}",
            "namespace": metadata.get("namespace", "default"),
            "annotations": annotations,
            "ownerReferences": [owner],
        },
        "spec": spec,
    }


def look(client: Client, pod: Object) -> None:
    """Let one go that somebody deleted: it comes back at the next look at its node."""
    if metadata_of(pod).get("deletionTimestamp"):
        client.delete(pod, grace=0)


def _run(client: Client, pod: Object, host: Host, now: float) -> None:
    standing = Standing(
        now=now,
        host_address=host.address,
        pod_address=host.address,
        running_since=now,
        is_ready=True,
        boot=host.boot,
    )
    client.update_status(pod, pod_status(pod, standing))


NODE = "@"
"""What keys of nodes begin with; those of pods are `namespace/name`."""
_REGISTERED, _NETWORKED = "registered ", "networked "
"""What notes begin with: which start of a kubelet registered, which boot has a network."""


def usual_outcome(pod: Object) -> Outcome:
    """Programs that end do so after a while, and well."""
    seconds = [
        program(str(entry.get("image", ""))).runs for entry in entries_of(pod, "spec", "containers")
    ]
    return Outcome(max(seconds, default=1.0))


class Kubelets(Controller):
    """All kubelets; each looks after the pods of its own node only."""

    name = "kubelet"
    component = "kubelet"
    watches = ("pods", "nodes", "volumeattachments")
    hosts: ClassVar[Hosts]
    outcomes: ClassVar[Outcomes] = staticmethod(usual_outcome)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self.client = context.client.acting(
            "kubelet/v1.36.3", User("system:node", ("system:masters", "system:nodes"))
        )
        self._memories = Memories(context.notes)
        self._acts = Acts(context.notes)
        context.client.api.subresources["pods", "log"] = self._log
        self._recorders: dict[str, Recorder] = {}
        self._runner = Runner(
            context,
            self.client,
            self._recorder,
            self._memories,
            with_acts(type(self).outcomes, self._acts),
            self.look_again,
        )

    def _log(self, call: Call) -> Response:
        return pod_log(call, self._acts.written)

    def _recorder(self, node: str) -> Recorder:
        if node not in self._recorders:
            self._recorders[node] = Recorder(
                self.objects, self.client, self.context.clock, "kubelet", node
            )
        return self._recorders[node]

    def keys(self, change: ObjectChange) -> Iterable[str]:
        """Pods that have a node, those that an attachment is for, and nodes."""
        if change.key.resource == "nodes":
            yield f"{NODE}{change.key.name}"
            return
        if change.key.resource == "volumeattachments":
            yield from self._waiting_for(change.newest)
            return
        node = part_of(change.newest, "spec").get("nodeName")
        if node:
            yield change.name
            if purposes(change.newest):
                yield f"{NODE}{node}"

    def _waiting_for(self, attachment: Object) -> Iterable[str]:
        """Pods of its node that use the volume of an attachment."""
        spec = part_of(attachment, "spec")
        volume = part_of(spec, "source").get("persistentVolumeName")
        for pod in self.objects.pods_on(str(spec.get("nodeName", ""))):
            if volume in volumes_of(self.objects, pod):
                yield named_key(metadata_of(pod)["namespace"], metadata_of(pod)["name"])

    def sync(self, key: str) -> None:
        """Bring a pod or a node in order."""
        if key.startswith(NODE):
            self._sync_node(key.removeprefix(NODE))
        else:
            self._sync_pod(key)

    # -- pods ----------------------------------------------------------------------------------

    def _sync_pod(self, key: str) -> None:
        pod = self.objects.get("pods", key)
        if pod is None:
            self._memories.forget(key)
            self._acts.forget(key)
            return
        name = str(part_of(pod, "spec").get("nodeName") or "")
        host = self.hosts.host(name)
        if host is None or not host.is_alive or host.complaint:
            return
        node = self.objects.get("nodes", name)
        has_network = node is not None and ready_status(node) == "True"
        corrected = ready_again(pod, self.now) if has_network else None
        if corrected is not None:
            pod = self.client.update_status(pod, corrected)
        if is_mirror(pod):
            look(self.client, pod)
        else:
            self._runner.look(key, pod, host, has_network=has_network)

    # -- nodes ---------------------------------------------------------------------------------

    def _sync_node(self, name: str) -> None:
        host = self.hosts.host(name)
        node = self.objects.get("nodes", name)
        if host is None:
            return
        if not host.is_alive:
            self._tell(host, node, is_alive=False)
            return
        if node is None:
            if self.context.notes.get(f"{_REGISTERED}{name}") == host.start:
                self._tell(host, None, is_alive=True)
                return
            node = self._register(host)
        self.context.notes[f"{_REGISTERED}{name}"] = host.start
        node = self._report(host, node)
        leases.renew(self.objects, self.client, node, self.now)
        bring(self.objects, self.client, host, node, self.now)
        for pod in self.objects.pods_on(name):
            metadata = metadata_of(pod)
            memory = self._memories.of(pod)
            waits = 0 < memory.due <= self.now
            is_off = ready_again(pod, self.now) is not None or metadata.get("deletionTimestamp")
            if memory.boot != host.boot or waits or is_off:
                self._sync_pod(named_key(str(metadata.get("namespace", "")), metadata["name"]))
        self._tell(host, self.objects.get("nodes", name), is_alive=True)

    def _register(self, host: Host) -> Object:
        node = self.client.create("v1", "Node", new_node(host, self.now))
        self._recorder(host.name).normal(
            {**node, "metadata": {**metadata_of(node), "uid": host.name}},
            "Starting",
            "Starting kubelet.",
        )
        return node

    def _report(self, host: Host, node: Object) -> Object:
        pods = self.objects.pods_on(host.name)
        missing = "" if self._has_network(host, pods) else NETWORK_NOT_READY
        complaints = [item for item in (host.complaint, missing) if item]
        plugin = any("gpu" in purposes(pod) and is_ready(pod) for pod in pods)
        status = node_status(
            node,
            host.description(),
            self.now,
            complaint=f"[{', '.join(complaints)}]" if len(complaints) > 1 else "".join(complaints),
            gpus=host.gpus if plugin else 0,
        )
        if _said(status) != _said(part_of(node, "status")):
            was = ready_status(node)
            node = self.client.update_status(node, status)
            word = "NodeNotReady" if complaints else "NodeReady"
            if (was == "True") is bool(complaints):
                about = {**node, "metadata": {**metadata_of(node), "uid": host.name}}
                text = f"Node {host.name} status is now: {word}"
                self._recorder(host.name).normal(about, word, text)
        return node

    def _has_network(self, host: Host, pods: Iterable[Object]) -> bool:
        """Whether a network was set up since the machine booted; what was set up stays."""
        key = f"{_NETWORKED}{host.name}"
        if self.context.notes.get(key) == host.boot:
            return True
        memories = (self._memories.of(pod) for pod in pods if "network" in purposes(pod))
        if not any(memory.boot == host.boot and memory.stage == "ready" for memory in memories):
            return False
        self.context.notes[key] = host.boot
        return True

    def _tell(self, host: Host, node: Object | None, *, is_alive: bool) -> None:
        host.noted(
            is_there=node is not None,
            is_ready=is_alive and node is not None and ready_status(node) == "True",
            is_closed=node is not None and bool(part_of(node, "spec").get("unschedulable")),
        )


def _said(status: Object) -> Object:
    """What is new in a status, without the moments of its signs of life."""
    conditions = [
        {name: value for name, value in entry.items() if name != "lastHeartbeatTime"}
        for entry in entries_of(status, "conditions")
    ]
    return {**status, "conditions": conditions}
