"""Proxmox VE: hosts, quorum, and room for the machines of the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from stockman.app.status import place_problems as say
from stockman.app.status.finding import (
    Check,
    Finding,
    Item,
    Part,
    off,
    part,
    unknown,
    warning,
)
from stockman.app.status.health import Health
from stockman.app.status.seen import Seen
from stockman.model.desired import Desired
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.ports.proxmox.cluster import HostSeen, StorageSeen

NEARLY_FULL, FULL = 0.90, 0.97
"""Shares of a storage from which on it is told, and from which on it is an error."""
MUCH_MEMORY = 0.95


def judged_proxmox(seen: Seen) -> Part:
    """All Proxmox clusters of the configuration."""
    regions = [str(one.region) for one in seen.desired.proxmox]
    if not regions:
        return off(Check.PROXMOX, "no Proxmox cluster is configured")
    findings: list[Finding] = []
    items: list[Item] = []
    told = []
    for region in regions:
        found = seen.proxmox(region)
        if found is None:
            fix = "give `proxmox_endpoint` in cluster.yaml, or `endpoint` of that cluster"
            why = "no address of its API is configured"
            findings.append(unknown(f"Proxmox cluster {region}", why, fix))
            continue
        findings += _findings(seen, found)
        items += _hosts(seen, found)
        told.append(_line(found))
    return part(Check.PROXMOX, "; ".join(told) or "nothing is known", findings, items)


def placed(desired: Desired) -> Counter[tuple[str, str]]:
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


def _findings(seen: Seen, found: ObservedProxmox) -> Iterator[Finding]:
    region = found.name
    if isinstance(found.state, Unknown):
        problem = found.state.problem
        silent = say.proxmox_silent(region, f"{problem.what}: {problem.why}", problem.fix)
        yield Finding(subject=region, problem=silent, unknown=True)
        return
    members = found.state.value.members
    if not found.state.value.quorate:
        online = sum(one.online for one in members)
        yield Finding(subject=region, problem=say.no_quorum(region, online, len(members)))
    ours = placed(seen.desired)
    known = {str(one.name) for one in members}
    for member in members:
        if not member.online:
            count = ours[region, str(member.name)]
            offline = say.host_offline(region, str(member.name), count)
            problem = offline if count else warning(offline)
            yield Finding(subject=str(member.name), problem=problem)
    for host in sorted({host for where, host in ours if where == region} - known):
        missing = say.host_unknown(region, host, ", ".join(sorted(known)))
        yield Finding(subject=host, problem=missing)
    if isinstance(found.resources, Unknown):
        problem = found.resources.problem
        yield unknown(f"what is in Proxmox cluster {region}", problem.why, problem.fix)
        return
    for one in found.resources.value.hosts:
        yield from _memory(one)
    yield from _storages(seen, found)


def _memory(host: HostSeen) -> Iterator[Finding]:
    if host.memory and host.memory_used and host.memory_used >= host.memory * MUCH_MEMORY:
        problem = say.memory_full(str(host.host), host.memory_used, host.memory)
        yield Finding(subject=str(host.host), problem=warning(problem))


def _storages(seen: Seen, found: ObservedProxmox) -> Iterator[Finding]:
    """Storages that our machines are on; a shared one is told once."""
    told: set[str] = set()
    for host, name in sorted(_used(seen.desired, found.name)):
        one = found.storage(host, name)
        if one is None or name in told or (found.name, host) in seen.offline:
            continue
        if one.shared:
            told.add(name)
        yield from _storage(one, host)


def _storage(one: StorageSeen, host: str) -> Iterator[Finding]:
    subject = f"{one.storage} on {host}"
    if one.status != "available":
        yield Finding(subject=subject, problem=say.storage_gone(str(one.storage), host))
    elif one.size and one.used and one.used >= one.size * NEARLY_FULL:
        problem = say.storage_full(str(one.storage), host, one.used, one.size)
        is_full = one.used >= one.size * FULL
        yield Finding(subject=subject, problem=problem if is_full else warning(problem))


def _used(desired: Desired, region: str) -> set[tuple[str, str]]:
    used: set[tuple[str, str]] = set()
    for node in desired.nodes:
        vm = node.vm
        if vm is None or str(vm.region) != region:
            continue
        disks = [one.datastore or vm.datastore for one in vm.data_disks]
        used.update((str(vm.host), str(name)) for name in (vm.datastore, *disks))
    return used


def _hosts(seen: Seen, found: ObservedProxmox) -> Iterator[Item]:
    if not isinstance(found.state, Fact):
        return
    ours = placed(seen.desired)
    for member in found.state.value.members:
        nodes = ours[found.name, str(member.name)]
        yield Item(
            name=f"{found.name}/{member.name}",
            health=Health.OK if member.online else Health.ERROR,
            seen=f"{'online' if member.online else 'offline'}, {nodes} of our nodes",
        )
