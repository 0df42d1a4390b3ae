"""Logs of pods, as they lie on the disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.steady import uuid
from stockman_lab.talos.logs.moments import cri_moment, go_moment

if TYPE_CHECKING:
    from stockman_lab.talos.figures.pods import Pod
    from stockman_lab.talos.machine import Machine

_WORDS = {
    "kube-apiserver": (
        "Serving securely on [::]:6443",
        "Starting OpenAPI controller",
        "Caches are synced",
    ),
    "kube-controller-manager": ("Starting", "attempting to acquire leader lease"),
    "kube-scheduler": ("Starting Kubernetes Scheduler", "attempting to acquire leader lease"),
    "kube-proxy": ("Using iptables Proxier", "Caches are synced"),
    "kube-flannel": ("Created subnet manager: Kubernetes Subnet Manager", "Running backend."),
}


def pod_log(machine: Machine, pod: Pod) -> bytes:
    """The log of a pod's container: each line with its moment and where it was written to."""
    del machine
    lines = []
    for place, words in enumerate(_WORDS.get(pod.container, ("started",))):
        at = pod.since + place * 0.25
        lines.append(f"{cri_moment(at)} stderr F {words}\n")
    return "".join(lines).encode()


def audit_log(machine: Machine) -> bytes:
    """What the API server wrote down of who asked it for what: one line for each boot."""
    at = machine.state.kubernetes.static_pods_ready_at or machine.now
    told = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": uuid(machine, f"audit/{machine.state.boot}"),
        "stage": "ResponseComplete",
        "requestURI": f"/api/v1/nodes/{machine.hostname}",
        "verb": "get",
        "user": {"username": f"system:node:{machine.hostname}", "groups": ["system:nodes"]},
        "sourceIPs": [machine.address],
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": go_moment(at),
    }
    return (json.dumps(told, separators=(",", ":")) + "\n").encode()
