"""Bindings: a pod gets its node."""

from __future__ import annotations

from dataclasses import replace

from stockman_lab.kube.api.answers import answered
from stockman_lab.kube.api.call import Call
from stockman_lab.kube.api.decoding import read_body
from stockman_lab.kube.api.messages import Response
from stockman_lab.kube.api.updating import changed
from stockman_lab.kube.failures import Cause, Named, bad_request, conflict, invalid
from stockman_lab.kube.objects import Object, metadata_of, part_of, written_time

_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels of nodes that their pods get, where they have none themselves."""


def bind(call: Call) -> Response:
    """Put a pod on a node; raises `Failure`."""
    request = call.request
    tree = read_body(request.body, request.headers.get("content-type", ""), "Binding")
    name = metadata_of(tree).get("name", "")
    if not call.name:
        call.route = replace(call.route, name=name)
    if name and name != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    target = part_of(tree, "target")
    node = target.get("name", "")
    if target.get("kind") not in (None, "", "Node"):
        cause = Cause(
            "FieldValueNotSupported",
            f'Unsupported value: "{target.get("kind")}": supported values: "Node", "<empty>"',
            "target.kind",
        )
        raise invalid(Named("", "", "Binding"), call.name, [cause])
    if not node:
        cause = Cause("FieldValueRequired", "Required value", "target.name")
        raise invalid(Named("", "", "Binding"), call.name, [cause])
    pods = call.types.resource("", "v1", "pods")
    if pods is not None:
        call.route = replace(call.route, resource=pods)
    changed(call, lambda pod: _bound(call, pod, node, metadata_of(tree)))
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return answered({**status, "code": 201}, 201)


def _bound(call: Call, pod: Object, node: str, more: Object) -> Object:
    if metadata_of(pod).get("deletionTimestamp"):
        why = f"pod {call.name} is being deleted, cannot be assigned to a host"
        raise conflict(Named("pods/binding"), call.name, why)
    if part_of(pod, "spec").get("nodeName"):
        now = pod["spec"]["nodeName"]
        why = f'pod {call.name} is already assigned to node "{now}"'
        raise conflict(Named("pods/binding"), call.name, why)
    uid = more.get("uid")
    if uid and uid != metadata_of(pod).get("uid"):
        raise bad_request(f"uid mismatch: {uid}")
    pod["spec"]["nodeName"] = node
    metadata = pod["metadata"]
    _give_topology(call, metadata, node)
    for name in ("annotations", "labels"):
        if more.get(name):
            metadata[name] = {**(metadata.get(name) or {}), **more[name]}
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": written_time(call.context.now),
    }
    status = pod.setdefault("status", {})
    conditions = [
        condition
        for condition in status.get("conditions") or []
        if condition.get("type") != "PodScheduled"
    ]
    status["conditions"] = [*conditions, scheduled]
    return pod


def _give_topology(call: Call, metadata: Object, node: str) -> None:
    result = call.context.found("nodes", "", node) or {}
    labels = part_of(result, "metadata", "labels")
    supplied = {name: labels[name] for name in _TOPOLOGY if name in labels}
    if supplied:
        metadata["labels"] = {**(metadata.get("labels") or {}), **supplied}
