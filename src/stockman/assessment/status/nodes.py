"""Nodes, link by link. Of a chain that is broken only the first break is told: the rest follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import proxmox_problems as say
from stockman.assessment.status.etcd import members
from stockman.assessment.status.findings import (
    HIDDEN,
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    disabled_part,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.kubelet_link import assess_kubelet
from stockman.assessment.status.machine_link import assess_machine
from stockman.assessment.status.node_links import NodeStatus
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.vm_link import assess_vm
from stockman.model.desired import Node
from stockman.model.guest import Guest
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.planning.fact import Fact


@record
class NodeChain:
    """A node, and what is wrong with it by the part that it belongs to."""

    node: NodeStatus
    findings: tuple[tuple[StatusCheck, StatusFinding], ...] = ()

    @property
    def is_down(self) -> bool:
        """Whether its VM does not run, or its machine does not answer."""
        vm = self.node.vm
        return (vm is not None and vm.runs is False) or not self.node.machine.answers


def assess_chains(seen: StatusInput) -> tuple[NodeChain, ...]:
    """Every node that is wanted, in the order of the files."""
    roles = members(seen)
    return tuple(
        _assess_chain(node, seen, roles.get(str(node.name), "")) for node in seen.desired.nodes
    )


def findings_of(found: tuple[NodeChain, ...], check: StatusCheck) -> Iterator[StatusFinding]:
    """What belongs to one part."""
    for chain in found:
        for one, finding in chain.findings:
            if one is check:
                yield finding


def _assess_chain(node: Node, seen: StatusInput, role: str) -> NodeChain:
    told: list[tuple[StatusCheck, StatusFinding]] = []
    vm = None
    broken = False
    if node.vm is not None:
        vm, findings = assess_vm(node, node.vm, seen)
        told += ((StatusCheck.VMS, one) for one in findings)
        broken = vm.runs is False
    machine, findings = assess_machine(node, seen)
    if not broken:
        told += ((StatusCheck.TALOS, one) for one in findings)
    broken = broken or (seen.talos is not None and not machine.answers)
    kubelet, findings = assess_kubelet(node, seen)
    if not broken:
        told += ((StatusCheck.KUBERNETES, one) for one in findings)
    status = NodeStatus(
        name=str(node.name),
        role=node.role.value,
        address=str(node.address.ip),
        vm=vm,
        machine=machine,
        kubelet=kubelet,
        etcd=role,
    )
    return NodeChain(node=status, findings=tuple(told))


_RUNNING = "running"


@record
class GuestStatus:
    """A guest, and what is wrong with it."""

    item: StatusItem
    findings: tuple[StatusFinding, ...] = ()


def assess_guests(seen: StatusInput) -> tuple[GuestStatus, ...]:
    """Every guest of the configuration, those that are only watched too."""
    return tuple(_assess_guest(one, seen) for one in seen.desired.guests)


def _assess_guest(guest: Guest, seen: StatusInput) -> GuestStatus:
    region = _region(guest, seen)
    cluster = seen.proxmox(region)
    if cluster is None or not isinstance(cluster.resources, Fact):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        finding = unknown_finding(f"guest {guest.name}", "Proxmox VE does not tell", fix)
        return _unknown_guest(guest, "not known", finding)
    found = cluster.guest(Vmid(guest.vmid))
    if found is None and not cluster.shows_guests:
        return _unknown_guest(guest, "not shown", unknown_finding(f"guest {guest.name}", *HIDDEN))
    if found is None:
        is_watched = guest.manage == "observe"
        missing = say.guest_missing(guest.name, guest.vmid, region, is_watched=is_watched)
        return _unknown_guest(guest, "missing", StatusFinding(subject=guest.name, problem=missing))
    host = str(found.host)
    if (region, host) in seen.offline:
        return GuestStatus(
            item=StatusItem(name=guest.name, health=Health.ERROR, seen=f"{host} is offline")
        )
    kind = "qemu" if guest.vm is not None else "lxc"
    if (found.kind, found.name) != (kind, guest.name):
        other = say.vm_identity(guest.name, guest.vmid, host, found.name, None)
        return _unknown_guest(
            guest, "another guest", StatusFinding(subject=guest.name, problem=other)
        )
    findings = []
    if found.status == "unknown":
        why = f"Proxmox VE says nothing of {guest.vmid} on {host}"
        findings.append(
            unknown_finding(f"guest {guest.name}", why, "look again with `stockman status`")
        )
    elif found.status != _RUNNING:
        stopped = say.guest_stopped(guest.name, guest.vmid, host, found.status)
        findings.append(StatusFinding(subject=guest.name, problem=as_warning(stopped)))
    if host != str(guest.host):
        moved = as_warning(say.vm_elsewhere(guest.name, guest.vmid, host, str(guest.host)))
        findings.append(StatusFinding(subject=guest.name, problem=moved))
    return _unknown_guest(guest, f"{found.status} on {host}", *findings)


def _unknown_guest(guest: Guest, text: str, *findings: StatusFinding) -> GuestStatus:
    health = worst_health(one.health for one in findings)
    return GuestStatus(
        item=StatusItem(name=guest.name, health=health, seen=text), findings=findings
    )


def _region(guest: Guest, seen: StatusInput) -> str:
    """The Proxmox cluster that lists its host; the only one where there is one."""
    clusters = seen.desired.proxmox
    for one in clusters:
        if len(clusters) == 1 or str(guest.host) in one.hosts:
            return str(one.region)
    return ""


def assess_vms(seen: StatusInput, found: tuple[NodeChain, ...]) -> StatusPart:
    """The VMs of all nodes, and guests beside them."""
    links = [one.node.vm for one in found if one.node.vm is not None]
    guests = assess_guests(seen)
    if not links and not guests:
        return disabled_part(StatusCheck.VMS, "no machine is made by stockman")
    running = sum(one.runs is True for one in links)
    nobody = sum(one.runs is None for one in links)
    findings = list(findings_of(found, StatusCheck.VMS))
    if nobody and not any(one.unknown for one in findings):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        findings.append(unknown_finding(f"{nobody} VMs", "Proxmox VE does not tell", fix))
    findings += (one for guest in guests for one in guest.findings)
    told = []
    if links:
        told.append(f"{running} of {len(links)} run{f', {nobody} not known' if nobody else ''}")
    if guests:
        well = sum(one.item.health is Health.OK for one in guests)
        told.append(f"{well} of {len(guests)} {'other guests' if links else 'guests'} run")
    down = running + nobody < len(links)
    least = worst_health(
        [Health.ERROR if down else Health.OK, *(one.item.health for one in guests)]
    )
    items = [one.item for one in guests]
    return build_part(StatusCheck.VMS, ", ".join(told), findings, items, least)


def assess_talos(seen: StatusInput, found: tuple[NodeChain, ...]) -> StatusPart:
    """The machines of all nodes."""
    if seen.desired.cluster is None:
        return disabled_part(StatusCheck.TALOS, "no cluster is configured")
    if seen.talos is None:
        fix = "look again with `stockman status`"
        return build_part(
            StatusCheck.TALOS,
            "not known",
            [unknown_finding("the machines", "nobody asked them", fix)],
        )
    machines = [one.node.machine for one in found]
    answer = sum(one.answers for one in machines)
    versions = Counter(one.version for one in machines if one.version)
    told = ", ".join(name for name, _ in versions.most_common())
    text = f"{answer} of {len(machines)} machines answer{f', {told}' if told else ''}"
    least = Health.OK if answer == len(machines) else Health.ERROR
    return build_part(StatusCheck.TALOS, text, findings_of(found, StatusCheck.TALOS), least=least)
