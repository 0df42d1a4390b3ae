"""Pods, nodes and others in the states that their tables have words for."""

from __future__ import annotations

from typing import Any

from tests.real.kubernetes.objects import Object

RUNNING: Object = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
READY: Object = {"type": "Ready", "status": "True"}
INITIALIZED: Object = {"type": "Initialized", "status": "True"}
STEPS: Object = {"initContainers": [{"name": "one", "image": "x"}, {"name": "two", "image": "y"}]}
SIDECAR: Object = {
    "initContainers": [
        {"name": "beside", "image": "x", "restartPolicy": "Always"},
        {"name": "two", "image": "y"},
    ]
}


def _ended(code: int = 0, **facts: Any) -> Object:
    return {"terminated": {"exitCode": code, **facts}}


def _restarted(day: int) -> Object:
    times = {
        "startedAt": f"2026-01-{day:02}T08:00:00Z",
        "finishedAt": f"2026-01-{day:02}T09:00:00Z",
    }
    return _ended(1, **times)


def _waits(reason: str) -> Object:
    return {"waiting": {"reason": reason}}


def _container(name: str, state: Object, **facts: Any) -> Object:
    start = {"name": name, "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {**start, "state": state, **facts}


def _both(first: Object, second: Object) -> list[Object]:
    return [_container("a", first), _container("b", second)]


UP = [_container("a", RUNNING, ready=True), _container("b", RUNNING, ready=True)]
DONE = _ended(0, reason="Completed")

PODS: dict[str, tuple[Object, Object]] = {
    "restarted": (
        {},
        {
            "phase": "Running",
            "conditions": [READY],
            "podIP": "10.42.1.1",
            "podIPs": [{"ip": "10.42.1.1"}],
            "containerStatuses": [
                _container("a", RUNNING, ready=True, restartCount=1, lastState=_restarted(2)),
                _container("b", RUNNING, ready=True, restartCount=3, lastState=_restarted(3)),
            ],
        },
    ),
    "pulling": (
        {},
        {
            "phase": "Pending",
            "containerStatuses": _both(_waits("ImagePullBackOff"), _waits("ContainerCreating")),
        },
    ),
    "succeeded": ({}, {"phase": "Succeeded", "containerStatuses": _both(DONE, DONE)}),
    "evicted": ({}, {"phase": "Failed", "reason": "Evicted"}),
    "exit-code": ({}, {"phase": "Failed", "containerStatuses": _both(_ended(2), DONE)}),
    "signal": (
        {},
        {
            "phase": "Failed",
            "containerStatuses": _both(_ended(137, signal=9), _ended(137, signal=9)),
        },
    ),
    "half-done": (
        {},
        {
            "phase": "Running",
            "conditions": [READY],
            "containerStatuses": [_container("a", DONE), _container("b", RUNNING, ready=True)],
        },
    ),
    "half-done-not-ready": (
        {},
        {
            "phase": "Running",
            "containerStatuses": [_container("a", DONE), _container("b", RUNNING, ready=True)],
        },
    ),
    "half-failed": (
        {},
        {"phase": "Running", "containerStatuses": _both(DONE, _ended(1, reason="Error"))},
    ),
    "initializing": (
        STEPS,
        {
            "phase": "Pending",
            "initContainerStatuses": [
                _container("one", _ended(), restartCount=2, lastState=_restarted(2)),
                _container("two", RUNNING),
            ],
        },
    ),
    "init-exit-code": (
        STEPS,
        {
            "phase": "Pending",
            "initContainerStatuses": [
                _container("one", _ended(3)),
                _container("two", _waits("PodInitializing")),
            ],
        },
    ),
    "init-crashing": (
        STEPS,
        {
            "phase": "Pending",
            "initContainerStatuses": [
                _container(
                    "one", _waits("CrashLoopBackOff"), restartCount=4, lastState=_restarted(2)
                )
            ],
        },
    ),
    "init-signal": (
        STEPS,
        {"phase": "Pending", "initContainerStatuses": [_container("one", _ended(9, signal=9))]},
    ),
    "init-reason": (
        STEPS,
        {
            "phase": "Pending",
            "initContainerStatuses": [_container("one", _ended(9, reason="OOMKilled"))],
        },
    ),
    "sidecar": (
        SIDECAR,
        {
            "phase": "Running",
            "conditions": [INITIALIZED],
            "initContainerStatuses": [
                _container(
                    "beside",
                    RUNNING,
                    started=True,
                    ready=True,
                    restartCount=1,
                    lastState=_restarted(4),
                ),
                _container("two", _ended(), restartCount=5),
            ],
            "containerStatuses": [
                _container("a", RUNNING, ready=True),
                _container("b", RUNNING),
            ],
        },
    ),
    "sidecar-first": (
        SIDECAR,
        {
            "phase": "Pending",
            "initContainerStatuses": [
                _container("beside", RUNNING, started=True, ready=True),
                _container("two", _waits("PodInitializing")),
            ],
        },
    ),
    "gated": (
        {"schedulingGates": [{"name": "example.org/gate"}]},
        {
            "phase": "Pending",
            "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
            ],
        },
    ),
    "readiness": (
        {"readinessGates": [{"conditionType": f"example.org/{one}"} for one in "ab"]},
        {"phase": "Pending", "conditions": [{"type": "example.org/a", "status": "True"}]},
    ),
    "going": ({}, {"phase": "Running", "conditions": [READY], "containerStatuses": UP}),
    "gone": ({}, {"phase": "Succeeded"}),
    "lost": ({}, {"phase": "Running", "reason": "NodeLost"}),
}
"""What is special about the pod, and its status."""
BEING_DELETED = {"going", "gone", "lost"}

_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "containerd://2.1",
    "kernelVersion": "6.12",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.36.3",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "Talos (v1.13)",
    "systemUUID": "",
}
NODES: dict[str, tuple[dict[str, str], Object]] = {
    "well": (
        {"node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "db"},
        {
            "conditions": [READY],
            "nodeInfo": _INFO,
            "addresses": [
                {"type": "InternalIP", "address": "10.42.0.1"},
                {"type": "Hostname", "address": "well"},
            ],
        },
    ),
    "unknown": ({}, {"conditions": [{"type": "Ready", "status": "Unknown"}]}),
}
"""The labels of the node, and its status."""

STATUSES: dict[str, Object] = {
    "/apis/apps/v1/namespaces/default/deployments/plain": {
        "replicas": 3,
        "readyReplicas": 2,
        "updatedReplicas": 3,
        "availableReplicas": 2,
    },
    "/apis/batch/v1/namespaces/default/jobs/plain": {
        "startTime": "2026-01-02T00:00:00Z",
        "active": 1,
    },
    "/api/v1/persistentvolumes/plain": {"phase": "Bound", "reason": "r"},
    "/api/v1/namespaces/default/persistentvolumeclaims/bound": {
        "phase": "Bound",
        "capacity": {"storage": "1536Mi"},
        "accessModes": ["ReadWriteOnce"],
    },
    "/api/v1/namespaces/default/services/balanced": {
        "loadBalancer": {"ingress": [{"ip": "10.42.9.9"}, {"hostname": "balancer.example"}]}
    },
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses/plain": {
        "loadBalancer": {"ingress": [{"ip": "10.42.9.9"}]}
    },
    "/apis/example.org/v1/namespaces/default/widgets/one": {
        "conditions": [{"type": "Other", "status": "False"}, READY]
    },
}
"""By the path of the object."""
