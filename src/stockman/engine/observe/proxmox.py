"""One pass over a Proxmox cluster: a few lists, configuration and status of each own guest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from stockman.model.errors import Rejected, StockmanError
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.proxmox_values import parse_flag
from stockman.model.record import record
from stockman.planning.access.desired import TOKEN_COMMENT
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import (
    ObservedAccess,
    ObservedGuests,
    ObservedHa,
    ObservedProxmox,
    ProxmoxQuery,
)
from stockman.ports.system import Clock
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import GuestSummary, Resources, StorageSummary
from stockman.proxmox.free_space import with_free_space
from stockman.proxmox.ha import HaGroup, HaRule
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import GuestRef, VmConfig, VmStatus
from stockman.steps.vm.ownership import TAG, TEMPLATE_TAG
from stockman.steps.vm.template import disk_storages, find_linked_clones

T = TypeVar("T")

_AUTH_ERRORS = "proxmox.authentication"
_READING = frozenset({"VM.Audit", "Datastore.Audit", "Sys.Audit", "Pool.Audit"})
"""Without them Proxmox VE hides objects instead of refusing the request."""


class _ProxmoxReader:
    """Counts the calls of one pass, and limits how many run in parallel."""

    def __init__(self, name: str, clock: Clock, at_once: int) -> None:
        self._name = name
        self._clock = clock
        self._slots = asyncio.Semaphore(at_once)
        self.calls = 0

    async def fact(self, subject: str, call: Callable[[], Awaitable[T]]) -> Fact[T] | Unknown:
        """Return the result of a call as a fact; unknown if it fails."""
        return await self.combine(subject, lambda: self.call(call))

    async def combine(self, subject: str, calls: Callable[[], Awaitable[T]]) -> Fact[T] | Unknown:
        """Return the combined result of several calls as a fact; unknown if one of them fails."""
        source = f"Proxmox cluster {self._name}: {subject}"
        try:
            value = await calls()
        except StockmanError as error:
            return Unknown(problem=error.problem, seen=self._clock.now(), source=source)
        return Fact(value=value, seen=self._clock.now(), source=source)

    async def call(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a call; waits while too many calls are running."""
        async with self._slots:
            self.calls += 1
            return await call()


@record
class ProxmoxClients:
    """The clients of a cluster."""

    name: str
    own: ProxmoxClient
    administrator: ProxmoxClient | None = None
    """None: nobody grants access."""


@record
class _ReadAccess:
    """Who reads a cluster."""

    client: ProxmoxClient
    rights: Fact[Mapping[str, frozenset[str]]] | Unknown | None = None
    """Privileges of the token of stockman. None: an administrator reads."""
    rejection: Unknown | None = None
    """Why the token of stockman cannot log in. None: it can, or it has no secret yet."""


async def observe_proxmox(
    name: str,
    pve: ProxmoxClient,
    clock: Clock,
    query: ProxmoxQuery,
    administrator: ProxmoxClient | None = None,
) -> ObservedProxmox:
    """Read everything that planning needs from a cluster.

    An administrator reads access, and the rest only while the token of stockman cannot.
    """
    reader = _ProxmoxReader(name, clock, query.at_once)
    choice = await _choose_reader(reader, pve, administrator, query)
    pve = choice.client
    # Rights on mappings are granted in the stage that creates them.
    mapper = administrator or pve
    async with asyncio.TaskGroup() as group:
        resources = group.create_task(reader.fact("resources", pve.resources))
        version = group.create_task(reader.fact("version", pve.version))
        state = group.create_task(reader.fact("cluster status", pve.cluster_state))
        pools = group.create_task(reader.fact("pools", pve.pools))
        pci = group.create_task(reader.fact("PCI mappings", lambda: mapper.mappings("pci")))
        usb = group.create_task(reader.fact("USB mappings", lambda: mapper.mappings("usb")))
        ha = group.create_task(_ha(reader, pve))
        tags = group.create_task(reader.fact("options", pve.tag_rules))
        access = group.create_task(_access(reader, administrator, query))
        resources_fact = await _with_free_space(reader, pve, await resources)
        guests = resources_fact.value if isinstance(resources_fact, Fact) else None
        selected = _selected_guests(guests, query)
        every = guests.guests if guests is not None else ()
        statuses = group.create_task(_statuses(reader, pve, every, query))
        configs = group.create_task(_configs(reader, pve, selected, query))
        contents = group.create_task(
            _contents(reader, pve, guests, ("import", query.image_storages))
        )
        systems = group.create_task(
            _contents(reader, pve, guests, ("vztmpl", query.system_storages))
        )
        seeds = group.create_task(
            _contents(reader, pve, guests, ("iso", _iso_storages(guests, query)))
        )
    clones = await _clones(reader, pve, guests, configs.result())
    return ObservedProxmox(
        name=name,
        version=version.result(),
        state=state.result(),
        resources=_with_current_values(resources_fact, configs.result(), statuses.result()),
        configs=configs.result(),
        contents=contents.result(),
        systems=systems.result(),
        seeds=seeds.result(),
        clones=clones,
        ha=ha.result(),
        pools=pools.result(),
        pci=pci.result(),
        usb=usb.result(),
        tags=tags.result(),
        rights=choice.rights,
        access=access.result(),
        rejection=choice.rejection,
        calls=reader.calls,
    )


async def observe_guests(
    clients: ProxmoxClients, clock: Clock, query: ProxmoxQuery, touched: frozenset[Vmid]
) -> ObservedGuests:
    """Read some guests of a cluster in the same way as `observe_proxmox`."""
    reader = _ProxmoxReader(clients.name, clock, query.at_once)
    pve = (await _choose_reader(reader, clients.own, clients.administrator, query)).client
    resources = await reader.fact("resources", pve.resources)
    guests = resources.value.guests if isinstance(resources, Fact) else ()
    selected = [guest for guest in guests if guest.vmid in touched]
    configs, statuses = await asyncio.gather(
        _configs(reader, pve, selected, query), _statuses(reader, pve, selected, query)
    )
    return ObservedGuests(
        resources=_with_current_values(resources, configs, statuses), configs=configs
    )


async def _with_free_space(
    reader: _ProxmoxReader, pve: ProxmoxClient, resources: Fact[Resources] | Unknown
) -> Fact[Resources] | Unknown:
    if isinstance(resources, Unknown):
        return resources
    value = await with_free_space(
        pve, resources.value, lambda host: reader.call(lambda: pve.storages(host))
    )
    return replace(resources, value=value)


def _selected_guests(resources: Resources | None, query: ProxmoxQuery) -> tuple[GuestSummary, ...]:
    """Return the guests whose configurations are read."""
    guests = resources.guests if resources is not None else ()
    vmids = {guest.vmid for guest in guests}
    reads_all = query.every_guest or not query.vmids <= vmids
    return tuple(guest for guest in guests if reads_all or _is_own(guest, query))


def _is_own(guest: GuestSummary, query: ProxmoxQuery) -> bool:
    return guest.vmid in query.vmids or TAG in guest.tags


async def _statuses(
    reader: _ProxmoxReader, pve: ProxmoxClient, guests: Sequence[GuestSummary], query: ProxmoxQuery
) -> Mapping[Vmid, VmStatus | None]:
    """Ask each own guest and its namesakes for their status: the list is up to 10 s old.

    None: the guest did not answer.
    """

    async def status(guest: GuestSummary) -> VmStatus | None:
        at = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
        fact = await reader.fact(f"status of {guest.vmid}", lambda: pve.vm_status(at))
        return fact.value if isinstance(fact, Fact) else None

    asked = [guest for guest in guests if _is_own(guest, query) or guest.name in query.names]
    answers = await asyncio.gather(*(status(guest) for guest in asked))
    return {guest.vmid: answer for guest, answer in zip(asked, answers, strict=True)}


def _with_current_values(
    resources: Fact[Resources] | Unknown,
    configs: Mapping[Vmid, Fact[VmConfig] | Unknown],
    statuses: Mapping[Vmid, VmStatus | None],
) -> Fact[Resources] | Unknown:
    """Replace what the list of guests may show too late: name, kind of guest and power."""
    if isinstance(resources, Unknown):
        return resources

    def current(guest: GuestSummary) -> GuestSummary:
        config = configs.get(guest.vmid)
        if isinstance(config, Fact):
            is_template = parse_flag(config.value.get("template", "0"))
            guest = replace(guest, name=config.value.name, is_template=is_template)
        if guest.vmid not in statuses:
            return guest
        status = statuses[guest.vmid]
        if status is None:
            return replace(guest, status="unknown", uptime=None)
        return replace(
            guest, status=status.status, uptime=status.uptime, qmp_status=status.qmp_status
        )

    guests = tuple(current(guest) for guest in resources.value.guests)
    return replace(resources, value=replace(resources.value, guests=guests))


async def _configs(
    reader: _ProxmoxReader, pve: ProxmoxClient, guests: Sequence[GuestSummary], query: ProxmoxQuery
) -> Mapping[Vmid, Fact[VmConfig] | Unknown]:
    async def config(guest: GuestSummary) -> Fact[VmConfig] | Unknown:
        ref = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
        has_pending = guest.vmid in query.vmids and guest.kind == "qemu"
        return await reader.fact(
            f"configuration of {guest.vmid}",
            (lambda: _with_pending_keys(pve, ref)) if has_pending else (lambda: pve.vm_config(ref)),
        )

    facts = await asyncio.gather(*(config(guest) for guest in guests))
    return {guest.vmid: fact for guest, fact in zip(guests, facts, strict=True)}


async def _with_pending_keys(pve: ProxmoxClient, ref: GuestRef) -> VmConfig:
    """Return the configuration at the next start, with the keys that change then."""
    keys = await pve.vm_pending(ref)
    values = {
        key.key: value
        for key in keys
        if not key.is_deleted
        and (value := key.pending if key.pending is not None else key.value) is not None
    }
    return VmConfig(
        digest=values.pop("digest", ""),
        values=values,
        waiting={key.key: key.value for key in keys if key.is_deleted or key.pending is not None},
    )


def _iso_storages(resources: Resources | None, query: ProxmoxQuery) -> frozenset[str]:
    storages = resources.storages if resources is not None and query.reads_seeds else ()
    return frozenset(str(storage.storage) for storage in storages if "iso" in storage.content)


async def _contents(
    reader: _ProxmoxReader,
    pve: ProxmoxClient,
    resources: Resources | None,
    selection: tuple[str, frozenset[str]],
) -> Mapping[str, Fact[tuple[Volume, ...]] | Unknown]:
    """List the volumes of one content type in storages; a shared storage is read once."""
    kind, names = selection
    available = [
        storage
        for storage in (resources.storages if resources is not None else ())
        if storage.storage in names and storage.status == "available"
    ]
    shared: set[str] = set()
    targets: list[StorageSummary] = []
    for storage in available:
        if storage.storage not in shared:
            targets.append(storage)
        if storage.shared:
            shared.add(storage.storage)

    async def content(storage: StorageSummary) -> Fact[tuple[Volume, ...]] | Unknown:
        subject = f"content {kind} of {storage.storage} on {storage.host}"
        return await reader.fact(
            subject, lambda: pve.volumes(storage.host, storage.storage, content=kind)
        )

    facts = await asyncio.gather(*(content(storage) for storage in targets))
    return {
        f"{storage.host}/{storage.storage}": fact
        for storage, fact in zip(targets, facts, strict=True)
    }


async def _clones(
    reader: _ProxmoxReader,
    pve: ProxmoxClient,
    resources: Resources | None,
    configs: Mapping[Vmid, Fact[VmConfig] | Unknown],
) -> Mapping[Vmid, Fact[tuple[str, ...]] | Unknown]:
    """List disks that depend on templates of stockman; every storage is read once."""
    guests = {guest.vmid: guest for guest in (resources.guests if resources is not None else ())}
    shared = {
        storage.storage for storage in (resources.storages if resources else ()) if storage.shared
    }
    locations: dict[Vmid, list[tuple[str, Datastore]]] = {}
    hosts: dict[tuple[str, Datastore], HostName] = {}
    for vmid, fact in configs.items():
        guest = guests[vmid]
        if TEMPLATE_TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        for storage in disk_storages(fact.value):
            location = ("" if storage in shared else str(guest.host), storage)
            locations.setdefault(vmid, []).append(location)
            hosts.setdefault(location, guest.host)

    async def disks(storage: Datastore, host: HostName) -> Fact[tuple[Volume, ...]] | Unknown:
        subject = f"disks in {storage} on {host}"
        return await reader.fact(subject, lambda: pve.volumes(host, storage, content="images"))

    answers = await asyncio.gather(*(disks(location[1], host) for location, host in hosts.items()))
    facts = dict(zip(hosts, answers, strict=True))
    return {
        vmid: _dependent(vmid, [facts[key] for key in keys]) for vmid, keys in locations.items()
    }


def _dependent(
    template: Vmid, answers: list[Fact[tuple[Volume, ...]] | Unknown]
) -> Fact[tuple[str, ...]] | Unknown:
    clones: list[str] = []
    for answer in answers:
        if isinstance(answer, Unknown):
            return answer
        clones += find_linked_clones(answer.value, template)
    last = answers[-1]
    return Fact(value=tuple(clones), seen=last.seen, source=last.source)


async def _ha(reader: _ProxmoxReader, pve: ProxmoxClient) -> Fact[ObservedHa] | Unknown:
    async def all_of_it() -> ObservedHa:
        resources, groups, rules = await asyncio.gather(
            reader.call(pve.ha_resources),
            reader.call(lambda: _groups(pve)),
            reader.call(lambda: _rules(pve)),
        )
        return ObservedHa(resources=resources, groups=groups, rules=rules)

    return await reader.combine("high availability", all_of_it)


async def _groups(pve: ProxmoxClient) -> tuple[HaGroup, ...]:
    try:
        return await pve.ha_groups()
    except Rejected:
        # Proxmox VE 9 has rules instead of groups.
        return ()


async def _rules(pve: ProxmoxClient) -> tuple[HaRule, ...]:
    try:
        return await pve.ha_rules()
    except Rejected:
        # Proxmox VE 8 has no rules.
        return ()


async def _choose_reader(
    reader: _ProxmoxReader,
    pve: ProxmoxClient,
    administrator: ProxmoxClient | None,
    query: ProxmoxQuery,
) -> _ReadAccess:
    """Return who reads: an administrator only if the token of stockman cannot read everything."""
    if administrator is None:
        return _ReadAccess(client=pve, rights=await _rights(reader, pve, query))
    login = await reader.fact("its token", pve.version)
    if isinstance(login, Fact):
        rights = await _rights(reader, pve, query)
        if isinstance(rights, Fact) and not any(
            need.lacking(rights.value) & _READING for need in query.needs
        ):
            return _ReadAccess(client=pve, rights=rights)
        return _ReadAccess(client=administrator)
    rejected = login.problem.code == _AUTH_ERRORS
    return _ReadAccess(client=administrator, rejection=login if rejected else None)


async def _rights(
    reader: _ProxmoxReader, pve: ProxmoxClient, query: ProxmoxQuery
) -> Fact[Mapping[str, frozenset[str]]] | Unknown:
    async def all_of_them() -> Mapping[str, frozenset[str]]:
        privileges: dict[str, frozenset[str]] = {}

        async def ask(path: str) -> None:
            privileges[path] = (await reader.call(lambda: pve.permissions(path))).get(
                path, frozenset()
            )

        needs = query.needs
        await asyncio.gather(*(ask(path) for path in dict.fromkeys(need.path for need in needs)))
        lacking = (need for need in needs if not need.privileges <= privileges[need.path])
        alternatives = dict.fromkeys(path for need in lacking for path in need.alternatives)
        await asyncio.gather(*(ask(path) for path in alternatives if path not in privileges))
        return privileges

    return await reader.combine("permissions", all_of_them)


async def _access(
    reader: _ProxmoxReader, administrator: ProxmoxClient | None, query: ProxmoxQuery
) -> Fact[ObservedAccess] | Unknown | None:
    if administrator is None:
        return None

    async def all_of_it() -> ObservedAccess:
        roles, users, rules = await asyncio.gather(
            reader.call(administrator.roles),
            reader.call(administrator.users),
            reader.call(administrator.access_rules),
        )
        ours = {user.id for user in users if user.comment.endswith(TOKEN_COMMENT)}
        selected = sorted({user.id for user in users} & query.users | ours)
        tokens = await asyncio.gather(
            *(reader.call(partial(administrator.tokens, user)) for user in selected)
        )
        return ObservedAccess(
            roles=roles, users=users, tokens=dict(zip(selected, tokens, strict=True)), rules=rules
        )

    return await reader.combine("access", all_of_it)
