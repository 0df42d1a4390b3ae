"""The status of a pod as kubelets write it, from its first moment to its last."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from stockman_lab.kube.objects import Object, copied, entries_of, metadata_of, part_of, written_time

_CONTAINERS = "containers with unready status"
_ORDER = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


@dataclass(slots=True)
class Standing:
    """Where the containers of a pod stand."""

    now: float
    host_address: str
    pod_address: str = ""
    """Empty: it has none yet."""
    running_since: float | None = None
    """None: containers do not run."""
    is_ready: bool = False
    waiting: str = "ContainerCreating"
    """Why containers wait, where they do not run."""
    waiting_message: str = ""
    ended: dict[str, object] = field(default_factory=dict)
    """How containers ended: exit code and reason. Empty: they did not."""
    restarts: int = 0
    last: dict[str, object] = field(default_factory=dict)
    """How the containers before these ended. Empty: there were none."""
    boot: str = ""


def pod_status(pod: Object, standing: Standing) -> Object:
    """The status of a pod; conditions that did not change keep their moment."""
    before = part_of(pod, "status")
    spec = part_of(pod, "spec")
    status = copied(before)
    generation = metadata_of(pod).get("generation")
    if generation:
        status["observedGeneration"] = generation
    status["phase"] = _phase(standing)
    status["conditions"] = _conditions(pod, standing)
    status["hostIP"] = standing.host_address
    status["hostIPs"] = [{"ip": standing.host_address}]
    if standing.pod_address:
        status["podIP"] = standing.pod_address
        status["podIPs"] = [{"ip": standing.pod_address}]
    status.setdefault("startTime", written_time(standing.now))
    if entries_of(spec, "initContainers"):
        status["initContainerStatuses"] = [
            _init_container(pod, entry, standing) for entry in entries_of(spec, "initContainers")
        ]
    status["containerStatuses"] = [
        _container(pod, entry, standing)
        for entry in sorted(
            entries_of(spec, "containers"), key=lambda container: str(container["name"])
        )
    ]
    status.pop("nominatedNodeName", None)
    return status


def ready_again(pod: Object, now: float) -> Object | None:
    """The status of a pod that others took for lost while all its containers were ready.

    None: there is nothing to correct.
    """
    before = part_of(pod, "status")
    known = {entry.get("type"): entry for entry in entries_of(before, "conditions")}
    wrong = known.get("Ready", {}).get("status") == "False"
    if not wrong or known.get("ContainersReady", {}).get("status") != "True":
        return None
    conditions = [
        _condition(pod, "Ready", True, {}, now) if entry.get("type") == "Ready" else entry
        for entry in entries_of(before, "conditions")
    ]
    return {**before, "conditions": conditions}


def _phase(standing: Standing) -> str:
    if standing.ended:
        return "Failed" if standing.ended.get("exitCode") else "Succeeded"
    if standing.running_since is None and not standing.restarts:
        return "Pending"
    return "Running"


def _conditions(pod: Object, standing: Standing) -> list[Object]:
    before = {entry.get("type"): entry for entry in entries_of(pod, "status", "conditions")}
    names = [str(entry["name"]) for entry in entries_of(pod, "spec", "containers")]
    runs = standing.running_since is not None
    unready = {"reason": "ContainersNotReady", "message": f"{_CONTAINERS}: [{' '.join(names)}]"}
    if standing.ended:
        good = not standing.ended.get("exitCode")
        unready = {"reason": "PodCompleted" if good else "PodFailed"}
    init = [str(entry["name"]) for entry in entries_of(pod, "spec", "initContainers")]
    has_begun = runs or bool(standing.ended) or standing.restarts > 0 or not init
    incomplete = {
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: [{' '.join(init)}]",
    }
    ready = standing.is_ready and runs
    told: dict[str, tuple[bool, dict[str, str]]] = {
        "PodReadyToStartContainers": (runs, {}),
        "Initialized": (has_begun, {} if has_begun else incomplete),
        "Ready": (ready, {} if ready else unready),
        "ContainersReady": (ready, {} if ready else unready),
        "PodScheduled": (True, {}),
    }
    if standing.ended and not standing.ended.get("exitCode"):
        told["Initialized"] = (True, {"reason": "PodCompleted"})
    conditions = [_condition(pod, name, *told[name], standing.now) for name in _ORDER]
    return [*(one for name, one in before.items() if name not in told), *conditions]


def _condition(pod: Object, name: str, holds: bool, why: dict[str, str], now: float) -> Object:
    before = next(
        (entry for entry in entries_of(pod, "status", "conditions") if entry.get("type") == name),
        {},
    )
    value = "True" if holds else "False"
    same = before.get("status") == value
    generation = metadata_of(pod).get("generation")
    return {
        "type": name,
        **({"observedGeneration": generation} if generation else {}),
        "status": value,
        "lastProbeTime": None,
        "lastTransitionTime": before["lastTransitionTime"] if same else written_time(now),
        **why,
    }


def _container(pod: Object, container: Object, standing: Standing) -> Object:
    content: Object = {"name": container["name"]}
    runs = standing.running_since is not None
    identity = container_id(pod, container, standing)
    if standing.ended:
        content["state"] = {"terminated": _ending(standing.ended, standing, identity)}
    elif runs:
        content["state"] = {"running": {"startedAt": written_time(standing.running_since or 0)}}
    else:
        content["state"] = {"waiting": _waiting(standing)}
    content["lastState"] = {"terminated": dict(standing.last)} if standing.last else {}
    content["ready"] = standing.is_ready and runs
    content["restartCount"] = standing.restarts
    content["image"] = container.get("image", "")
    content["imageID"] = image_id(str(container.get("image", ""))) if runs or standing.ended else ""
    if runs or standing.ended:
        content["containerID"] = identity
    content["started"] = runs
    resources = part_of(container, "resources")
    if resources.get("requests") and runs:
        content["allocatedResources"] = resources["requests"]
    if resources and runs:
        content["resources"] = resources
    mounts = [_mount(entry) for entry in entries_of(container, "volumeMounts")]
    if mounts:
        content["volumeMounts"] = mounts
    return content


def _waiting(standing: Standing) -> Object:
    more = {"message": standing.waiting_message} if standing.waiting_message else {}
    return {"reason": standing.waiting, **more}


def _mount(mount: Object) -> Object:
    read_only = bool(mount.get("readOnly"))
    return {
        "name": mount.get("name"),
        "mountPath": mount.get("mountPath"),
        **({"readOnly": True, "recursiveReadOnly": "Disabled"} if read_only else {}),
    }


def _init_container(pod: Object, container: Object, standing: Standing) -> Object:
    init_container = _container(pod, container, standing)
    is_beside = container.get("restartPolicy") == "Always"
    has_begun = standing.running_since is not None or bool(standing.ended)
    if not has_begun:
        if not standing.restarts:
            init_container["state"] = {"waiting": {"reason": "PodInitializing"}}
        return init_container
    if is_beside and not standing.ended:
        init_container["ready"] = True
        return init_container
    identity = container_id(pod, container, standing)
    done: dict[str, object] = {"exitCode": 0, "reason": "Completed"}
    init_container["state"] = {"terminated": _ending(done, standing, identity)}
    init_container.update(lastState={}, ready=True, started=False)
    return init_container


def _ending(ended: dict[str, object], standing: Standing, identity: str) -> Object:
    since = standing.running_since or standing.now
    return {
        **ended,
        "startedAt": written_time(since),
        "finishedAt": written_time(standing.now),
        "containerID": identity,
    }


def container_id(pod: Object, container: Object, standing: Standing) -> str:
    """Of a container, as containerd would name it."""
    parts = (metadata_of(pod).get("uid"), container["name"], standing.restarts, standing.boot)
    text = "/".join(map(str, parts))
    return f"containerd://{hashlib.sha256(text.encode()).hexdigest()}"


def image_id(image: str) -> str:
    """Of an image, as containerd would name it."""
    name, at, digest = image.partition("@")
    if at:
        return f"{name.partition(':')[0] if '/' not in name else name.rsplit(':', 1)[0]}@{digest}"
    path, _, tag = image.rpartition(":")
    base = image if not path or "/" in tag else path
    return f"{base}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"
