"""Privileges that a token needs, by path and by version of Proxmox VE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from stockman.model.record import record

_GUESTS = frozenset(
    f"VM.{name}"
    for name in (
        *("Allocate", "Audit", "Clone", "Migrate", "PowerMgmt", "Snapshot"),
        *("Config.CDROM", "Config.CPU", "Config.Cloudinit", "Config.Disk", "Config.HWType"),
        *("Config.Memory", "Config.Network", "Config.Options"),
    )
)
_STORAGES = frozenset(
    f"Datastore.{name}" for name in ("Allocate", "AllocateSpace", "AllocateTemplate", "Audit")
)
_FAMILIES = {"/vms": "VM.", "/storage": "Datastore.", "/nodes": "Sys.", "/mapping": "Mapping."}
"""The prefix of the privileges that have an effect below a path."""
ZONES = "/sdn/zones"
ZONE = "/sdn/zones/localnetwork"
"""The path of plain bridges in access rules."""


@record
class RequiredPrivileges:
    """Privileges that are required on a path, or on all of the paths in `alternatives`."""

    path: str
    privileges: frozenset[str]
    alternatives: tuple[str, ...] = ()
    """Paths below that are sufficient together. Empty: none."""

    def lacking(self, held: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return the privileges that are missing; `held` has those that were read, by path."""
        lacked = self.privileges - held.get(self.path, frozenset())
        if lacked and self.alternatives and all(path in held for path in self.alternatives):
            below = (self.privileges - held[path] for path in self.alternatives)
            return frozenset[str]().union(*below)
        return lacked


@record
class VmRequirements:
    """The properties of desired VMs that determine the required privileges."""

    vmids: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    storages: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()
    pools: bool = False
    pci: bool = False
    usb: bool = False
    high_availability: bool = False
    start_order: bool = False
    privileged_containers: bool = False
    vnets: Mapping[str, str] = field(default_factory=dict)
    """SDN zones of the bridges that are VNets."""


def agent_privilege(major: int) -> str:
    """Return the privilege for calls to the guest agent of a VM."""
    return "VM.GuestAgent.Audit" if major >= 9 else "VM.Monitor"  # a version


def provisioning_privileges(
    major: int, requirements: VmRequirements
) -> tuple[RequiredPrivileges, ...]:
    """Return the privileges that the token of stockman needs to create VMs."""
    return tuple(_provisioning_privileges(major, requirements))


def _provisioning_privileges(
    major: int, requirements: VmRequirements
) -> Iterator[RequiredPrivileges]:
    guests = _GUESTS | {agent_privilege(major)}
    yield RequiredPrivileges(
        path="/vms",
        privileges=guests,
        alternatives=_child_paths("/vms", map(str, requirements.vmids)),
    )
    yield RequiredPrivileges(
        path="/storage",
        privileges=_STORAGES,
        alternatives=_child_paths("/storage", requirements.storages),
    )
    yield from _network_privileges(requirements)
    hosts = frozenset({"Sys.Audit", "Sys.AccessNetwork"})
    yield RequiredPrivileges(
        path="/nodes", privileges=hosts, alternatives=_child_paths("/nodes", requirements.hosts)
    )
    root = {"Sys.Audit"}
    root |= {"Sys.Console"} if requirements.high_availability else set()
    # Proxmox VE 9 also demands it for privileged containers.
    is_privileged = requirements.privileged_containers and major >= 9  # a version
    modifies = requirements.start_order or is_privileged
    root |= {"Sys.Modify"} if modifies else set()
    yield RequiredPrivileges(path="/", privileges=frozenset(root))
    if requirements.pools:
        yield RequiredPrivileges(
            path="/pool", privileges=frozenset({"Pool.Allocate", "Pool.Audit"})
        )
    for used, kind in ((requirements.pci, "pci"), (requirements.usb, "usb")):
        if used:
            yield RequiredPrivileges(path=f"/mapping/{kind}", privileges=frozenset({"Mapping.Use"}))


def _network_privileges(requirements: VmRequirements) -> Iterator[RequiredPrivileges]:
    """Yield the right to use bridges: in the zone of the hosts' own ones, and in those of VNets."""
    by_zone: dict[str, list[str]] = {ZONE: []}
    for bridge in requirements.bridges:
        zone = requirements.vnets.get(bridge)
        by_zone.setdefault(ZONE if zone is None else f"{ZONES}/{zone}", []).append(bridge)
    for path, bridges in by_zone.items():
        if bridges or len(by_zone) == 1:
            yield RequiredPrivileges(
                path=path,
                privileges=frozenset({"SDN.Use"}),
                alternatives=_child_paths(path, bridges),
            )


def role_privileges(
    paths: Iterable[str], privileges: Iterable[str]
) -> tuple[RequiredPrivileges, ...]:
    """Return the effective privileges of a role on some paths.

    Below each path only the privileges of its own family have an effect.
    """
    granted = frozenset(privileges)
    needs = ((path, _effective_privileges(path, granted)) for path in paths)
    return tuple(
        RequiredPrivileges(path=path, privileges=effective)
        for path, effective in needs
        if effective
    )


def _effective_privileges(path: str, privileges: frozenset[str]) -> frozenset[str]:
    family = _FAMILIES.get(path)
    return frozenset(
        privilege for privilege in privileges if family is None or privilege.startswith(family)
    )


def _child_paths(path: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{path}/{name}" for name in dict.fromkeys(names))
