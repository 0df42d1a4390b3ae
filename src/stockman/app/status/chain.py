"""Nodes, link by link. Of a chain that is broken only the first break is told: the rest follows."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.app.status.etcd import members
from stockman.app.status.finding import Check, Finding
from stockman.app.status.kubelet_link import judged_kubelet
from stockman.app.status.machine_link import judged_machine
from stockman.app.status.node import NodeStatus
from stockman.app.status.seen import Seen
from stockman.app.status.vm_link import judged_vm
from stockman.model.desired import Node
from stockman.model.record import record


@record
class Chain:
    """A node, and what is wrong with it by the part that it belongs to."""

    node: NodeStatus
    findings: tuple[tuple[Check, Finding], ...] = ()

    @property
    def is_down(self) -> bool:
        """Whether its VM does not run, or its machine does not answer."""
        vm = self.node.vm
        return (vm is not None and vm.runs is False) or not self.node.machine.answers


def chains(seen: Seen) -> tuple[Chain, ...]:
    """Every node that is wanted, in the order of the files."""
    roles = members(seen)
    return tuple(_chain(node, seen, roles.get(str(node.name), "")) for node in seen.desired.nodes)


def of(found: tuple[Chain, ...], check: Check) -> Iterator[Finding]:
    """What belongs to one part."""
    for chain in found:
        for one, finding in chain.findings:
            if one is check:
                yield finding


def _chain(node: Node, seen: Seen, role: str) -> Chain:
    told: list[tuple[Check, Finding]] = []
    vm = None
    broken = False
    if node.vm is not None:
        vm, findings = judged_vm(node, node.vm, seen)
        told += ((Check.VMS, one) for one in findings)
        broken = vm.runs is False
    machine, findings = judged_machine(node, seen)
    if not broken:
        told += ((Check.TALOS, one) for one in findings)
    broken = broken or (seen.talos is not None and not machine.answers)
    kubelet, findings = judged_kubelet(node, seen)
    if not broken:
        told += ((Check.KUBERNETES, one) for one in findings)
    status = NodeStatus(
        name=str(node.name),
        role=node.role.value,
        address=str(node.address.ip),
        vm=vm,
        machine=machine,
        kubelet=kubelet,
        etcd=role,
    )
    return Chain(node=status, findings=tuple(told))
