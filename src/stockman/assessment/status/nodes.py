"""Status of Proxmox hosts and of nodes; only the first broken link of a node is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import problems as say
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
    part_off,
    unknown_finding,
    worst_health,
)
from stockman.assessment.status.node_links import (
    NodeStatus,
    assess_kubelet,
    assess_machine,
    assess_vm,
)
from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Desired, Node
from stockman.model.guest import Guest
from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import ObservedProxmox
from stockman.proxmox.cluster import HostSummary, StorageSummary

NEARLY_FULL, FULL = 0.90, 0.97
"""Shares of a storage from which on it is told, and from which on it is an error."""
MUCH_MEMORY = 0.95


def assess_proxmox(state: StatusInput) -> StatusPart:
    """Assess all Proxmox clusters of the configuration."""
    regions = [str(cluster.region) for cluster in state.desired.proxmox]
    if not regions:
        return part_off(StatusCheck.PROXMOX, "no Proxmox cluster is configured")
    findings: list[StatusFinding] = []
    items: list[StatusItem] = []
    lines = []
    for region in regions:
        observed = state.proxmox(region)
        if observed is None:
            fix = "give `proxmox_endpoint` in cluster.yaml, or `endpoint` of that cluster"
            why = "no address of its API is configured"
            findings.append(unknown_finding(f"Proxmox cluster {region}", why, fix))
            continue
        findings += _findings(state, observed)
        items += _hosts(state, observed)
        lines.append(_line(observed))
    return build_part(StatusCheck.PROXMOX, "; ".join(lines) or "nothing is known", findings, items)


def count_nodes_by_host(desired: Desired) -> Counter[tuple[str, str]]:
    """Return how many configured nodes each host has, by region and name."""
    return Counter(
        (str(node.vm.region), str(node.vm.host)) for node in desired.nodes if node.vm is not None
    )


def _line(observed: ObservedProxmox) -> str:
    version = (
        observed.version.value.version if isinstance(observed.version, Fact) else "version unknown"
    )
    if not isinstance(observed.state, Fact):
        return f"{observed.name}: hosts unknown, {version}"
    members = observed.state.value.members
    online = sum(member.online for member in members)
    quorum = "quorate" if observed.state.value.quorate else "no quorum"
    return f"{observed.name}: {online} of {len(members)} hosts online, {quorum}, {version}"


def _findings(state: StatusInput, observed: ObservedProxmox) -> Iterator[StatusFinding]:
    region = observed.name
    if isinstance(observed.state, Unknown):
        problem = observed.state.problem
        silent = say.proxmox_silent(region, f"{problem.what}: {problem.why}", problem.fix)
        yield StatusFinding(subject=region, problem=silent, unknown=True)
        return
    members = observed.state.value.members
    if not observed.state.value.quorate:
        online = sum(row.online for row in members)
        yield StatusFinding(subject=region, problem=say.no_quorum(region, online, len(members)))
    ours = count_nodes_by_host(state.desired)
    known = {str(row.name) for row in members}
    for member in members:
        if not member.online:
            count = ours[region, str(member.name)]
            offline = say.host_offline(region, str(member.name), count)
            problem = offline if count else as_warning(offline)
            yield StatusFinding(subject=str(member.name), problem=problem)
    for host in sorted({host for where, host in ours if where == region} - known):
        missing = say.host_unknown(region, host, ", ".join(sorted(known)))
        yield StatusFinding(subject=host, problem=missing)
    if isinstance(observed.resources, Unknown):
        problem = observed.resources.problem
        yield unknown_finding(f"what is in Proxmox cluster {region}", problem.why, problem.fix)
        return
    for row in observed.resources.value.hosts:
        yield from _memory(row)
    yield from _storages(state, observed)


def _memory(host: HostSummary) -> Iterator[StatusFinding]:
    if host.memory and host.memory_used and host.memory_used >= host.memory * MUCH_MEMORY:
        problem = say.memory_full(str(host.host), host.memory_used, host.memory)
        yield StatusFinding(subject=str(host.host), problem=as_warning(problem))


def _storages(state: StatusInput, observed: ObservedProxmox) -> Iterator[StatusFinding]:
    """Assess storages used by configured machines; report a shared storage once."""
    reported: set[str] = set()
    for host, name in sorted(_used_storages(state.desired, observed.name)):
        storage = observed.storage(host, name)
        if storage is None or name in reported or (observed.name, host) in state.offline:
            continue
        if storage.shared:
            reported.add(name)
        yield from _storage(storage, host)


def _storage(storage: StorageSummary, host: str) -> Iterator[StatusFinding]:
    subject = f"{storage.storage} on {host}"
    if storage.status != "available":
        yield StatusFinding(subject=subject, problem=say.storage_gone(str(storage.storage), host))
    elif storage.size and storage.room is not None:
        used = storage.size - storage.room
        if used < storage.size * NEARLY_FULL:
            return
        problem = say.storage_full(str(storage.storage), host, used, storage.size)
        is_full = used >= storage.size * FULL
        yield StatusFinding(subject=subject, problem=problem if is_full else as_warning(problem))


def _used_storages(desired: Desired, region: str) -> set[tuple[str, str]]:
    used: set[tuple[str, str]] = set()
    for node in desired.nodes:
        vm = node.vm
        if vm is None or str(vm.region) != region:
            continue
        disks = [disk.datastore or vm.datastore for disk in vm.data_disks]
        used.update((str(vm.host), str(name)) for name in (vm.datastore, *disks))
    return used


def _hosts(state: StatusInput, observed: ObservedProxmox) -> Iterator[StatusItem]:
    if not isinstance(observed.state, Fact):
        return
    ours = count_nodes_by_host(state.desired)
    for member in observed.state.value.members:
        nodes = ours[observed.name, str(member.name)]
        yield StatusItem(
            name=f"{observed.name}/{member.name}",
            health=Health.OK if member.online else Health.ERROR,
            summary=f"{'online' if member.online else 'offline'}, {nodes} of our nodes",
        )


@record
class NodeChain:
    """A node and its findings by the part that they belong to."""

    node: NodeStatus
    findings: tuple[tuple[StatusCheck, StatusFinding], ...] = ()

    @property
    def is_down(self) -> bool:
        """Whether its VM does not run or its machine does not answer."""
        vm = self.node.vm
        return (vm is not None and vm.runs is False) or not self.node.machine.answers


def assess_chains(state: StatusInput) -> tuple[NodeChain, ...]:
    """Assess every desired node, in the order of the files."""
    roles = members(state)
    return tuple(
        _assess_chain(node, state, roles.get(str(node.name), "")) for node in state.desired.nodes
    )


def findings_of(chains: tuple[NodeChain, ...], check: StatusCheck) -> Iterator[StatusFinding]:
    """Return the findings of one part."""
    for chain in chains:
        for part_check, finding in chain.findings:
            if part_check is check:
                yield finding


def _assess_chain(node: Node, state: StatusInput, role: str) -> NodeChain:
    chain_findings: list[tuple[StatusCheck, StatusFinding]] = []
    vm = None
    broken = False
    if node.vm is not None:
        vm, findings = assess_vm(node, node.vm, state)
        chain_findings += ((StatusCheck.VMS, finding) for finding in findings)
        broken = vm.runs is False
    machine, findings = assess_machine(node, state)
    if not broken:
        chain_findings += ((StatusCheck.TALOS, finding) for finding in findings)
    broken = broken or (state.talos is not None and not machine.answers)
    kubelet, findings = assess_kubelet(node, state)
    if not broken:
        chain_findings += ((StatusCheck.KUBERNETES, finding) for finding in findings)
    status = NodeStatus(
        name=str(node.name),
        role=node.role.value,
        address=str(node.address.ip),
        vm=vm,
        machine=machine,
        kubelet=kubelet,
        etcd=role,
    )
    return NodeChain(node=status, findings=tuple(chain_findings))


_RUNNING = "running"


@record
class GuestStatus:
    """A guest and its findings."""

    item: StatusItem
    findings: tuple[StatusFinding, ...] = ()


def assess_guests(state: StatusInput) -> tuple[GuestStatus, ...]:
    """Assess every guest of the configuration, including observed ones."""
    return tuple(_assess_guest(guest, state) for guest in state.desired.guests)


def _assess_guest(guest: Guest, state: StatusInput) -> GuestStatus:
    region = _region(guest, state)
    cluster = state.proxmox(region)
    if cluster is None or not isinstance(cluster.resources, Fact):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        finding = unknown_finding(f"guest {guest.name}", "Proxmox VE does not tell", fix)
        return _unknown_guest(guest, "not known", finding)
    observed = cluster.guest(Vmid(guest.vmid))
    if observed is None and not cluster.shows_guests:
        return _unknown_guest(guest, "not shown", unknown_finding(f"guest {guest.name}", *HIDDEN))
    if observed is None:
        is_watched = guest.manage == "observe"
        missing = say.guest_missing(guest.name, guest.vmid, region, is_watched=is_watched)
        return _unknown_guest(guest, "missing", StatusFinding(subject=guest.name, problem=missing))
    host = str(observed.host)
    if (region, host) in state.offline:
        return GuestStatus(
            item=StatusItem(name=guest.name, health=Health.ERROR, summary=f"{host} is offline")
        )
    kind = "qemu" if guest.vm is not None else "lxc"
    if (observed.kind, observed.name) != (kind, guest.name):
        problem = say.vm_identity(guest.name, guest.vmid, host, observed.name, None)
        return _unknown_guest(
            guest, "another guest", StatusFinding(subject=guest.name, problem=problem)
        )
    findings = []
    if observed.status == "unknown":
        why = f"Proxmox VE says nothing of {guest.vmid} on {host}"
        findings.append(
            unknown_finding(f"guest {guest.name}", why, "look again with `stockman status`")
        )
    elif observed.status != _RUNNING:
        stopped = say.guest_stopped(guest.name, guest.vmid, host, observed.status)
        findings.append(StatusFinding(subject=guest.name, problem=as_warning(stopped)))
    if host != str(guest.host):
        moved = as_warning(say.vm_elsewhere(guest.name, guest.vmid, host, str(guest.host)))
        findings.append(StatusFinding(subject=guest.name, problem=moved))
    return _unknown_guest(guest, f"{observed.status} on {host}", *findings)


def _unknown_guest(guest: Guest, text: str, *findings: StatusFinding) -> GuestStatus:
    health = worst_health(finding.health for finding in findings)
    return GuestStatus(
        item=StatusItem(name=guest.name, health=health, summary=text), findings=findings
    )


def _region(guest: Guest, state: StatusInput) -> str:
    """Return the Proxmox cluster that lists the guest's host, or the only one."""
    clusters = state.desired.proxmox
    for cluster in clusters:
        if len(clusters) == 1 or str(guest.host) in cluster.hosts:
            return str(cluster.region)
    return ""


def assess_vms(state: StatusInput, chains: tuple[NodeChain, ...]) -> StatusPart:
    """Assess the VMs of all nodes, and other guests."""
    links = [chain.node.vm for chain in chains if chain.node.vm is not None]
    guests = assess_guests(state)
    if not links and not guests:
        return part_off(StatusCheck.VMS, "no machine is made by stockman")
    running = sum(link.runs is True for link in links)
    unknown_count = sum(link.runs is None for link in links)
    findings = list(findings_of(chains, StatusCheck.VMS))
    if unknown_count and not any(finding.unknown for finding in findings):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        findings.append(unknown_finding(f"{unknown_count} VMs", "Proxmox VE does not tell", fix))
    findings += (finding for guest in guests for finding in guest.findings)
    lines = []
    if links:
        unknown = f", {unknown_count} unknown" if unknown_count else ""
        lines.append(f"{running} of {len(links)} run{unknown}")
    if guests:
        well = sum(guest.item.health is Health.OK for guest in guests)
        lines.append(f"{well} of {len(guests)} {'other guests' if links else 'guests'} run")
    down = running + unknown_count < len(links)
    least = worst_health(
        [Health.ERROR if down else Health.OK, *(guest.item.health for guest in guests)]
    )
    items = [guest.item for guest in guests]
    return build_part(StatusCheck.VMS, ", ".join(lines), findings, items, least)


def assess_talos(state: StatusInput, chains: tuple[NodeChain, ...]) -> StatusPart:
    """Assess the machines of all nodes."""
    if state.desired.cluster is None:
        return part_off(StatusCheck.TALOS, "no cluster is configured")
    if state.talos is None:
        fix = "look again with `stockman status`"
        return build_part(
            StatusCheck.TALOS,
            "not known",
            [unknown_finding("the machines", "nobody asked them", fix)],
        )
    machines = [chain.node.machine for chain in chains]
    answer = sum(machine.answers for machine in machines)
    versions = Counter(machine.version for machine in machines if machine.version)
    version_text = ", ".join(name for name, _ in versions.most_common())
    text = (
        f"{answer} of {len(machines)} machines answer{f', {version_text}' if version_text else ''}"
    )
    least = Health.OK if answer == len(machines) else Health.ERROR
    return build_part(StatusCheck.TALOS, text, findings_of(chains, StatusCheck.TALOS), least=least)
