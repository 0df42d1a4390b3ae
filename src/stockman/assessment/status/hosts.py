"""Proxmox VE: hosts, quorum, and room for the machines of the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.assessment.status import proxmox_problems as say
from stockman.assessment.status.findings import (
    Health,
    StatusCheck,
    StatusFinding,
    StatusItem,
    StatusPart,
    as_warning,
    build_part,
    disabled_part,
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


def assess_proxmox(seen: StatusInput) -> StatusPart:
    """All Proxmox clusters of the configuration."""
    regions = [str(one.region) for one in seen.desired.proxmox]
    if not regions:
        return disabled_part(StatusCheck.PROXMOX, "no Proxmox cluster is configured")
    findings: list[StatusFinding] = []
    items: list[StatusItem] = []
    told = []
    for region in regions:
        found = seen.proxmox(region)
        if found is None:
            fix = "give `proxmox_endpoint` in cluster.yaml, or `endpoint` of that cluster"
            why = "no address of its API is configured"
            findings.append(unknown_finding(f"Proxmox cluster {region}", why, fix))
            continue
        findings += _findings(seen, found)
        items += _hosts(seen, found)
        told.append(_line(found))
    return build_part(StatusCheck.PROXMOX, "; ".join(told) or "nothing is known", findings, items)


def count_nodes_by_host(desired: Desired) -> Counter[tuple[str, str]]:
    """How many of our nodes are to be on which host, by region and name."""
    return Counter(
        (str(node.vm.region), str(node.vm.host)) for node in desired.nodes if node.vm is not None
    )


def _line(found: ObservedProxmox) -> str:
    version = found.version.value.version if isinstance(found.version, Fact) else "version unknown"
    if not isinstance(found.state, Fact):
        return f"{found.name}: hosts unknown, {version}"
    members = found.state.value.members
    online = sum(one.online for one in members)
    quorum = "quorate" if found.state.value.quorate else "no quorum"
    return f"{found.name}: {online} of {len(members)} hosts online, {quorum}, {version}"


def _findings(seen: StatusInput, found: ObservedProxmox) -> Iterator[StatusFinding]:
    region = found.name
    if isinstance(found.state, Unknown):
        problem = found.state.problem
        silent = say.proxmox_silent(region, f"{problem.what}: {problem.why}", problem.fix)
        yield StatusFinding(subject=region, problem=silent, unknown=True)
        return
    members = found.state.value.members
    if not found.state.value.quorate:
        online = sum(one.online for one in members)
        yield StatusFinding(subject=region, problem=say.no_quorum(region, online, len(members)))
    ours = count_nodes_by_host(seen.desired)
    known = {str(one.name) for one in members}
    for member in members:
        if not member.online:
            count = ours[region, str(member.name)]
            offline = say.host_offline(region, str(member.name), count)
            problem = offline if count else as_warning(offline)
            yield StatusFinding(subject=str(member.name), problem=problem)
    for host in sorted({host for where, host in ours if where == region} - known):
        missing = say.host_unknown(region, host, ", ".join(sorted(known)))
        yield StatusFinding(subject=host, problem=missing)
    if isinstance(found.resources, Unknown):
        problem = found.resources.problem
        yield unknown_finding(f"what is in Proxmox cluster {region}", problem.why, problem.fix)
        return
    for one in found.resources.value.hosts:
        yield from _memory(one)
    yield from _storages(seen, found)


def _memory(host: HostSummary) -> Iterator[StatusFinding]:
    if host.memory and host.memory_used and host.memory_used >= host.memory * MUCH_MEMORY:
        problem = say.memory_full(str(host.host), host.memory_used, host.memory)
        yield StatusFinding(subject=str(host.host), problem=as_warning(problem))


def _storages(seen: StatusInput, found: ObservedProxmox) -> Iterator[StatusFinding]:
    """Storages that our machines are on; a shared one is told once."""
    told: set[str] = set()
    for host, name in sorted(_used_storages(seen.desired, found.name)):
        one = found.storage(host, name)
        if one is None or name in told or (found.name, host) in seen.offline:
            continue
        if one.shared:
            told.add(name)
        yield from _storage(one, host)


def _storage(one: StorageSummary, host: str) -> Iterator[StatusFinding]:
    subject = f"{one.storage} on {host}"
    if one.status != "available":
        yield StatusFinding(subject=subject, problem=say.storage_gone(str(one.storage), host))
    elif one.size and one.used and one.used >= one.size * NEARLY_FULL:
        problem = say.storage_full(str(one.storage), host, one.used, one.size)
        is_full = one.used >= one.size * FULL
        yield StatusFinding(subject=subject, problem=problem if is_full else as_warning(problem))


def _used_storages(desired: Desired, region: str) -> set[tuple[str, str]]:
    used: set[tuple[str, str]] = set()
    for node in desired.nodes:
        vm = node.vm
        if vm is None or str(vm.region) != region:
            continue
        disks = [one.datastore or vm.datastore for one in vm.data_disks]
        used.update((str(vm.host), str(name)) for name in (vm.datastore, *disks))
    return used


def _hosts(seen: StatusInput, found: ObservedProxmox) -> Iterator[StatusItem]:
    if not isinstance(found.state, Fact):
        return
    ours = count_nodes_by_host(seen.desired)
    for member in found.state.value.members:
        nodes = ours[found.name, str(member.name)]
        yield StatusItem(
            name=f"{found.name}/{member.name}",
            health=Health.OK if member.online else Health.ERROR,
            seen=f"{'online' if member.online else 'offline'}, {nodes} of our nodes",
        )
