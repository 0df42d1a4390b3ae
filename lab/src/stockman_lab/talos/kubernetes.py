"""What a machine does for Kubernetes: its control plane's pods, its kubelet, its Node."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from stockman_lab.core.timeline import Arguments
from stockman_lab.etcd.client import EtcdClient
from stockman_lab.etcd.errors import EtcdError
from stockman_lab.etcd.seeded import seed_server
from stockman_lab.talos import etcd_member
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.services.images import has_static_pod_images
from stockman_lab.talos.services.running import feel
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.etcd.cluster import EtcdCluster
    from stockman_lab.talos.machine import Machine

_FIRST = b"/registry/namespaces/default"


def seed_kubernetes(machine: Machine) -> None:
    """Put the first objects into the etcd of a machine, where there are none yet."""
    cluster, config = etcd_member.cluster_of(machine), machine.config
    if cluster is None or config is None or not _is_missing(machine, cluster, _FIRST):
        return
    network = next(iter(config.kubernetes.service_subnets), "10.96.0.0/12")
    seed_server(cluster.keyspace, network, machine.land.around.dice, machine.now)


def _is_missing(machine: Machine, cluster: EtcdCluster, key: bytes) -> bool:
    client = EtcdClient(cluster, etcd_member.alive(machine.land, cluster), machine.now)
    try:
        return not client.range(key).items
    except EtcdError:
        return False


STATIC_PODS = "talos.static-pods.ready"
KUBELET_HEALTHY = "talos.kubelet.healthy"
GIVEN_UP = "talos.node.given-up"
_PATIENCE = 600.0
"""Seconds that a machine waits for its first network."""
_REFUSED = (
    'Get "http://127.0.0.1:10248/healthz": dial tcp 127.0.0.1:10248: connect: connection refused'
)


def is_served(machine: Machine) -> bool:
    """Whether the Kubernetes API of the machine's cluster answers."""
    return any(
        has_static_pods(controller)
        and etcd_member.has_quorum(controller)
        and controller.is_reachable
        for controller in machine.land.controllers(machine)
    )


def go_on(machine: Machine) -> None:
    """Plan what can come next."""
    state = machine.state.kubernetes
    kubelet = machine.service("kubelet")
    if kubelet is None or not kubelet.is_running:
        state.static_pods_ready_at = None
        _lose(machine)
        return
    if not machine.is_reachable:
        _lose(machine)
        return
    _static_pods(machine)
    if kubelet.is_healthy is None:
        feel(machine, kubelet, False, _REFUSED)
    if not kubelet.is_healthy:
        if _may_register(machine):
            _once(machine, KUBELET_HEALTHY, "kubelet-health", "service")
        return
    side = machine.land.kubernetes
    if side is not None:
        side.notice(machine)
    _give_up_later(machine)


def _give_up_later(machine: Machine) -> None:
    """A machine whose Node was never ready boots again, as while nobody brings a network."""
    state, disk = machine.state, machine.disk
    if disk is None or disk.was_ready:
        return
    if state.kubernetes.node_ready:
        disk.was_ready = True
    elif state.kubernetes.registered and GIVEN_UP not in state.planned:
        state.planned.add(GIVEN_UP)
        machine.after(_PATIENCE, GIVEN_UP, patient=True)


def given_up(machine: Machine, arguments: Arguments) -> None:
    """Boot again, unless the Node became ready."""
    del arguments
    state, disk = machine.state, machine.disk
    state.planned.discard(GIVEN_UP)
    if disk is not None and not disk.was_ready and not state.kubernetes.node_ready:
        import_module(f"{__package__}.acting").reboot(machine, "default")


def _lose(machine: Machine) -> None:
    """Nobody hears of the kubelet of a machine any more."""
    state, side = machine.state.kubernetes, machine.land.kubernetes
    was_ready, state.node_ready = state.node_ready, False
    if was_ready and side is not None:
        side.notice(machine)


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
        machine.state.kubernetes.static_pods_ready_at = machine.now
        seed_kubernetes(machine)
        if machine.land.kubernetes is not None:
            machine.land.kubernetes.served(machine)


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
