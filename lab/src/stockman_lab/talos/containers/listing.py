"""Which containerd is asked, by namespace and driver, and what it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.figures.containers import (
    KUBERNETES,
    SYSTEM,
    Container,
    kubernetes_containers,
    system_containers,
)

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

CONTAINERD, CRI = 0, 1
_SOCKETS = {
    "cri": "/run/containerd/containerd.sock",
    "containerd": "/system/run/containerd/containerd.sock",
}


def listed(machine: Machine, namespace: str, driver: int) -> list[Container]:
    """Containers of a namespace; a namespace that nobody uses is empty."""
    check(machine, namespace, driver)
    if namespace == SYSTEM:
        return system_containers(machine)
    if namespace == KUBERNETES:
        return kubernetes_containers(machine, by_cri=driver == CRI)
    return []


def check(machine: Machine, namespace: str, driver: int) -> None:
    """Refuse what cannot be asked, or not now."""
    if not namespace:
        raise Refusal(GrpcCode.INVALID_ARGUMENT, "namespace can't be empty")
    if driver not in (CONTAINERD, CRI):
        raise Refusal(GrpcCode.INVALID_ARGUMENT, f'unsupported driver "{driver}"')
    if driver == CRI and namespace != KUBERNETES:
        raise Refusal(GrpcCode.UNKNOWN, "CRI inspector is supported only for K8s namespace")
    service = "containerd" if namespace == SYSTEM else "cri"
    if not machine.runs(service):
        raise Refusal(
            GrpcCode.UNAVAILABLE,
            'connection error: desc = "transport: Error while dialing: dial unix '
            f'{_SOCKETS[service]}: connect: no such file or directory"',
        )
