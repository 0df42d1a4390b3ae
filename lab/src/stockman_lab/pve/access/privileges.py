"""Privileges and built-in roles, which differ between the profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

NO_ACCESS = "NoAccess"
ADMINISTRATOR = "Administrator"

_OUTSIDE_AREAS = "Permissions.Modify"
_NOT_FOR_ADMINS = "Mapping.Modify"
"""Only `Administrator` and `PVEMappingAdmin` hold it; `PVEAdmin` does not."""


class Profile(StrEnum):
    """A release line of Proxmox VE."""

    PVE_8_4 = "8.4"
    PVE_9_1 = "9.1"


class _Area(NamedTuple):
    """The privileges of one area, by who is meant to hold them."""

    root: str
    admin: str
    user: str
    audit: str


_VM_ADMIN = (
    "VM.Config.Disk VM.Config.CPU VM.Config.Memory VM.Config.Network VM.Config.HWType"
    " VM.Config.Options VM.Allocate VM.Clone VM.Migrate VM.Snapshot VM.Snapshot.Rollback"
)
_VM_USER = "VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.Backup VM.PowerMgmt"

_VM = {
    Profile.PVE_8_4: _Area("", f"{_VM_ADMIN} VM.Monitor", _VM_USER, "VM.Audit"),
    Profile.PVE_9_1: _Area(
        "",
        f"{_VM_ADMIN} VM.GuestAgent.Unrestricted VM.Replicate",
        f"{_VM_USER} VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite",
        "VM.Audit VM.GuestAgent.Audit",
    ),
}

_SHARED = {
    "Sys": _Area(
        "Sys.PowerMgmt Sys.Modify Sys.Incoming Sys.AccessNetwork",
        "Sys.Console Sys.Syslog",
        "",
        "Sys.Audit",
    ),
    "Datastore": _Area(
        "",
        "Datastore.Allocate Datastore.AllocateTemplate",
        "Datastore.AllocateSpace",
        "Datastore.Audit",
    ),
    "SDN": _Area("", "SDN.Allocate SDN.Audit", "SDN.Use", "SDN.Audit"),
    "User": _Area("Realm.Allocate", "User.Modify Group.Allocate Realm.AllocateUser", "", ""),
    "Pool": _Area("", "Pool.Allocate", "Pool.Audit", "Pool.Audit"),
    "Mapping": _Area("", "Mapping.Modify", "Mapping.Use", "Mapping.Audit"),
}


@dataclass(frozen=True, slots=True)
class Privileges:
    """What a profile knows: every privilege, and the roles that nobody can change."""

    all: frozenset[str]
    roles: Mapping[str, frozenset[str]]


@cache
def privileges(profile: Profile) -> Privileges:
    """The privileges and built-in roles of a profile."""
    known = {_OUTSIDE_AREAS}
    roles: dict[str, set[str]] = {"PVEAdmin": set(), "PVEAuditor": set()}
    for name, area in {"VM": _VM[profile], **_SHARED}.items():
        root, admin, user, audit = (set(names.split()) for names in area)
        known |= root | admin | user | audit
        roles[f"PVE{name}Admin"] = admin | user | audit
        roles["PVEAdmin"] |= admin | user | audit
        roles["PVEAuditor"] |= audit
        if user:
            roles[f"PVE{name}User"] = user | audit
    roles["PVEAdmin"].discard(_NOT_FOR_ADMINS)
    roles["PVETemplateUser"] = {"VM.Clone", "VM.Audit"}
    roles[NO_ACCESS] = set()
    roles[ADMINISTRATOR] = known
    return Privileges(
        all=frozenset(known),
        roles={name: frozenset(held) for name, held in sorted(roles.items())},
    )
