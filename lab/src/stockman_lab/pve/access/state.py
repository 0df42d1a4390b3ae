"""The state of access control: everything that `user.cfg` and its neighbours hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from stockman_lab.core.state import state

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


ROOT = "root@pam"

RandomBytes = Callable[[int], bytes]
"""So many bytes from the dice of the world."""


@state
class Token:
    """An API token of one user. Its secret is kept in plain text, as the real one keeps it."""

    secret: str
    privsep: bool = True
    expire: int = 0
    """Seconds since the epoch; 0: never."""
    comment: str = ""


@state
class User:
    """An account. An empty text means that the field is not set."""

    enabled: bool = True
    expire: int = 0
    """Seconds since the epoch; 0: never."""
    firstname: str = ""
    lastname: str = ""
    email: str = ""
    comment: str = ""
    keys: str = ""
    password: str | None = None
    """Scrambled; None: no password, or one of the operating system."""
    tokens: dict[str, Token] = field(default_factory=dict)


@state
class Group:
    """Users that share entries of the access control list."""

    comment: str = ""
    members: set[str] = field(default_factory=set)


@state
class AclNode:
    """The entries of one path: holder to role to whether it reaches the paths below."""

    users: dict[str, dict[str, bool]] = field(default_factory=dict)
    groups: dict[str, dict[str, bool]] = field(default_factory=dict)
    tokens: dict[str, dict[str, bool]] = field(default_factory=dict)


@state
class Realm:
    """A place that knows passwords."""

    kind: str
    comment: str
    default: bool = False


def _built_in_realms() -> dict[str, Realm]:
    return {
        "pam": Realm(kind="pam", comment="Linux PAM standard authentication"),
        "pve": Realm(kind="pve", comment="Proxmox VE authentication server"),
    }


@state
class AccessState:
    """Users, groups, roles, tokens, entries and keys of one cluster.

    Whoever changes it calls `changed`, or permissions already looked up stay as they were.
    """

    profile: Profile
    ticket_key: bytes
    """Signs tickets and CSRF prevention tokens."""
    users: dict[str, User] = field(default_factory=lambda: {ROOT: User()})
    groups: dict[str, Group] = field(default_factory=dict)
    roles: dict[str, set[str]] = field(default_factory=dict)
    """Roles that were added to the built-in ones."""
    acl: dict[str, AclNode] = field(default_factory=dict)
    realms: dict[str, Realm] = field(default_factory=_built_in_realms)
    system_passwords: dict[str, str | None] = field(default_factory=lambda: {"root": None})
    """Scrambled passwords of the accounts of the operating system, for the realm `pam`."""
    version: int = 0

    def changed(self) -> None:
        """Makes permissions that were looked up before invalid."""
        self.version += 1

    def role(self, name: str) -> frozenset[str] | set[str] | None:
        """The privileges of a role; None: there is no such role."""
        return privileges(self.profile).roles.get(name, self.roles.get(name))

    def groups_of(self, userid: str) -> list[str]:
        """The groups that a user belongs to, by name."""
        return sorted(name for name, group in self.groups.items() if userid in group.members)


def fresh_access(profile: Profile, random_bytes: RandomBytes) -> AccessState:
    """The access control of a cluster that was just installed: root and nobody else."""
    return AccessState(profile=profile, ticket_key=random_bytes(32))
