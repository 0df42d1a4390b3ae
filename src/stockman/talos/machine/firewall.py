"""The firewall: everything is closed but what Talos, Kubernetes and Cilium need, and own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network

from stockman.model.desired import Node
from stockman.talos.machine.inputs import Document, MachineInputs, new_document

EVERYONE = ("0.0.0.0/0", "::/0")
_HEALTH_AND_HUBBLE = (4240, 4244)
_TUNNELS = (6081, 8472, 51871)
"""Geneve and VXLAN, and the WireGuard of Cilium."""
_KUBESPAN = 51820


def firewall_documents(machine: MachineInputs) -> Iterator[Document]:
    """Rules for this machine; none while the firewall is off."""
    firewall = machine.cluster.talos.firewall
    if not firewall.enabled:
        return
    yield new_document("NetworkDefaultActionConfig", ingress="block")
    yield from _required_rules(machine)
    role = "controllers" if machine.is_controller else "workers"
    for name, rule in firewall.rules.items():
        if rule.nodes in ("all", role):
            sources = rule.from_ or (machine.cluster.network.node_cidr,)
            ports = [int(port) if port.isdecimal() else port for port in rule.ports]
            yield _rule(name, ports, sources, protocol=rule.protocol)


def _required_rules(machine: MachineInputs) -> Iterator[Document]:
    nodes: list[object] = [machine.cluster.network.node_cidr]
    inside = [*nodes, machine.cluster.kubernetes.pod_cidr]
    managed = [*inside, *machine.cluster.talos.firewall.management]
    if machine.is_controller and not machine.cluster.talos.firewall.management:
        managed = list(EVERYONE)
    yield _rule("apid-ingress", [50000], managed)
    # Pods on the machine itself, such as metrics-server, come with their own addresses.
    yield _rule("kubelet-ingress", [10250], inside)
    if machine.is_controller:
        yield _rule("trustd-ingress", [50001], nodes)
        yield _rule("kubernetes-api-ingress", [6443], managed)
        members = [IPv4Network(one.address.ip) for one in _controllers(machine)]
        yield _rule("etcd-ingress", ["2379-2380"], members)
    yield _rule("cilium-ingress", _HEALTH_AND_HUBBLE, nodes)
    yield _rule("cilium-tunnel-ingress", _TUNNELS, nodes, protocol="udp")
    if machine.cluster.talos.kubespan:
        yield _rule("kubespan-ingress", [_KUBESPAN], EVERYONE, protocol="udp")


def _controllers(machine: MachineInputs) -> Iterator[Node]:
    return (node for node in machine.desired.nodes if node.is_controller)


def _rule(
    name: str, ports: Sequence[object], sources: Iterable[object], *, protocol: str = "tcp"
) -> Document:
    return new_document(
        "NetworkRuleConfig",
        name=name,
        portSelector={"ports": list(ports), "protocol": protocol},
        ingress=[{"subnet": str(source)} for source in sources],
    )
