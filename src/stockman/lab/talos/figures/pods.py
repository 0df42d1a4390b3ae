"""Pods that run on a machine, as far as the machine itself brings them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stockman.lab.talos.figures.names import container_id, container_pid
from stockman.lab.talos.figures.steady import between, digest, uuid
from stockman.lab.talos.figures.uptime import uptime
from stockman.lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman.lab.talos.config.effective import Effective
    from stockman.lab.talos.machine import Machine

NAMESPACE = "kube-system"
_PAUSE = "registry.k8s.io/pause:3.10"
_FLANNEL = {
    "1.11": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.12": "ghcr.io/siderolabs/flannel:v0.27.4",
    "1.13": "ghcr.io/siderolabs/flannel:v0.28.8",
}
_FLANNEL_NEWEST = "ghcr.io/siderolabs/flannel:v0.28.9"
_MIB = 1 << 20
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One pod with its one container."""

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
    on_host_network: bool = True
    is_burstable: bool = True
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
    """Pods in the order in which the container runtime lists them."""
    config = machine.config
    if config is None or not machine.runs("cri") or not machine.runs("kubelet"):
        return []
    found = _static_pods(machine, config) if has_static_pods(machine) else []
    if machine.state.kubernetes.node_ready:
        found += _daemons(machine, config)
    return [_identified(machine, one) for one in sorted(found, key=lambda one: one.name)]


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


def _static_pods(machine: Machine, config: Effective) -> list[Pod]:
    kubernetes = config.kubernetes
    since = machine.state.kubernetes.static_pods_ready_at or machine.now
    return [
        Pod(
            name=f"{name}-{machine.hostname}",
            container=name,
            image=component.image,
            program=f"/usr/local/bin/{name}",
            uid=digest(machine, f"static/{name}")[:32],
            memory=memory * _MIB,
            cores=cores,
            since=since,
            is_static=True,
        )
        for name, component, memory, cores in (
            ("kube-apiserver", kubernetes.api_server, 420, 0.11),
            ("kube-controller-manager", kubernetes.controller_manager, 96, 0.03),
            ("kube-scheduler", kubernetes.scheduler, 48, 0.01),
        )
        if component.enabled
    ]


def _daemons(machine: Machine, config: Effective) -> list[Pod]:
    kubernetes = config.kubernetes
    since = machine.state.kernel_at
    found = []
    if kubernetes.cni == "flannel":
        image = _FLANNEL.get(machine.minor, _FLANNEL_NEWEST)
        found.append(("kube-flannel", image, "/opt/bin/flanneld", 34, 0.006))
    if kubernetes.proxy.enabled:
        image = kubernetes.proxy.image
        found.append(("kube-proxy", image, "/usr/local/bin/kube-proxy", 41, 0.004))
    return [
        Pod(
            name=f"{name}-{_suffix(machine, name)}",
            container=name,
            image=image,
            program=program,
            uid=uuid(machine, f"daemon/{name}"),
            memory=memory * _MIB,
            cores=cores,
            since=since,
            is_burstable=name == "kube-flannel",
        )
        for name, image, program, memory, cores in found
    ]


def _identified(machine: Machine, pod: Pod) -> Pod:
    grown = between(machine, f"memory/{pod.container}", 0.85, 1.2)
    slow = min(uptime(machine) / 86400.0, 1.0) * 0.1
    return replace(
        pod,
        memory=int(pod.memory * (grown + slow)),
        cores=pod.cores * between(machine, f"cores/{pod.container}", 0.7, 1.4),
        sandbox_id=container_id(machine, f"{pod.id}/sandbox"),
        container_id=container_id(machine, pod.id),
        sandbox_pid=container_pid(machine, f"{pod.id}/sandbox"),
        pid=container_pid(machine, pod.id),
    )


def _suffix(machine: Machine, name: str) -> str:
    text = digest(machine, f"suffix/{name}")
    return "".join(
        _LETTERS[int(text[place : place + 2], 16) % len(_LETTERS)] for place in range(0, 10, 2)
    )
