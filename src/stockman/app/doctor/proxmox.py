"""Checks of Proxmox clusters: version, hosts, storages, bridges, replication, clocks.

They use only the token and the endpoints in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman.app.doctor.check import CheckInput, ProxmoxAccess, Question, check
from stockman.app.doctor.clock import length
from stockman.app.doctor.finding import CheckResult, fail, ok, skip, unknown, warn
from stockman.app.doctor.proxmox_queries import questions, result_or_reason
from stockman.model.compatibility import Verdict, proxmox_compatibility
from stockman.model.errors import StockmanError
from stockman.model.names import HostName
from stockman.planning.vm.requirements import host_requirements
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import StorageSummary

_NOTICEABLE = 5.0
_TOO_FAR = 60.0
"""Seconds; a host reports its time in whole seconds."""


@check("proxmox.version")
def version(scene: CheckInput) -> Iterator[Question]:
    """Proxmox VE has a version that stockman knows, and takes its token."""
    yield from questions(scene, _version)


@check("proxmox.hosts")
def hosts(scene: CheckInput) -> Iterator[Question]:
    """The cluster has quorum, and the hosts that machines are to run on are up."""
    yield from questions(scene, _hosts)


@check("proxmox.storages")
def storages(scene: CheckInput) -> Iterator[Question]:
    """Storages that machines need are there, active, and for what is put into them."""
    yield from questions(scene, _storages)


@check("proxmox.bridges")
def bridges(scene: CheckInput) -> Iterator[Question]:
    """Bridges that machines need are there on each host."""
    yield from questions(scene, _bridges)


@check("proxmox.replication")
def replication(scene: CheckInput) -> Iterator[Question]:
    """Replication of disks between hosts works, where there is any."""
    yield from questions(scene, _replication)


@check("proxmox.clock")
def clock(scene: CheckInput) -> Iterator[Question]:
    """The clocks of the hosts agree with the clock of this machine."""
    yield from questions(scene, _clocks)


async def _version(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    answer = await pve.version()
    try:
        fit = proxmox_compatibility(answer.parsed)
    except ValueError:
        fix = "see on the host what `pveversion` says"
        return (unknown(region.subject, f"its version {answer.version!r} cannot be read", fix),)
    summary = f"Proxmox VE {answer.version}"
    match fit.verdict:
        case Verdict.OK:
            return (ok(region.subject, summary),)
        case Verdict.NEWER:
            return (
                warn(region.subject, f"{summary}: {fit.reason}", "see whether stockman is newer"),
            )
        case _:
            return (fail(region.subject, f"{summary}: {fit.reason}", "upgrade the hosts"),)


async def _hosts(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    findings = []
    state = await result_or_reason(pve.cluster_state())
    if isinstance(state, StockmanError):
        findings.append(unknown(region.subject, state.problem.what, state.problem.fix))
    elif not state.quorate:
        fix = "bring back enough hosts: `pvecm status` tells"
        findings.append(fail(region.subject, "the cluster has no quorum", fix))
    states = {host.host: host.status for host in (await pve.resources()).hosts}
    for host in sorted(host_requirements(scene.desired, region.cluster).hosts):
        subject = f"host {host}"
        status = states.get(HostName(host))
        if status is None:
            known = ", ".join(sorted(states)) or "none"
            fix = f"write a host that there is: {known}"
            findings.append(fail(subject, f"{region.subject} has no such host", fix))
        elif status != "online":
            findings.append(warn(subject, f"it is {status}", "look at the host"))
        else:
            findings.append(ok(subject, "it is online"))
    return findings or (ok(region.subject, f"{len(states)} hosts"),)


async def _storages(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    needed = host_requirements(scene.desired, region.cluster).storages
    storages = (await pve.resources()).storages
    by_name = {(str(storage.host), str(storage.storage)): storage for storage in storages}
    return [
        _assess_storage(host, storage, content, by_name.get((host, storage)))
        for host, storage, content in sorted(needed)
    ] or (skip(region.subject, "no machine needs a storage yet"),)


def _assess_storage(
    host: str, storage: str, content: str, storage_summary: StorageSummary | None
) -> CheckResult:
    subject = f"storage {storage} on {host}"
    if storage_summary is None:
        return fail(
            subject,
            "there is none, or the token may not see it",
            f"check the name, the nodes of the storage, and Datastore.Audit on /storage/{storage}",
        )
    if content not in storage_summary.content:
        held = ", ".join(sorted(storage_summary.content))
        fix = f"add {content} to its content: Datacenter, Storage, {storage}"
        return fail(subject, f"it is for {held}, not for {content}", fix)
    if storage_summary.status != "available":
        return warn(subject, f"it is {storage_summary.status}", "look at the storage on the host")
    if storage_summary.size and storage_summary.used is not None:
        return ok(
            subject,
            f"{(storage_summary.size - storage_summary.used) / 2**30:.0f} GiB free, for {content}",
        )
    return ok(subject, f"for {content}")


async def _bridges(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    needed = host_requirements(scene.desired, region.cluster).bridges
    by_host: dict[str, list[str]] = {}
    for host, bridge in sorted(needed):
        by_host.setdefault(host, []).append(bridge)
    findings = []
    for host, names in by_host.items():
        findings += await _bridges_of(pve, host, names)
    return findings or (skip(region.subject, "no machine needs a bridge yet"),)


async def _bridges_of(pve: ProxmoxClient, host: str, names: list[str]) -> list[CheckResult]:
    network = await result_or_reason(pve.host_network(HostName(host)))
    if isinstance(network, StockmanError):
        return [unknown(f"bridges of {host}", network.problem.what, network.problem.fix)]
    bridges = {interface.name: interface for interface in network.interfaces if interface.is_bridge}
    findings = []
    for name in names:
        subject, bridge = f"bridge {name} on {host}", bridges.get(name)
        if bridge is None:
            known = ", ".join(sorted(bridges)) or "none that the token may see"
            fix = f"make the bridge, or write one that there is: {known}"
            findings.append(fail(subject, "there is none", fix))
        elif not bridge.active:
            findings.append(warn(subject, "it is not up", "apply the network configuration"))
        else:
            findings.append(ok(subject, "it is up"))
    return findings


async def _replication(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    jobs = await pve.replication_jobs()
    if not jobs:
        return (skip(region.subject, "nothing is replicated"),)
    where = {guest.vmid: guest.host for guest in (await pve.resources()).guests}
    hosts = sorted({where[job.guest] for job in jobs if job.guest in where})
    states = {
        replication_state.id: replication_state
        for host in hosts
        for replication_state in await pve.replication_states(host)
    }
    failing = [state for state in states.values() if state.failures]
    if failing:
        return [
            warn(
                f"replication {state.id} to {state.target}",
                f"it failed {state.failures} times in a row: {state.error or 'no reason is told'}",
                "see `pvesr status` on its host; copies on the target are old meanwhile",
            )
            for state in failing
        ]
    return (ok(region.subject, f"{len(jobs)} jobs of replication, none fails"),)


async def _clocks(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    clocks = [host.host for host in (await pve.resources()).hosts if host.status == "online"]
    return [await _clock_of(scene, pve, host) for host in clocks]


async def _clock_of(scene: CheckInput, pve: ProxmoxClient, host: HostName) -> CheckResult:
    subject = f"clock of {host}"
    answer = await result_or_reason(pve.host_time(host))
    if isinstance(answer, StockmanError):
        return unknown(subject, answer.problem.what, answer.problem.fix)
    off = abs((answer - scene.clock.now()).total_seconds())
    summary = f"it differs from this machine's by {length(off)}"
    fix = "keep both set: `timedatectl set-ntp true` here, chrony on the host"
    if off > _TOO_FAR:
        return fail(subject, summary, fix)
    return warn(subject, summary, fix) if off > _NOTICEABLE else ok(subject, "it agrees with ours")


CHECKS = (version, hosts, storages, bridges, replication, clock)
