"""Checks of Kubernetes, as far as machines know of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stockman_lab.talos.api.roles import ADMIN
from stockman_lab.talos.health.nodes import Node
from stockman_lab.talos.health.outcome import Failing, Skipped, plain, quoted
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective
    from stockman_lab.talos.health.checking import Checking
    from stockman_lab.talos.machine import Machine

_NOT_ALLOWED = "rpc error: code = PermissionDenied desc = not authorized"
_STATIC_PODS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_COMPONENTS = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
_PORT = 6443


async def all_nodes_report(checking: Checking) -> None:
    """Kubernetes knows all nodes, and no others."""
    _match(checking.nodes.every, registered(checking))


async def static_pods_run(checking: Checking) -> None:
    """All control planes have the pods of the control plane."""
    for node in checking.nodes.controllers:
        machine = checking.machine_at(node.address)
        if machine is None or has_static_pods(machine):
            continue
        missing = plain([f"kube-system/{static_pod}" for static_pod in _STATIC_PODS])
        raise Failing(f"missing static pods on node {node.address}: {missing}")


async def control_plane_is_ready(checking: Checking) -> None:
    """Every component runs once on every control plane."""
    machines = [one for one in registered(checking) if one.is_controlplane]
    _match(checking.nodes.controllers, machines)
    for component in _COMPONENTS:
        there = [machine for machine in machines if has_static_pods(machine)]
        if len(there) != len(machines):
            raise Failing(
                f"expected number of pods for {component} to be {len(machines)}, got {len(there)}"
            )


async def all_nodes_are_ready(checking: Checking) -> None:
    """All nodes of Kubernetes are ready."""
    skip_without_network(checking)
    bad = [one.hostname for one in registered(checking) if not _is_ready(one)]
    if bad:
        raise Failing(f"some nodes are not ready: {plain(sorted(bad))}")


async def all_nodes_are_schedulable(checking: Checking) -> None:
    """No node is cordoned; only the first one that is gets named."""
    for one in sorted(registered(checking), key=lambda machine: machine.hostname):
        if one.state.kubernetes.cordoned:
            raise Failing(f"some nodes are not schedulable: {plain([one.hostname])}")


def _is_ready(machine: Machine) -> bool:
    return machine.state.is_on and machine.state.kubernetes.node_ready


def registered(checking: Checking) -> list[Machine]:
    """Machines that have a Node, with power or without; needs a kubeconfig, and an answer."""
    call = checking.call
    if ADMIN not in call.roles:
        raise Failing(_NOT_ALLOWED)
    config = _config(checking)
    controllers = call.land.controllers(call.machine)
    if not any(
        has_static_pods(controller) and controller.runs("etcd") and controller.is_reachable
        for controller in controllers
    ):
        host = _endpoint(checking, config)
        raise Failing(f'Get "https://{host}/api/v1/nodes": dial tcp {host}: {_REFUSED}')
    return [machine for machine in call.land.machines if _belongs(machine, config)]


_REFUSED = "connect: connection refused"


def _belongs(machine: Machine, config: Effective) -> bool:
    own = machine.config
    if own is None or not machine.state.kubernetes.registered:
        return False
    if config.cluster_id:
        return own.cluster_id == config.cluster_id
    return own.os_ca.crt == config.os_ca.crt


def _endpoint(checking: Checking, config: Effective) -> str:
    forced = checking.call.request.cluster_info.force_endpoint
    if not forced:
        return config.endpoint.removeprefix("https://").rstrip("/")
    host = str(forced).removeprefix("https://")
    return host if ":" in host else f"{host}:{_PORT}"


def _config(checking: Checking) -> Effective:
    config = checking.call.machine.config
    if config is None:
        raise Failing("machine configuration is not available")
    return config


def skip_without_network(checking: Checking) -> None:
    """Since 1.13, where nobody makes a network for pods."""
    if checking.call.machine.at_least("1.13") and _config(checking).kubernetes.cni == "none":
        raise Skipped


def _match(expected: Sequence[Node], machines: Sequence[Machine]) -> None:
    left = {machine.address for machine in machines}
    for node in expected:
        found = left & set(node.addresses)
        if not found:
            raise Failing(f"can't find expected node with IPs {quoted(node.addresses)}")
        left -= found
    if left:
        order = sorted(left, key=lambda one: (ipaddress.ip_address(one).version, one))
        raise Failing(f"unexpected nodes with IPs {quoted(order)}")
