"""One pass over a Proxmox cluster: a handful of lists, and one configuration per VM of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from stockman.model.errors import Rejected, StockmanError
from stockman.model.names import Datastore, HostName, Vmid
from stockman.planning.access.desired import TOKEN_COMMENT
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed.proxmox import (
    ObservedAccess,
    ObservedGuests,
    ObservedHa,
    ObservedProxmox,
    ProxmoxQuery,
)
from stockman.planning.vm.ownership import TAG, TEMPLATE_TAG
from stockman.ports.system import Clock
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import GuestSummary, Resources, StorageSummary
from stockman.proxmox.ha import HaGroup, HaRule
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import GuestRef, VmConfig
from stockman.steps.vm.template import disk_storages, linked_clones

T = TypeVar("T")

_RUNS = "running"
_AUTH_ERRORS = "proxmox.authentication"


class _ProxmoxReader:
    """Asks, a few questions at once, and counts them."""

    def __init__(self, name: str, clock: Clock, at_once: int) -> None:
        self._name = name
        self._clock = clock
        self._turns = asyncio.Semaphore(at_once)
        self.calls = 0

    async def fact(self, what: str, question: Callable[[], Awaitable[T]]) -> Fact[T] | Unknown:
        """The answer, or that there was none."""
        return await self.together(what, lambda: self.turn(question))

    async def together(self, what: str, questions: Callable[[], Awaitable[T]]) -> Fact[T] | Unknown:
        """What several questions come to, each of which waits for its turn."""
        source = f"Proxmox cluster {self._name}: {what}"
        try:
            value = await questions()
        except StockmanError as no:
            return Unknown(problem=no.problem, seen=self._clock.now(), source=source)
        return Fact(value=value, seen=self._clock.now(), source=source)

    async def turn(self, question: Callable[[], Awaitable[T]]) -> T:
        """The answer to one question, asked when not too many others are."""
        async with self._turns:
            self.calls += 1
            return await question()


async def observe_proxmox(
    name: str,
    pve: ProxmoxClient,
    clock: Clock,
    wanted: ProxmoxQuery,
    administrator: ProxmoxClient | None = None,
) -> ObservedProxmox:
    """Everything that planning needs to know of a cluster; nothing is changed.

    An administrator looks at everything, because the token of stockman may not exist yet.
    """
    token = pve
    pve = administrator or token
    asking = _ProxmoxReader(name, clock, wanted.at_once)
    async with asyncio.TaskGroup() as group:
        resources = group.create_task(asking.fact("resources", pve.resources))
        version = group.create_task(asking.fact("version", pve.version))
        state = group.create_task(asking.fact("cluster status", pve.cluster_state))
        pools = group.create_task(asking.fact("pools", pve.pools))
        pci = group.create_task(asking.fact("PCI mappings", lambda: pve.mappings("pci")))
        usb = group.create_task(asking.fact("USB mappings", lambda: pve.mappings("usb")))
        rights = group.create_task(_rights(asking, token, administrator, wanted))
        turned_away = group.create_task(_login_failure(asking, token, administrator))
        ha = group.create_task(_ha(asking, pve))
        access = group.create_task(_access(asking, administrator, wanted))
        seen = await resources
        guests = seen.value if isinstance(seen, Fact) else None
        configs = group.create_task(_configs(asking, pve, guests, wanted))
        contents = group.create_task(
            _contents(asking, pve, guests, ("import", wanted.image_storages))
        )
        systems = group.create_task(
            _contents(asking, pve, guests, ("vztmpl", wanted.system_storages))
        )
    clones = await _clones(asking, pve, guests, configs.result())
    return ObservedProxmox(
        name=name,
        version=version.result(),
        state=state.result(),
        resources=seen,
        configs=configs.result(),
        contents=contents.result(),
        systems=systems.result(),
        clones=clones,
        ha=ha.result(),
        pools=pools.result(),
        pci=pci.result(),
        usb=usb.result(),
        rights=rights.result(),
        access=access.result(),
        turned_away=turned_away.result(),
        calls=asking.calls,
    )


async def observe_guests(
    name: str, pve: ProxmoxClient, clock: Clock, wanted: ProxmoxQuery, touched: frozenset[Vmid]
) -> ObservedGuests:
    """Some guests of a cluster, seen as `observe_proxmox` sees them, and nothing else of it."""
    asking = _ProxmoxReader(name, clock, wanted.at_once)
    seen = await asking.fact("resources", pve.resources)
    guests = seen.value.guests if isinstance(seen, Fact) else ()
    asked = [one for one in guests if one.vmid in touched]
    return ObservedGuests(resources=seen, configs=await _read(asking, pve, asked, wanted))


async def _configs(
    asking: _ProxmoxReader, pve: ProxmoxClient, resources: Resources | None, wanted: ProxmoxQuery
) -> Mapping[Vmid, Fact[VmConfig] | Unknown]:
    guests = resources.guests if resources is not None else ()
    there = {one.vmid for one in guests}
    makes_some = wanted.every_guest or not wanted.vmids <= there
    asked = [one for one in guests if makes_some or one.vmid in wanted.vmids or TAG in one.tags]
    return await _read(asking, pve, asked, wanted)


async def _read(
    asking: _ProxmoxReader, pve: ProxmoxClient, asked: Sequence[GuestSummary], wanted: ProxmoxQuery
) -> Mapping[Vmid, Fact[VmConfig] | Unknown]:
    async def config(one: GuestSummary) -> Fact[VmConfig] | Unknown:
        at = GuestRef(host=one.host, vmid=one.vmid, kind=one.kind)
        runs = one.vmid in wanted.vmids and one.kind == "qemu" and one.status == _RUNS
        return await asking.fact(
            f"configuration of {one.vmid}",
            (lambda: _with_pending_keys(pve, at)) if runs else (lambda: pve.vm_config(at)),
        )

    found = await asyncio.gather(*(config(one) for one in asked))
    return {one.vmid: fact for one, fact in zip(asked, found, strict=True)}


async def _with_pending_keys(pve: ProxmoxClient, at: GuestRef) -> VmConfig:
    """The configuration as the next start reads it, with the keys that wait for that start."""
    keys = await pve.vm_pending(at)
    values = {
        one.key: value
        for one in keys
        if not one.is_deleted
        and (value := one.pending if one.pending is not None else one.value) is not None
    }
    return VmConfig(
        digest=values.pop("digest", ""),
        values=values,
        waiting={one.key: one.value for one in keys if one.is_deleted or one.pending is not None},
    )


async def _contents(
    asking: _ProxmoxReader,
    pve: ProxmoxClient,
    resources: Resources | None,
    wanted: tuple[str, frozenset[str]],
) -> Mapping[str, Fact[tuple[Volume, ...]] | Unknown]:
    """What storages hold of one kind of content; a shared one is asked once."""
    kind, storages = wanted
    places = [
        one
        for one in (resources.storages if resources is not None else ())
        if one.storage in storages and one.status == "available"
    ]
    shared: set[str] = set()
    asked: list[StorageSummary] = []
    for one in places:
        if one.storage not in shared:
            asked.append(one)
        if one.shared:
            shared.add(one.storage)

    async def content(one: StorageSummary) -> Fact[tuple[Volume, ...]] | Unknown:
        what = f"content {kind} of {one.storage} on {one.host}"
        return await asking.fact(what, lambda: pve.volumes(one.host, one.storage, content=kind))

    found = await asyncio.gather(*(content(one) for one in asked))
    return {f"{one.host}/{one.storage}": fact for one, fact in zip(asked, found, strict=True)}


async def _clones(
    asking: _ProxmoxReader,
    pve: ProxmoxClient,
    resources: Resources | None,
    configs: Mapping[Vmid, Fact[VmConfig] | Unknown],
) -> Mapping[Vmid, Fact[tuple[str, ...]] | Unknown]:
    """Disks that depend on templates of stockman; every storage is asked once."""
    guests = {one.vmid: one for one in (resources.guests if resources is not None else ())}
    shared = {one.storage for one in (resources.storages if resources else ()) if one.shared}
    places: dict[Vmid, list[tuple[str, Datastore]]] = {}
    asked: dict[tuple[str, Datastore], HostName] = {}
    for vmid, fact in configs.items():
        guest = guests[vmid]
        if TEMPLATE_TAG not in guest.tags or not isinstance(fact, Fact):
            continue
        for storage in disk_storages(fact.value):
            place = ("" if storage in shared else str(guest.host), storage)
            places.setdefault(vmid, []).append(place)
            asked.setdefault(place, guest.host)

    async def disks(storage: Datastore, host: HostName) -> Fact[tuple[Volume, ...]] | Unknown:
        what = f"disks in {storage} on {host}"
        return await asking.fact(what, lambda: pve.volumes(host, storage, content="images"))

    answers = await asyncio.gather(*(disks(place[1], host) for place, host in asked.items()))
    found = dict(zip(asked, answers, strict=True))
    return {vmid: _dependent(vmid, [found[one] for one in at]) for vmid, at in places.items()}


def _dependent(
    template: Vmid, answers: list[Fact[tuple[Volume, ...]] | Unknown]
) -> Fact[tuple[str, ...]] | Unknown:
    clones: list[str] = []
    for one in answers:
        if isinstance(one, Unknown):
            return one
        clones += linked_clones(one.value, template)
    last = answers[-1]
    return Fact(value=tuple(clones), seen=last.seen, source=last.source)


async def _ha(asking: _ProxmoxReader, pve: ProxmoxClient) -> Fact[ObservedHa] | Unknown:
    async def all_of_it() -> ObservedHa:
        resources, groups, rules = await asyncio.gather(
            asking.turn(pve.ha_resources),
            asking.turn(lambda: _groups(pve)),
            asking.turn(lambda: _rules(pve)),
        )
        return ObservedHa(resources=resources, groups=groups, rules=rules)

    return await asking.together("high availability", all_of_it)


async def _groups(pve: ProxmoxClient) -> tuple[HaGroup, ...]:
    try:
        return await pve.ha_groups()
    except Rejected:
        # They became rules.
        return ()


async def _rules(pve: ProxmoxClient) -> tuple[HaRule, ...]:
    try:
        return await pve.ha_rules()
    except Rejected:
        # Proxmox VE 8 has none.
        return ()


async def _rights(
    asking: _ProxmoxReader,
    pve: ProxmoxClient,
    administrator: ProxmoxClient | None,
    wanted: ProxmoxQuery,
) -> Fact[Mapping[str, frozenset[str]]] | Unknown | None:
    if administrator is not None:
        return None

    async def all_of_them() -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}

        async def ask(path: str) -> None:
            found[path] = (await asking.turn(lambda: pve.permissions(path))).get(path, frozenset())

        needs = wanted.needs
        await asyncio.gather(*(ask(path) for path in dict.fromkeys(one.path for one in needs)))
        lacking = (one for one in needs if not one.privileges <= found[one.path])
        others = dict.fromkeys(path for one in lacking for path in one.alternatives)
        await asyncio.gather(*(ask(path) for path in others if path not in found))
        return found

    return await asking.together("permissions", all_of_them)


async def _login_failure(
    asking: _ProxmoxReader, token: ProxmoxClient, administrator: ProxmoxClient | None
) -> Unknown | None:
    """Whether somebody who is to do the rest is let in at all."""
    if administrator is None:
        return None
    found = await asking.fact("its token", token.version)
    is_so = isinstance(found, Unknown) and found.problem.code == _AUTH_ERRORS
    return found if isinstance(found, Unknown) and is_so else None


async def _access(
    asking: _ProxmoxReader, administrator: ProxmoxClient | None, wanted: ProxmoxQuery
) -> Fact[ObservedAccess] | Unknown | None:
    if administrator is None:
        return None

    async def all_of_it() -> ObservedAccess:
        roles, users, rules = await asyncio.gather(
            asking.turn(administrator.roles),
            asking.turn(administrator.users),
            asking.turn(administrator.access_rules),
        )
        ours = {one.id for one in users if one.comment.endswith(TOKEN_COMMENT)}
        there = sorted({one.id for one in users} & wanted.users | ours)
        tokens = await asyncio.gather(
            *(asking.turn(partial(administrator.tokens, user)) for user in there)
        )
        return ObservedAccess(
            roles=roles, users=users, tokens=dict(zip(there, tokens, strict=True)), rules=rules
        )

    return await asking.together("access", all_of_it)
