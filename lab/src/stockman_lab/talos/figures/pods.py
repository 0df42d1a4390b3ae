"""Containers of pods that run on a machine: those of its Kubernetes, and its own static ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from stockman_lab.talos.cosi.facts import nodename
from stockman_lab.talos.figures.names import container_id, container_pid
from stockman_lab.talos.figures.steady import between, digest
from stockman_lab.talos.figures.uptime import uptime
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.machine import Machine

NAMESPACE = "kube-system"
_PAUSE = "registry.k8s.io/pause:3.10"
_FLANNEL = {
    "1.11": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.12": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.13": "ghcr.io/siderolabs/flannel:v0.28.8",
}
_FLANNEL_NEWEST = "ghcr.io/siderolabs/flannel:v0.28.9"
_MIB = 1 << 20
_USED = {
    "kube-apiserver": (420, 0.11),
    "kube-controller-manager": (96, 0.03),
    "kube-scheduler": (48, 0.01),
    "kube-proxy": (41, 0.004),
    "kube-flannel": (34, 0.006),
    "cilium-agent": (210, 0.03),
    "coredns": (28, 0.003),
}
"""Memory in MiB, and cores, of containers by name."""
_STATIC = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_MIRROR, _HASH = "kubernetes.io/config.mirror", "kubernetes.io/config.hash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One container of a pod, with what is known of the pod."""

    name: str
    container: str
    image: str
    program: str
    """What runs in it, as a path."""
    uid: str
    memory: int
    """Bytes."""
    cores: float
    """How much of the processor it takes, in cores."""
    since: float
    """When it began."""
    is_static: bool = False
    is_first: bool = True
    """Of the containers of its pod."""
    quality: str = "burstable"
    """Of service: where the pod is among the groups of the kernel. Empty: at their top."""
    sandbox_id: str = ""
    container_id: str = ""
    sandbox_pid: int = 0
    pid: int = 0
    sandbox_image: str = _PAUSE
    namespace: str = NAMESPACE

    @property
    def id(self) -> str:
        """`kube-system/kube-apiserver-cp-1`."""
        return f"{self.namespace}/{self.name}"

    @property
    def container_display(self) -> str:
        """The container as `talosctl` calls it."""
        return f"{self.id}:{self.container}:{self.container_id[:12]}"

    @property
    def log_path(self) -> str:
        folder = f"{self.namespace}_{self.name}_{self.uid}"
        return f"/var/log/pods/{folder}/{self.container}/0.log"


def pods(machine: Machine) -> list[Pod]:
    """Containers by their pods, in the order in which the container runtime lists those."""
    config = machine.config
    if config is None or not machine.runs("cri") or not machine.runs("kubelet"):
        return []
    found = list(_known(machine))
    named = {one.id for one in found}
    if has_static_pods(machine):
        found += [
            static_pod for static_pod in _static_pods(machine, config) if static_pod.id not in named
        ]
    return [_identified(machine, one) for one in sorted(found, key=lambda one: one.id)]


def flannel_image(machine: Machine) -> str:
    """The image of the network that a machine's Talos brings."""
    return _FLANNEL.get(machine.minor, _FLANNEL_NEWEST)


def pod_of(machine: Machine, text: str) -> tuple[Pod, bool] | None:
    """The pod that a name of `talosctl` means, and whether its container is meant.

    None: there is none.
    """
    name, colon, rest = text.partition(":")
    container, _, identity = rest.partition(":")
    for pod in pods(machine):
        if pod.id != name:
            continue
        if not colon:
            return pod, False
        if pod.container == container and identity in pod.container_id:
            return pod, True
    return None


def _known(machine: Machine) -> Iterator[Pod]:
    """What the Kubernetes of a machine knows of pods on it; what began before its boot is gone."""
    side, name = machine.land.kubernetes, nodename(machine)
    for pod in side.listed(machine, "pods") if side is not None else ():
        if _part(pod, "spec").get("nodeName") == name:
            yield from _containers(pod, machine.state.kernel_at)


def _containers(pod: Mapping[str, object], booted: float) -> Iterator[Pod]:
    metadata, spec, status = (_part(pod, one) for one in ("metadata", "spec", "status"))
    notes = _part(metadata, "annotations")
    specs = {str(one["name"]): one for one in _entries(spec, "containers")}
    is_first = True
    for entry in _entries(status, "containerStatuses"):
        name = str(entry["name"])
        started = _part(_part(entry, "state"), "running").get("startedAt")
        since = datetime.fromisoformat(str(started)).timestamp() if started else 0.0
        if not started or since < int(booted):
            continue
        command = specs.get(name, {}).get("command")
        memory, cores = _USED.get(name, (32, 0.003))
        yield Pod(
            name=str(metadata["name"]),
            namespace=str(metadata["namespace"]),
            container=name,
            image=str(entry.get("image", "")),
            program=str(command[0]) if isinstance(command, list) and command else f"/{name}",
            uid=str(notes.get(_HASH) or metadata["uid"]),
            memory=memory * _MIB,
            cores=cores,
            since=since,
            is_static=_MIRROR in notes,
            is_first=is_first,
            quality=_QUALITIES.get(str(status.get("qosClass")), "besteffort"),
            container_id=str(entry.get("containerID", "")).rpartition("/")[2],
        )
        is_first = False


_QUALITIES = {"Guaranteed": "", "Burstable": "burstable"}


def _part(content: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}


def _entries(content: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = content.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _static_pods(machine: Machine, config: Effective) -> list[Pod]:
    """Those of the control plane, which run whoever answers for Kubernetes."""
    kubernetes = config.kubernetes
    since = machine.state.kubernetes.static_pods_ready_at or machine.now
    components = (kubernetes.api_server, kubernetes.controller_manager, kubernetes.scheduler)
    return [
        Pod(
            name=f"{name}-{nodename(machine)}",
            container=name,
            image=component.image,
            program=f"/usr/local/bin/{name}",
            uid=digest(machine, f"static/{name}")[:32],
            memory=_USED[name][0] * _MIB,
            cores=_USED[name][1],
            since=since,
            is_static=True,
        )
        for name, component in zip(_STATIC, components, strict=True)
        if component.enabled
    ]


def _identified(machine: Machine, pod: Pod) -> Pod:
    called = f"{pod.id}/{pod.container}"
    grown = between(machine, f"memory/{called}", 0.85, 1.2)
    slow = min(uptime(machine) / 86400.0, 1.0) * 0.1
    return replace(
        pod,
        memory=int(pod.memory * (grown + slow)),
        cores=pod.cores * between(machine, f"cores/{called}", 0.7, 1.4),
        sandbox_id=container_id(machine, f"{pod.id}/sandbox"),
        container_id=pod.container_id or container_id(machine, called),
        sandbox_pid=container_pid(machine, f"{pod.id}/sandbox"),
        pid=container_pid(machine, called),
    )
