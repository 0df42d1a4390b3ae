"""A look at a Proxmox cluster for which there are no files yet; nothing is changed there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Iterable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv4Interface, NetmaskValueError
from typing import TypeVar

from stockman.model.errors import Denied, NotFound, Refused, Unreachable
from stockman.model.names import HostName, Vmid
from stockman.model.version import Version
from stockman.planning.starter import problems
from stockman.planning.starter.draft import free_vmid_blocks
from stockman.planning.starter.observed import (
    MIB,
    StarterBridge,
    StarterCluster,
    StarterHost,
    StarterStorage,
)
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.cluster import (
    ClusterState,
    GuestSummary,
    HostSummary,
    Resources,
    StorageSummary,
)
from stockman.proxmox.hosts import HostInterface
from stockman.proxmox.pools import MappingKind
from stockman.proxmox.privileges import ZONE
from stockman.proxmox.vms import GuestRef

T = TypeVar("T")
D = TypeVar("D")
_ADDRESS = re.compile(r"(?:^|,)ip=(?P<address>[0-9.]+)")
_AT_ONCE = 8
_TRIES = 50


async def survey_cluster(pve: ProxmoxClient) -> StarterCluster:
    """Everything that first files depend on. `Denied` or `Refused` where too little is shown."""
    version = await pve.version()
    state = await pve.cluster_state()
    resources = await pve.resources()
    survey = _Survey(pve, state, resources)
    up = [one for one in resources.hosts if one.status == "online"]
    if not up:
        raise Refused(
            problems.no_host((str(one.host), _unreachable_host(one)) for one in resources.hosts)
        )
    looked = await asyncio.gather(*(survey.host(one) for one in up))
    hosts = [one for one in looked if isinstance(one, StarterHost)]
    await _check_any_visible(pve, hosts)
    mappings = await asyncio.gather(survey.mappings("pci"), survey.mappings("usb"))
    return StarterCluster(
        version=_parse_version(version.version),
        cluster=state.name,
        hosts=tuple(sorted(hosts, key=lambda one: one.name)),
        away=(
            *(
                (str(one.host), _unreachable_host(one))
                for one in resources.hosts
                if one.status != "online"
            ),
            *(one for one in looked if not isinstance(one, StarterHost)),
        ),
        guests=frozenset(int(one.vmid) for one in resources.guests),
        addresses=await survey.addresses(),
        tags=frozenset(tag for one in resources.guests for tag in one.tags),
        mappings=tuple(row for rows in mappings for row in rows),
        unseen=tuple(dict.fromkeys(survey.unseen)),
    )


async def free_vmids(pve: ProxmoxClient, found: StarterCluster, count: int) -> int:
    """The first of so many free numbers in a row; guests that the token may not see count too."""
    lowest = int(await pve.next_vmid())
    tried = 0
    taken = set(found.guests)
    while tried < _TRIES:
        at = free_vmid_blocks(frozenset(taken), lowest, count)[0]
        tried += 1
        free = await asyncio.gather(
            *(pve.is_vmid_free(Vmid(number)) for number in range(at, at + count))
        )
        if all(free):
            return at
        taken |= {at + place for place, is_free in enumerate(free) if not is_free}
    raise Refused(problems.no_free_vmids(tried, count))


class _Survey:
    """One look, with what could not be seen on the way."""

    def __init__(self, pve: ProxmoxClient, state: ClusterState, resources: Resources) -> None:
        self._pve = pve
        self._members = {one.name: one for one in state.members}
        self._resources = resources
        self._room = asyncio.Semaphore(_AT_ONCE)
        self.unseen: list[str] = []

    async def host(self, seen: HostSummary) -> StarterHost | tuple[str, str]:
        """What one host has; or its name and why it is left out, where it gives no answer."""
        name = seen.host
        if seen.memory is None or seen.cores is None:
            raise Denied(
                problems.missing_resources(
                    "Sys.Audit", f"/nodes/{name}", "memory and CPUs of hosts"
                )
            )
        try:
            async with self._room:
                network = await self._pve.host_network(name)
                pci = await self._or_none(self._pve.pci_devices(name), f"PCI devices of {name}", ())
                usb = await self._or_none(self._pve.usb_devices(name), f"USB devices of {name}", ())
        except Unreachable as error:
            return str(name), error.problem.why
        member = self._members.get(name)
        return StarterHost(
            name=name,
            address=member.address if member is not None else "",
            is_local=member is not None and member.is_local,
            cores=seen.cores,
            memory=seen.memory // MIB,
            promised=self._promised(name),
            storages=tuple(_storage(one) for one in self._storages(name)),
            bridges=_bridges(network.interfaces),
            pci=pci,
            usb=usb,
        )

    async def mappings(self, kind: MappingKind) -> list[str]:
        """Mappings of devices, each with its hosts."""
        asked = self._pve.mappings(kind)
        found = await self._or_none(asked, f"mappings of {kind.upper()} devices", ())
        return [f"{kind} {one.name}: {'; '.join(one.entries)}" for one in found]

    async def addresses(self) -> frozenset[IPv4Address]:
        """Addresses that the configurations of guests give them."""
        found = await asyncio.gather(*(self._addresses(one) for one in self._resources.guests))
        return frozenset(one for some in found for one in some)

    async def _addresses(self, guest: GuestSummary) -> list[IPv4Address]:
        at = GuestRef(host=guest.host, vmid=guest.vmid, kind=guest.kind)
        try:
            async with self._room:
                config = await self._or_none(self._pve.vm_config(at), "addresses of guests", None)
        except (NotFound, Unreachable):
            return []
        if config is None:
            return []
        rows = [text for key, text in config.values.items() if key.startswith(("ipconfig", "net"))]
        told = [match["address"] for row in rows for match in _ADDRESS.finditer(row)]
        return [address for text in told if (address := _address(text)) is not None]

    async def _or_none(self, asked: Awaitable[T], what: str, none: D) -> T | D:
        """What was asked; where it may not be seen, that is remembered."""
        try:
            return await asked
        except Denied as error:
            if error.problem.code != "proxmox.denied":
                raise
            self.unseen.append(f"{what}: {error.problem.what}")
            return none

    def _promised(self, host: HostName) -> int:
        guests = (one for one in self._resources.guests if one.host == host)
        return sum((one.memory or 0) // MIB for one in guests if not one.is_template)

    def _storages(self, host: HostName) -> list[StorageSummary]:
        found = (one for one in self._resources.storages if one.host == host)
        return sorted(found, key=lambda one: one.storage)


async def _check_any_visible(pve: ProxmoxClient, hosts: Iterable[StarterHost]) -> None:
    """Where nothing at all is shown, say which privilege shows it."""
    found = list(hosts)
    if found and not any(one.storages for one in found):
        await _check_privilege(
            pve, "/storage", ("Datastore.Audit", "Datastore.AllocateSpace"), "storages"
        )
    if found and not any(one.bridges for one in found):
        await _check_privilege(pve, ZONE, ("SDN.Audit", "SDN.Use"), "bridges")


async def _check_privilege(
    pve: ProxmoxClient, path: str, either: tuple[str, ...], unseen: str
) -> None:
    held = (await pve.permissions(path)).get(path, frozenset())
    if not held & set(either):
        raise Denied(problems.missing_resources(" or ".join(either), path, unseen))


def _unreachable_host(host: HostSummary) -> str:
    return f"it is {host.status}"


def _parse_version(version: str) -> Version:
    try:
        return Version.parse(version)
    except ValueError:
        why = "its version cannot be read"
        raise Refused(problems.version_too_old(version, why)) from None


def _storage(seen: StorageSummary) -> StarterStorage:
    free = None if seen.size is None or seen.used is None else max(seen.size - seen.used, 0)
    return StarterStorage(
        name=str(seen.storage),
        kind=seen.kind or "unknown kind",
        content=seen.content,
        shared=seen.shared,
        available=seen.status == "available",
        free=free,
    )


def _bridges(interfaces: Iterable[HostInterface]) -> tuple[StarterBridge, ...]:
    """Bridges, and VLANs on them that the host has an interface in, by name."""
    rows = sorted(interfaces, key=lambda one: one.name)
    bridges = {one.name: _bridge(one) for one in rows if one.is_bridge}
    tagged = [found for one in rows if (found := _tagged_bridge(one, bridges)) is not None]
    return (*bridges.values(), *tagged)


def _bridge(one: HostInterface) -> StarterBridge:
    return StarterBridge(
        name=one.name,
        active=one.active,
        vlan_aware=one.vlan_aware or one.kind == "OVSBridge",
        address=_interface(one.cidr),
        gateway=_address(one.gateway),
    )


def _tagged_bridge(
    one: HostInterface, bridges: Mapping[str, StarterBridge]
) -> StarterBridge | None:
    """A VLAN on a bridge, `vmbr0.10`. None: it is something else, or cannot be given to guests."""
    name, _, number = one.name.rpartition(".")
    below = bridges.get(name)
    if one.kind != "vlan" or below is None or not below.vlan_aware or not number.isdecimal():
        return None
    return StarterBridge(
        name=name,
        active=one.active and below.active,
        vlan_aware=True,
        address=_interface(one.cidr),
        gateway=_address(one.gateway),
        vlan=int(number),
    )


def _interface(text: str) -> IPv4Interface | None:
    try:
        found = IPv4Interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
    return found if found.network.num_addresses > 1 else None


def _address(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except AddressValueError:
        return None
