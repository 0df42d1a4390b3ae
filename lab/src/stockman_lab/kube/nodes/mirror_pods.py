"""Pods in the API that stand for those that a machine runs by itself."""

from __future__ import annotations

import hashlib
import json

from stockman_lab.kube.controllers.client import Client, Refused
from stockman_lab.kube.controllers.objects import Objects
from stockman_lab.kube.nodes.host import Host
from stockman_lab.kube.nodes.pod_status import Standing, pod_status
from stockman_lab.kube.objects import Object, copied, metadata_of, part_of, written_time

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
