"""All checks in their order, and what each of them gets to know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stockman_lab.talos.health import kubernetes_checks as kubernetes
from stockman_lab.talos.health import machine_checks as machines
from stockman_lab.talos.health import workload_checks as workloads
from stockman_lab.talos.health.checking import Checking

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    name: str
    assertion: Callable[[Checking], Awaitable[None]]
    interval: float = 5.0
    limit: float = 5 * _MINUTE
    """How long 1.11 and 1.12 try; newer ones try until the time of the whole is up."""


CHECKS = (
    Check("etcd to be healthy", machines.etcd_is_healthy),
    Check("etcd members to be consistent across nodes", machines.etcd_is_consistent),
    Check("etcd members to be control plane nodes", machines.members_are_controllers),
    Check("apid to be ready", machines.apid_is_ready),
    Check("all nodes memory sizes", machines.memory_is_enough),
    Check("all nodes disk sizes", machines.disks_are_large_enough),
    Check("no diagnostics", machines.nothing_is_diagnosed, limit=_MINUTE),
    Check("kubelet to be healthy", machines.kubelet_is_healthy),
    Check("all nodes to finish boot sequence", machines.all_booted),
    Check("all k8s nodes to report", kubernetes.all_nodes_report, interval=30.0),
    Check("all control plane static pods to be running", kubernetes.static_pods_run),
    Check("all control plane components to be ready", kubernetes.control_plane_is_ready),
    Check("all k8s nodes to report ready", kubernetes.all_nodes_are_ready, limit=10 * _MINUTE),
    Check("kube-proxy to report ready", workloads.proxy_is_ready),
    Check("coredns to report ready", workloads.dns_is_ready),
    Check("all k8s nodes to report schedulable", kubernetes.all_nodes_are_schedulable),
)
