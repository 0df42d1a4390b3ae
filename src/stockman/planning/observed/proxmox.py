"""What planning has to be told about a Proxmox cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from stockman.model.names import Vmid
from stockman.model.record import record
from stockman.planning.fact import Fact, Unknown
from stockman.proxmox.access import AccessRole, AccessRule, AccessToken, User
from stockman.proxmox.cluster import (
    ApiVersion,
    ClusterState,
    GuestSummary,
    Resources,
    StorageSummary,
)
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.proxmox.pools import DeviceMapping, Pool
from stockman.proxmox.privileges import RequiredPrivileges
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.identity import is_blank, is_unfinished


@record
class ProxmoxQuery:
    """What planning will ask about a cluster."""

    vmids: frozenset[Vmid] = frozenset()
    """Numbers that machines are to have."""
    image_storages: frozenset[str] = frozenset()
    system_storages: frozenset[str] = frozenset()
    """Storages that hold what containers are made from."""
    users: frozenset[str] = frozenset()
    """Users whose tokens matter."""
    needs: tuple[RequiredPrivileges, ...] = ()
    """Rights of stockman's token that matter."""
    every_guest: bool = False
    """Whether the configurations of all guests matter, and not of those alone that are named."""
    at_once: int = 16
    """Questions at the same time."""


@record
class ObservedAccess:
    """Who may do what; only an administrator sees all of it."""

    roles: tuple[AccessRole, ...] = ()
    users: tuple[User, ...] = ()
    tokens: Mapping[str, tuple[AccessToken, ...]] = field(default_factory=dict)
    """Of the users that stockman makes, by user."""
    rules: tuple[AccessRule, ...] = ()


@record
class ObservedHa:
    """Who is looked after, and where."""

    resources: tuple[HaResource, ...] = ()
    groups: tuple[HaGroup, ...] = ()
    """Of Proxmox VE 8."""
    rules: tuple[HaRule, ...] = ()
    """From Proxmox VE 9 on."""


@record
class ObservedGuests:
    """The guests of one cluster."""

    resources: Fact[Resources] | Unknown
    configs: Mapping[Vmid, Fact[VmConfig] | Unknown]
    """Of guests that are stockman's or have a number that it wants; of all guests where VMs are to
    be made, because two cards must not have one address."""

    def guest(self, vmid: Vmid) -> GuestSummary | None:
        """The guest of a number; None where there is none, or the list is not known."""
        return self._by_vmid.get(vmid)

    def guests(self) -> Iterator[GuestSummary]:
        if isinstance(self.resources, Fact):
            yield from self.resources.value.guests

    @cached_property
    def _by_vmid(self) -> Mapping[Vmid, GuestSummary]:
        return {one.vmid: one for one in self.guests()}

    def config(self, vmid: Vmid) -> VmConfig | None:
        """The configuration of a guest; None where it was not read."""
        seen = self.configs.get(vmid)
        return seen.value if isinstance(seen, Fact) else None

    def is_new(self, vmid: Vmid) -> bool:
        """Whether no guest has a number, or one that is being made and has no identity yet."""
        config = self.config(vmid)
        if self.guest(vmid) is None:
            return True
        return config is not None and (is_unfinished(config) or is_blank(config))


@record
class ObservedProxmox(ObservedGuests):
    """One cluster. Every part is a fact or unknown."""

    name: str
    """Its region."""
    version: Fact[ApiVersion] | Unknown
    state: Fact[ClusterState] | Unknown
    contents: Mapping[str, Fact[tuple[Volume, ...]] | Unknown]
    """Images in storages, by `host/storage`; a shared storage is asked on one host."""
    systems: Mapping[str, Fact[tuple[Volume, ...]] | Unknown]
    """What containers are made from, in the same way."""
    clones: Mapping[Vmid, Fact[tuple[str, ...]] | Unknown]
    """Disks that depend on templates of stockman, by template."""
    ha: Fact[ObservedHa] | Unknown
    pools: Fact[tuple[Pool, ...]] | Unknown
    pci: Fact[tuple[DeviceMapping, ...]] | Unknown
    usb: Fact[tuple[DeviceMapping, ...]] | Unknown
    rights: Fact[Mapping[str, frozenset[str]]] | Unknown | None = None
    """What the token of stockman may do, by path. None: an administrator looked, see `access`."""
    access: Fact[ObservedAccess] | Unknown | None = None
    """None: no administrator looked, see `rights`."""
    turned_away: Unknown | None = None
    """Why the token of stockman itself was not let in, tried while an administrator looked. None:
    it was, it has no secret yet, or nobody tried."""
    calls: int = 0
    """How many calls it took."""

    def storage(self, host: str, name: str) -> StorageSummary | None:
        """A storage on a host; None where the host does not have it."""
        return self._by_place.get((host, name))

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], StorageSummary]:
        storages = self.resources.value.storages if isinstance(self.resources, Fact) else ()
        return {(str(one.host), str(one.storage)): one for one in storages}

    def is_online(self, host: str) -> bool:
        """Whether the cluster sees a host now."""
        if not isinstance(self.state, Fact):
            return False
        return any(one.name == host and one.online for one in self.state.value.members)

    def has_host(self, host: str) -> bool:
        if not isinstance(self.state, Fact):
            return False
        return any(one.name == host for one in self.state.value.members)

    @property
    def major(self) -> int | None:
        """The major version. None: not known."""
        return self.version.value.major if isinstance(self.version, Fact) else None

    @property
    def shows_guests(self) -> bool:
        """Whether whoever looked may see guests; what one may not see is left out of lists."""
        return self._may("VM.Audit", "/vms")

    @property
    def shows_storages(self) -> bool:
        """The same for storages."""
        return self._may("Datastore.Audit", "/storage")

    def _may(self, privilege: str, top: str) -> bool:
        """Whether a privilege is held anywhere at or below a path; nobody asked: it is."""
        held = self.rights.value if isinstance(self.rights, Fact) else {}
        asked = [found for path, found in held.items() if path == top or path.startswith(f"{top}/")]
        return not asked or any(privilege in found for found in asked)

    def unknown_basics(self) -> Iterator[Unknown]:
        """What could not be found out, and nothing can be said without."""
        for one in (self.version, self.state, self.resources):
            if isinstance(one, Unknown):
                yield one

    def unknown_surroundings(self) -> Iterator[Unknown]:
        """What could not be found out about what guests are in: nobody may take it for nothing."""
        for one in (self.ha, self.pools):
            if isinstance(one, Unknown):
                yield one

    def unknown_details(self) -> Iterator[Unknown]:
        """What could not be found out about devices, and about what storages hold.

        A plan can be made all the same; it takes nothing for absent that nobody saw.
        """
        lists = (*self.contents.values(), *self.systems.values(), *self.clones.values())
        for one in (self.pci, self.usb, *lists):
            if isinstance(one, Unknown):
                yield one
