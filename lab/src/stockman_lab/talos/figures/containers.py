"""Containers of a machine in both of its namespaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stockman_lab.talos.figures.names import service_pid
from stockman_lab.talos.figures.pods import Pod, pods
from stockman_lab.talos.figures.processes import processes
from stockman_lab.talos.services.table import kind_of

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

SYSTEM, KUBERNETES = "system", "k8s.io"
_OWN_STORE = ("etcd", "kubelet")
"""Containers of the system that the other containerd runs, so that nobody finds them here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container, or the sandbox of a pod."""

    id: str
    """As it is shown."""
    pod_id: str
    name: str
    image: str = ""
    pid: int = 0
    status: str = "RUNNING"
    network_namespace: str = ""
    internal_id: str = ""
    uid: str = ""
    memory: int = 0
    cpu: int = 0
    """Nanoseconds."""


def system_containers(machine: Machine) -> list[Container]:
    """Services that run as containers; they have no image."""
    used = {one.pid: one for one in processes(machine)}
    containers = []
    for name in sorted(machine.state.services):
        pid = service_pid(machine, name)
        if not pid or not kind_of(name).is_container or name in _OWN_STORE:
            continue
        process = used.get(pid)
        containers.append(
            Container(
                id=name,
                pod_id=name,
                name=name,
                pid=pid,
                internal_id=name,
                memory=process.memory if process is not None else 0,
                cpu=int(process.cpu_seconds(machine.now) * 1e9) if process is not None else 0,
            )
        )
    return containers


def kubernetes_containers(machine: Machine, *, by_cri: bool) -> list[Container]:
    """Pods and their containers; the two ways to ask call states and containers differently."""
    containers = []
    for pod in pods(machine):
        if pod.is_first:
            containers.append(_sandbox(pod, by_cri=by_cri))
        seconds = max(machine.now - pod.since, 0.0) * pod.cores
        containers.append(
            Container(
                id=pod.container_display if by_cri else f"{pod.id}:{pod.container}",
                pod_id=pod.id,
                name=pod.container,
                image=pod.image,
                pid=pod.pid,
                status="CONTAINER_RUNNING" if by_cri else "RUNNING",
                internal_id=pod.container_id,
                memory=pod.memory,
                cpu=int(seconds * 1e9),
            )
        )
    return containers


def _sandbox(pod: Pod, *, by_cri: bool) -> Container:
    return Container(
        id=pod.id,
        pod_id=pod.id,
        name=pod.id if by_cri else pod.sandbox_id,
        image=pod.sandbox_image,
        pid=pod.sandbox_pid,
        status="SANDBOX_READY" if by_cri else "RUNNING",
        internal_id=pod.sandbox_id,
        uid=pod.uid if by_cri else "",
    )
