"""Firewall rules: everything is blocked except what Talos, Kubernetes, Cilium and users need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network

from stockman.model.desired import Node
from stockman.talos.machine.inputs import Document, MachineInputs, new_document

EVERYONE = ("0.0.0.0/0", "::/0")
_HEALTH_AND_HUBBLE = (4240, 4244)
_TUNNELS = (6081, 8472, 51871)
"""Geneve, VXLAN, and Cilium's WireGuard."""
_KUBESPAN = 51820


def firewall_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield the rules for this machine; none if the firewall is disabled."""
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
    # Pods on the machine itself, such as metrics-server, use their own addresses.
    yield _rule("kubelet-ingress", [10250], inside)
    if machine.is_controller:
        yield _rule("trustd-ingress", [50001], nodes)
        yield _rule("kubernetes-api-ingress", [6443], managed)
        members = [IPv4Network(controller.address.ip) for controller in _controllers(machine)]
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
