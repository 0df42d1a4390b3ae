"""The observed state of a Proxmox cluster, and what planning needs of it."""

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
    TagRules,
)
from stockman.proxmox.ha import HaGroup, HaResource, HaRule
from stockman.proxmox.pools import DeviceMapping, Pool
from stockman.proxmox.privileges import RequiredPrivileges
from stockman.proxmox.storages import Volume
from stockman.proxmox.vms import VmConfig
from stockman.steps.vm.identity import is_blank, is_unfinished


@record
class ProxmoxQuery:
    """What planning needs to know about a cluster."""

    vmids: frozenset[Vmid] = frozenset()
    """VMIDs of the configured machines."""
    names: frozenset[str] = frozenset()
    """Names of the configured machines: another guest with such a name is asked for its power."""
    image_storages: frozenset[str] = frozenset()
    system_storages: frozenset[str] = frozenset()
    """Storages with the templates of containers."""
    users: frozenset[str] = frozenset()
    """Users whose tokens are read."""
    reads_seeds: bool = False
    """Whether ISO images are listed, to find those that interrupted runs left."""
    needs: tuple[RequiredPrivileges, ...] = ()
    """Privileges of stockman's token that are checked."""
    every_guest: bool = False
    """Whether the configurations of all guests are read, not only of the named ones."""
    at_once: int = 16
    """Maximum number of parallel requests."""


@record
class ObservedAccess:
    """Users, roles and tokens; only an administrator can read all of them."""

    roles: tuple[AccessRole, ...] = ()
    users: tuple[User, ...] = ()
    tokens: Mapping[str, tuple[AccessToken, ...]] = field(default_factory=dict)
    """Tokens of the users that stockman creates, by user."""
    rules: tuple[AccessRule, ...] = ()


@record
class ObservedHa:
    """Guests managed by HA, and where they may run."""

    resources: tuple[HaResource, ...] = ()
    groups: tuple[HaGroup, ...] = ()
    """Only in Proxmox VE 8."""
    rules: tuple[HaRule, ...] = ()
    """Only since Proxmox VE 9."""


@record
class ObservedGuests:
    """The guests of one cluster."""

    resources: Fact[Resources] | Unknown
    configs: Mapping[Vmid, Fact[VmConfig] | Unknown]
    """Configurations of guests of stockman and of guests with a configured VMID; of all guests if
    VMs are to be created, because MAC addresses must be unique."""

    def guest(self, vmid: Vmid) -> GuestSummary | None:
        """Return the guest with a VMID. None: there is none, or the list is unknown."""
        return self._by_vmid.get(vmid)

    def guests(self) -> Iterator[GuestSummary]:
        if isinstance(self.resources, Fact):
            yield from self.resources.value.guests

    @cached_property
    def _by_vmid(self) -> Mapping[Vmid, GuestSummary]:
        return {guest.vmid: guest for guest in self.guests()}

    def config(self, vmid: Vmid) -> VmConfig | None:
        """Return the configuration of a guest. None: it was not read."""
        fact = self.configs.get(vmid)
        return fact.value if isinstance(fact, Fact) else None

    def is_new(self, vmid: Vmid) -> bool:
        """Whether a VMID has no guest, or one that is being created and has no identity yet."""
        config = self.config(vmid)
        if self.guest(vmid) is None:
            return True
        return config is not None and (is_unfinished(config) or is_blank(config))


@record
class ObservedProxmox(ObservedGuests):
    """The state of one cluster. Every part is a fact or unknown."""

    name: str
    """Its region."""
    version: Fact[ApiVersion] | Unknown
    state: Fact[ClusterState] | Unknown
    contents: Mapping[str, Fact[tuple[Volume, ...]] | Unknown]
    """Images by `host/storage`; a shared storage is read on one host."""
    systems: Mapping[str, Fact[tuple[Volume, ...]] | Unknown]
    """Templates of containers, by `host/storage`."""
    clones: Mapping[Vmid, Fact[tuple[str, ...]] | Unknown]
    """Disks that depend on templates of stockman, by template."""
    ha: Fact[ObservedHa] | Unknown
    pools: Fact[tuple[Pool, ...]] | Unknown
    pci: Fact[tuple[DeviceMapping, ...]] | Unknown
    usb: Fact[tuple[DeviceMapping, ...]] | Unknown
    tags: Fact[TagRules] | Unknown | None = None
    """Which tags may be set. None: not read."""

    seeds: Mapping[str, Fact[tuple[Volume, ...]] | Unknown] = field(default_factory=dict)
    """ISO images by `host/storage`; a shared storage is read on one host."""
    rights: Fact[Mapping[str, frozenset[str]]] | Unknown | None = None
    """Privileges of stockman's token by path. None: an administrator was used, see `access`."""
    access: Fact[ObservedAccess] | Unknown | None = None
    """None: no administrator was used, see `rights`."""
    rejection: Unknown | None = None
    """Why stockman's own token was rejected, tested with an administrator. None: it was accepted,
    has no secret yet, or was not tested."""
    calls: int = 0
    """Number of API calls."""

    def storage(self, host: str, name: str) -> StorageSummary | None:
        """Return a storage on a host. None: the host does not have it."""
        return self._storage_by_host.get((host, name))

    @cached_property
    def _storage_by_host(self) -> Mapping[tuple[str, str], StorageSummary]:
        storages = self.resources.value.storages if isinstance(self.resources, Fact) else ()
        return {(str(storage.host), str(storage.storage)): storage for storage in storages}

    def is_online(self, host: str) -> bool:
        """Whether the cluster reports a host as online."""
        if not isinstance(self.state, Fact):
            return False
        return any(member.name == host and member.online for member in self.state.value.members)

    def has_host(self, host: str) -> bool:
        if not isinstance(self.state, Fact):
            return False
        return any(member.name == host for member in self.state.value.members)

    @property
    def major(self) -> int | None:
        """The major version. None: unknown."""
        return self.version.value.major if isinstance(self.version, Fact) else None

    @property
    def shows_guests(self) -> bool:
        """Whether guests are visible; without the privilege they are missing in lists."""
        return self._may("VM.Audit", "/vms")

    @property
    def shows_storages(self) -> bool:
        """Whether storages are visible."""
        return self._may("Datastore.Audit", "/storage")

    def _may(self, privilege: str, top: str) -> bool:
        """Whether a privilege is held at or below a path; without information it is assumed."""
        held = self.rights.value if isinstance(self.rights, Fact) else {}
        visible = [
            privileges
            for path, privileges in held.items()
            if path == top or path.startswith(f"{top}/")
        ]
        return not visible or any(privilege in privileges for privileges in visible)

    def unknown_basics(self) -> Iterator[Unknown]:
        """Return the unknown facts that every statement depends on."""
        for fact in (self.version, self.state, self.resources):
            if isinstance(fact, Unknown):
                yield fact

    def unknown_surroundings(self) -> Iterator[Unknown]:
        """Return the unknown facts about HA and pools, which must not be taken for empty."""
        for fact in (self.ha, self.pools):
            if isinstance(fact, Unknown):
                yield fact

    def unknown_details(self) -> Iterator[Unknown]:
        """Return the unknown facts about devices and about the contents of storages.

        A plan is still possible; it does not take unknown for absent.
        """
        lists = (self.contents, self.systems, self.seeds, self.clones)
        for fact in (self.pci, self.usb, *(fact for facts in lists for fact in facts.values())):
            if isinstance(fact, Unknown):
                yield fact
