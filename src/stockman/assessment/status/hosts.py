"""Status of Proxmox VE: hosts, quorum, storage and memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    part_off,
    unknown_finding,
)
from stockman.assessment.status.observed import StatusInput
from stockman.model.desired import Desired
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
    elif storage.size and storage.used and storage.used >= storage.size * NEARLY_FULL:
        problem = say.storage_full(str(storage.storage), host, storage.used, storage.size)
        is_full = storage.used >= storage.size * FULL
        yield StatusFinding(subject=subject, problem=problem if is_full else as_warning(problem))


def _used_storages(desired: Desired, region: str) -> set[tuple[str, str]]:
    used: set[tuple[str, str]] = set()
    for node in desired.nodes:
        vm = node.vm
        if vm is None or str(vm.region) != region:
            continue
        disks = [disk.datastore for disk in vm.data_disks]
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
