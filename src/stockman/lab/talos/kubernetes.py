"""What a machine does for Kubernetes: its control plane's pods, its kubelet, its Node."""

from __future__ import annotations

from stockman.lab.core.timeline import Arguments
from stockman.lab.talos import etcd_member
from stockman.lab.talos.machine import Machine
from stockman.lab.talos.services.images import has_static_pod_images
from stockman.lab.talos.services.running import feel
from stockman.lab.talos.status import has_static_pods

STATIC_PODS = "talos.static-pods.ready"
KUBELET_HEALTHY = "talos.kubelet.healthy"
NODE_READY = "talos.node.ready"
_REFUSED = (
    'Get "http://127.0.0.1:10248/healthz": dial tcp 127.0.0.1:10248: connect: connection refused'
)


def is_served(machine: Machine) -> bool:
    """Whether the Kubernetes API of the machine's cluster answers."""
    return any(
        has_static_pods(one) and etcd_member.has_quorum(one) and one.is_reachable
        for one in machine.land.controllers(machine)
    )


def go_on(machine: Machine) -> None:
    """Plan what can come next."""
    state = machine.state.kubernetes
    kubelet = machine.service("kubelet")
    if kubelet is None or not kubelet.is_running:
        state.node_ready = False
        state.static_pods_ready_at = None
        return
    if not machine.is_reachable:
        state.node_ready = False
        return
    _static_pods(machine)
    if kubelet.is_healthy is None:
        feel(machine, kubelet, False, _REFUSED)
    if not kubelet.is_healthy:
        if _may_register(machine):
            _once(machine, KUBELET_HEALTHY, "kubelet-health", "service")
        return
    if not state.node_ready and is_served(machine):
        if not state.registered:
            _register(machine)
        _once(machine, NODE_READY, "node-ready", "node-ready")


def _register(machine: Machine) -> None:
    from stockman.lab.talos.seeding import register

    machine.state.kubernetes.registered = True
    register(machine)


def _may_register(machine: Machine) -> bool:
    disk = machine.disk
    return is_served(machine) or (disk is not None and disk.has_joined)


def _static_pods(machine: Machine) -> None:
    if not machine.is_controlplane or machine.state.kubernetes.static_pods_ready_at is not None:
        return
    if not machine.runs("etcd") or not machine.state.services["etcd"].is_healthy:
        return
    if STATIC_PODS in machine.state.planned or has_static_pod_images(machine):
        _once(machine, STATIC_PODS, "static-pods", "static-pods")


def _once(machine: Machine, name: str, step: str, timing: str) -> None:
    """Plan something unless it is planned already."""
    if name in machine.state.planned:
        return
    seconds = machine.delayed(step, timing)
    machine.state.planned.add(name)
    if seconds is not None:
        machine.after(seconds, name)


def static_pods_ready(machine: Machine, arguments: Arguments) -> None:
    """The control plane's pods of a machine are there."""
    del arguments
    machine.state.planned.discard(STATIC_PODS)
    if machine.runs("etcd"):
        from stockman.lab.talos.seeding import seed_kubernetes

        machine.state.kubernetes.static_pods_ready_at = machine.now
        seed_kubernetes(machine)


def kubelet_healthy(machine: Machine, arguments: Arguments) -> None:
    """The kubelet has its certificate."""
    del arguments
    machine.state.planned.discard(KUBELET_HEALTHY)
    kubelet = machine.service("kubelet")
    if kubelet is not None and kubelet.is_running:
        feel(machine, kubelet, True)
        disk = machine.disk
        if disk is not None:
            disk.has_joined = True


def node_ready(machine: Machine, arguments: Arguments) -> None:
    """The Node of a machine is ready, unless something came in between."""
    del arguments
    machine.state.planned.discard(NODE_READY)
    if machine.runs("kubelet") and is_served(machine):
        machine.state.kubernetes.node_ready = True
