"""Survey a Proxmox cluster before there are files for it, without changing anything."""

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
from stockman.proxmox.free_space import with_free_space
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
    """Return everything that the first files depend on. Raises `Denied` or `Refused` if too little
    is visible."""
    version = await pve.version()
    state = await pve.cluster_state()
    resources = await with_free_space(pve, await pve.resources())
    survey = _Survey(pve, state, resources)
    up = [result for result in resources.hosts if result.status == "online"]
    if not up:
        raise Refused(
            problems.no_host(
                (str(result.host), _unreachable_host(result)) for result in resources.hosts
            )
        )
    results = await asyncio.gather(*(survey.host(result) for result in up))
    hosts = [result for result in results if isinstance(result, StarterHost)]
    await _check_any_visible(pve, hosts)
    mappings = await asyncio.gather(survey.mappings("pci"), survey.mappings("usb"))
    return StarterCluster(
        version=_parse_version(version.version),
        cluster=state.name,
        hosts=tuple(sorted(hosts, key=lambda result: result.name)),
        away=(
            *(
                (str(result.host), _unreachable_host(result))
                for result in resources.hosts
                if result.status != "online"
            ),
            *(result for result in results if not isinstance(result, StarterHost)),
        ),
        guests=frozenset(int(result.vmid) for result in resources.guests),
        addresses=await survey.addresses(),
        tags=frozenset(tag for result in resources.guests for tag in result.tags),
        mappings=tuple(row for rows in mappings for row in rows),
        unseen=tuple(dict.fromkeys(survey.unseen)),
    )


async def free_vmids(pve: ProxmoxClient, observed: StarterCluster, count: int) -> int:
    """Return the first of several consecutive free VMIDs, counting guests the token cannot see."""
    lowest = int(await pve.next_vmid())
    tried = 0
    taken = set(observed.guests)
    while tried < _TRIES:
        at = free_vmid_blocks(frozenset(taken), lowest, count)[0]
        tried += 1
        free = await asyncio.gather(
            *(pve.is_vmid_free(Vmid(number)) for number in range(at, at + count))
        )
        if all(free):
            return at
        taken |= {at + offset for offset, is_free in enumerate(free) if not is_free}
    raise Refused(problems.no_free_vmids(tried, count))


class _Survey:
    """One survey, with what the token cannot see."""

    def __init__(self, pve: ProxmoxClient, state: ClusterState, resources: Resources) -> None:
        self._pve = pve
        self._members = {member.name: member for member in state.members}
        self._resources = resources
        self._room = asyncio.Semaphore(_AT_ONCE)
        self.unseen: list[str] = []

    async def host(self, host_summary: HostSummary) -> StarterHost | tuple[str, str]:
        """Return what one host has, or its name and why it is left out."""
        name = host_summary.host
        if host_summary.memory is None or host_summary.cores is None:
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
            cores=host_summary.cores,
            memory=host_summary.memory // MIB,
            promised=self._promised_memory(name),
            storages=tuple(_storage(storage) for storage in self._storages(name)),
            bridges=_bridges(network.interfaces),
            pci=pci,
            usb=usb,
        )

    async def mappings(self, kind: MappingKind) -> list[str]:
        """Return resource mappings, each with its hosts."""
        request = self._pve.mappings(kind)
        mappings = await self._or_none(request, f"mappings of {kind.upper()} devices", ())
        return [f"{kind} {mapping.name}: {'; '.join(mapping.entries)}" for mapping in mappings]

    async def addresses(self) -> frozenset[IPv4Address]:
        """Return addresses in the configurations of guests."""
        address_lists = await asyncio.gather(
            *(self._addresses(address) for address in self._resources.guests)
        )
        return frozenset(address for some in address_lists for address in some)

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
        addresses = [match["address"] for row in rows for match in _ADDRESS.finditer(row)]
        return [address for text in addresses if (address := _address(text)) is not None]

    async def _or_none(self, request: Awaitable[T], subject: str, none: D) -> T | D:
        """Return the answer; remember what the token may not see."""
        try:
            return await request
        except Denied as error:
            if error.problem.code != "proxmox.denied":
                raise
            self.unseen.append(f"{subject}: {error.problem.what}")
            return none

    def _promised_memory(self, host: HostName) -> int:
        guests = (guest for guest in self._resources.guests if guest.host == host)
        return sum((guest.memory or 0) // MIB for guest in guests if not guest.is_template)

    def _storages(self, host: HostName) -> list[StorageSummary]:
        rows = (row for row in self._resources.storages if row.host == host)
        return sorted(rows, key=lambda row: row.storage)


async def _check_any_visible(pve: ProxmoxClient, hosts: Iterable[StarterHost]) -> None:
    """If nothing is visible, raise which privilege is missing."""
    visible = list(hosts)
    if visible and not any(host.storages for host in visible):
        await _check_privilege(
            pve, "/storage", ("Datastore.Audit", "Datastore.AllocateSpace"), "storages"
        )
    if visible and not any(host.bridges for host in visible):
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


def _storage(storage_summary: StorageSummary) -> StarterStorage:
    return StarterStorage(
        name=str(storage_summary.storage),
        kind=storage_summary.kind or "unknown kind",
        content=storage_summary.content,
        shared=storage_summary.shared,
        available=storage_summary.status == "available",
        free=storage_summary.room,
    )


def _bridges(interfaces: Iterable[HostInterface]) -> tuple[StarterBridge, ...]:
    """Return bridges, and VLANs on them in which the host has an interface, by name."""
    rows = sorted(interfaces, key=lambda interface: interface.name)
    bridges = {interface.name: _bridge(interface) for interface in rows if interface.is_bridge}
    tagged = [
        bridge for interface in rows if (bridge := _vlan_bridge(interface, bridges)) is not None
    ]
    return (*bridges.values(), *tagged)


def _bridge(host_interface: HostInterface) -> StarterBridge:
    return StarterBridge(
        name=host_interface.name,
        active=host_interface.active,
        vlan_aware=host_interface.vlan_aware or host_interface.kind == "OVSBridge",
        address=_interface(host_interface.cidr),
        gateway=_address(host_interface.gateway),
    )


def _vlan_bridge(
    host_interface: HostInterface, bridges: Mapping[str, StarterBridge]
) -> StarterBridge | None:
    """Return a VLAN on a bridge, such as `vmbr0.10`. None: it is something else, or unusable for
    guests."""
    name, _, number = host_interface.name.rpartition(".")
    below = bridges.get(name)
    if (
        host_interface.kind != "vlan"
        or below is None
        or not below.vlan_aware
        or not number.isdecimal()
    ):
        return None
    return StarterBridge(
        name=name,
        active=host_interface.active and below.active,
        vlan_aware=True,
        address=_interface(host_interface.cidr),
        gateway=_address(host_interface.gateway),
        vlan=int(number),
    )


def _interface(text: str) -> IPv4Interface | None:
    try:
        parsed = IPv4Interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
    return parsed if parsed.network.num_addresses > 1 else None


def _address(text: str) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except AddressValueError:
        return None
