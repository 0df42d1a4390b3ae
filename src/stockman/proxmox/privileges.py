"""Privileges that a token needs, by path and by version of Proxmox VE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
"""Which privileges mean something below a path."""
ZONE = "/sdn/zones/localnetwork"
"""Where plain bridges of hosts are, for access rights."""


@record
class RequiredPrivileges:
    """Privileges that are needed on a path, or else on all of some below it."""

    path: str
    privileges: frozenset[str]
    instead: tuple[str, ...] = ()
    """Enough where the path itself is not given. Empty: nothing is."""


@record
class VmRequirements:
    """What machines are to be made of, as far as rights depend on it."""

    vmids: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    storages: tuple[str, ...] = ()
    bridges: tuple[str, ...] = ()
    pools: bool = False
    pci: bool = False
    usb: bool = False
    high_availability: bool = False
    start_order: bool = False


def agent_privilege(major: int) -> str:
    """The privilege to ask the agent inside of a VM."""
    return "VM.GuestAgent.Audit" if major >= 9 else "VM.Monitor"  # a version


def provisioning_privileges(major: int, wish: VmRequirements) -> tuple[RequiredPrivileges, ...]:
    """What the token of stockman needs to make these machines."""
    return tuple(_provisioning_privileges(major, wish))


def _provisioning_privileges(major: int, wish: VmRequirements) -> Iterator[RequiredPrivileges]:
    guests = _GUESTS | {agent_privilege(major)}
    yield RequiredPrivileges(
        path="/vms", privileges=guests, instead=_child_paths("/vms", map(str, wish.vmids))
    )
    yield RequiredPrivileges(
        path="/storage", privileges=_STORAGES, instead=_child_paths("/storage", wish.storages)
    )
    yield RequiredPrivileges(
        path=ZONE, privileges=frozenset({"SDN.Use"}), instead=_child_paths(ZONE, wish.bridges)
    )
    hosts = frozenset({"Sys.Audit", "Sys.AccessNetwork"})
    yield RequiredPrivileges(
        path="/nodes", privileges=hosts, instead=_child_paths("/nodes", wish.hosts)
    )
    root = {"Sys.Audit"}
    root |= {"Sys.Console"} if wish.high_availability else set()
    root |= {"Sys.Modify"} if wish.start_order else set()
    yield RequiredPrivileges(path="/", privileges=frozenset(root))
    if wish.pools:
        yield RequiredPrivileges(
            path="/pool", privileges=frozenset({"Pool.Allocate", "Pool.Audit"})
        )
    for used, kind in ((wish.pci, "pci"), (wish.usb, "usb")):
        if used:
            yield RequiredPrivileges(path=f"/mapping/{kind}", privileges=frozenset({"Mapping.Use"}))


def role_privileges(
    paths: Iterable[str], privileges: Iterable[str]
) -> tuple[RequiredPrivileges, ...]:
    """What a role amounts to that is given on some paths: below each only its own family counts."""
    held = frozenset(privileges)
    needs = ((path, _effective_privileges(path, held)) for path in paths)
    return tuple(RequiredPrivileges(path=path, privileges=found) for path, found in needs if found)


def _effective_privileges(path: str, privileges: frozenset[str]) -> frozenset[str]:
    family = _FAMILIES.get(path)
    return frozenset(one for one in privileges if family is None or one.startswith(family))


def _child_paths(path: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{path}/{name}" for name in dict.fromkeys(names))
