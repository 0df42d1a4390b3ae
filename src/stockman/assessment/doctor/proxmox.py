"""Checks of Proxmox clusters: version, hosts, storages, bridges, replication, clocks.

They use only the token and the endpoints in the configuration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from stockman.assessment.doctor.check import (
    Check,
    CheckInput,
    CheckResult,
    ConfiguredToken,
    ProxmoxAccess,
    Question,
    check,
    fail,
    ok,
    skip,
    unknown,
    warn,
)
from stockman.assessment.doctor.clock import length
from stockman.model.compatibility import Verdict, proxmox_compatibility
from stockman.model.errors import Denied, Refused, StockmanError, Unreachable
from stockman.model.names import HostName
from stockman.planning.vm.requirements import host_requirements
from stockman.ports.environment import Network
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import StorageSummary
from stockman.proxmox.free_space import with_free_space
from stockman.proxmox.privileges import RequiredPrivileges, provisioning_privileges, role_privileges

T = TypeVar("T")
_WITH_EVERY_CALL = (
    "proxmox.authentication",
    "proxmox.certificate",
    "proxmox.unreachable",
)
ProxmoxCheck = Callable[
    [CheckInput, ProxmoxAccess, ProxmoxClient], Awaitable[Iterable[CheckResult]]
]


def proxmox_check(name: str) -> Callable[[ProxmoxCheck], Check]:
    """Turn a query into a check of every Proxmox cluster, with stockman's token."""

    def decorate(query: ProxmoxCheck) -> Check:
        def look(scene: CheckInput) -> Iterator[Question]:
            for region in scene.regions:
                ask = partial(_query_cluster, scene, region, query)
                yield Question(subject=region.subject, ask=ask)

        look.__doc__ = query.__doc__
        return check(name)(look)

    return decorate


async def _query_cluster(
    scene: CheckInput, region: ProxmoxAccess, look: ProxmoxCheck, network: Network
) -> Iterable[CheckResult]:
    del network
    return await query_with_token(
        region, region.token, region.subject, partial(look, scene, region)
    )


async def query_with_token(
    region: ProxmoxAccess,
    token: ConfiguredToken,
    subject: str,
    look: Callable[[ProxmoxClient], Awaitable[Iterable[CheckResult]]],
) -> Iterable[CheckResult]:
    """Open a client with a token and return the results of a check."""
    if token.secret is None:
        return (skip(subject, f"the token of {token.owner} is not available: {token.reason}"),)
    try:
        async with region.open(token.id, token.secret) as pve:
            return tuple(await look(pve))
    except StockmanError as error:
        return (_query_failure(subject, error),)


async def result_or_reason(request: Awaitable[T]) -> T | StockmanError:
    """Return the answer, or why this query failed; raise errors that affect every query."""
    try:
        return await request
    except StockmanError as error:
        if error.problem.code in _WITH_EVERY_CALL:
            raise
        return error


def _query_failure(subject: str, error: StockmanError) -> CheckResult:
    problem = error.problem
    if isinstance(error, Unreachable | Refused):
        return skip(subject, f"{problem.what}: {problem.why}; see `reach.proxmox`")
    if isinstance(error, Denied) and problem.code == "proxmox.authentication":
        return fail(subject, f"{problem.what}: {problem.why}", problem.fix)
    return unknown(subject, f"{problem.what}: {problem.why}", problem.fix)


_NOTICEABLE = 5.0
_TOO_FAR = 60.0
"""Seconds; a host reports its time in whole seconds."""


@proxmox_check("proxmox.version")
async def version(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """Proxmox VE has a supported version and accepts the token."""
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
            fix = "check for a newer version of stockman"
            return (warn(region.subject, f"{summary}: {fit.reason}", fix),)
        case _:
            return (fail(region.subject, f"{summary}: {fit.reason}", "upgrade the hosts"),)


@proxmox_check("proxmox.hosts")
async def hosts(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """The cluster has quorum, and the hosts that machines are to run on are up."""
    findings = []
    state = await result_or_reason(pve.cluster_state())
    if isinstance(state, StockmanError):
        findings.append(unknown(region.subject, state.problem.what, state.problem.fix))
    elif not state.quorate:
        fix = "start enough hosts; see `pvecm status`"
        findings.append(fail(region.subject, "the cluster has no quorum", fix))
    states = {host.host: host.status for host in (await pve.resources()).hosts}
    for host in sorted(host_requirements(scene.desired, region.cluster).hosts):
        subject = f"host {host}"
        status = states.get(HostName(host))
        if status is None:
            known = ", ".join(sorted(states)) or "none"
            fix = f"use an existing host: {known}"
            findings.append(fail(subject, f"{region.subject} has no such host", fix))
        elif status != "online":
            findings.append(warn(subject, f"it is {status}", "look at the host"))
        else:
            findings.append(ok(subject, "it is online"))
    return findings or (ok(region.subject, f"{len(states)} hosts"),)


@proxmox_check("proxmox.storages")
async def storages(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """Storages that machines need exist, are active and have the needed content types."""
    needed = host_requirements(scene.desired, region.cluster).storages
    storages = (await with_free_space(pve, await pve.resources())).storages
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
            "it does not exist, or the token cannot see it",
            f"check the name, the nodes of the storage, and Datastore.Audit on /storage/{storage}",
        )
    if content not in storage_summary.content:
        held = ", ".join(sorted(storage_summary.content))
        fix = f"add {content} to its content: Datacenter, Storage, {storage}"
        return fail(subject, f"it is for {held}, not for {content}", fix)
    if storage_summary.status != "available":
        return warn(subject, f"it is {storage_summary.status}", "look at the storage on the host")
    if storage_summary.room is not None:
        return ok(subject, f"{storage_summary.room / 2**30:.0f} GiB free, for {content}")
    return ok(subject, f"for {content}")


@proxmox_check("proxmox.bridges")
async def bridges(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """Bridges that machines need exist on each host."""
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
    vnets = () if set(names) <= set(bridges) else await pve.any_bridges(HostName(host))
    findings = []
    for name in names:
        subject, bridge = f"bridge {name} on {host}", bridges.get(name)
        if bridge is None and name in vnets:
            findings.append(ok(subject, "it is a VNet"))
        elif bridge is None:
            known = ", ".join(sorted(bridges)) or "none that the token can see"
            fix = f"create the bridge, or use an existing one: {known}"
            findings.append(fail(subject, "there is none", fix))
        elif not bridge.active:
            findings.append(warn(subject, "it is not up", "apply the network configuration"))
        else:
            findings.append(ok(subject, "it is up"))
    return findings


@proxmox_check("proxmox.replication")
async def replication(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """Replication of disks between hosts works, where there is any."""
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
                f"it failed {state.failures} times in a row: {state.error or 'no reason given'}",
                "see `pvesr status` on its host; copies on the target are old meanwhile",
            )
            for state in failing
        ]
    return (ok(region.subject, f"{len(jobs)} jobs of replication, none fails"),)


@proxmox_check("proxmox.clock")
async def clock(
    scene: CheckInput, region: ProxmoxAccess, pve: ProxmoxClient
) -> Iterable[CheckResult]:
    """The clocks of the hosts agree with the clock of this machine."""
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


_FROM_9 = 9


@check("proxmox.rights")
def rights(scene: CheckInput) -> Iterator[Question]:
    """The token of stockman may do what the configuration asks for."""
    for region in scene.regions:
        token = region.token
        yield Question(subject=token.id, ask=partial(_check_own_token, scene, region, token))


@check("proxmox.component-rights")
def component_rights(scene: CheckInput) -> Iterator[Question]:
    """The tokens of components may do what the components need."""
    for region in scene.regions:
        for token in region.component_tokens:
            yield Question(subject=token.id, ask=partial(_check_component_token, region, token))


async def _check_own_token(
    scene: CheckInput, region: ProxmoxAccess, token: ConfiguredToken, network: Network
) -> Iterable[CheckResult]:
    del network

    async def look(pve: ProxmoxClient) -> Iterable[CheckResult]:
        major = (await pve.version()).major
        desired = host_requirements(scene.desired, region.cluster).vms
        return await _assess_token(pve, token, provisioning_privileges(major, desired))

    return await query_with_token(region, token, token.id, look)


async def _check_component_token(
    region: ProxmoxAccess, token: ConfiguredToken, network: Network
) -> Iterable[CheckResult]:
    from stockman.catalog.registry import component

    del network
    access = component(token.owner).proxmox_access(token.options)

    async def look(pve: ProxmoxClient) -> Iterable[CheckResult]:
        if access is None:
            return ()
        newer = (await pve.version()).major >= _FROM_9
        further = access.privileges_from_9 if newer else ()
        return await _assess_token(
            pve, token, role_privileges(access.paths, (*access.privileges, *further))
        )

    return await query_with_token(region, token, token.id, look)


async def _assess_token(
    pve: ProxmoxClient, token: ConfiguredToken, needs: Sequence[RequiredPrivileges]
) -> Iterable[CheckResult]:
    missing = [(need, lacked) for need in needs if (lacked := await _missing_privileges(pve, need))]
    if not missing:
        paths = ", ".join(need.path for need in needs)
        return (ok(token.id, f"it has every privilege that is needed on {paths}"),)
    return [
        fail(
            token.id,
            f"it lacks {', '.join(sorted(lacked))} on {need.path}",
            f"add them to a role that {token.id} and its user have on {need.path}",
        )
        for need, lacked in missing
    ]


async def _missing_privileges(pve: ProxmoxClient, need: RequiredPrivileges) -> frozenset[str]:
    lacked = need.privileges - await _list_privileges(pve, need.path)
    if not lacked or not need.alternatives:
        return lacked
    below = [need.privileges - await _list_privileges(pve, path) for path in need.alternatives]
    return frozenset().union(*below)


async def _list_privileges(pve: ProxmoxClient, path: str) -> frozenset[str]:
    return (await pve.permissions(path)).get(path, frozenset())


CHECKS = (version, hosts, storages, bridges, replication, clock, rights, component_rights)
