"""Formats of users, groups, roles, pools and privileges."""

from __future__ import annotations

import re

from stockman_lab.pve.schema.named.checker import Checker, like

REALM = r"[A-Za-z][A-Za-z0-9\.\-_]+"
USER = r"[^\s:/]+"
_USERID = re.compile(rf"{USER}@{REALM}$")
_POOL = re.compile(r"[A-Za-z0-9\.\-_]+(?:/[A-Za-z0-9\.\-_]+){0,2}$")

_PRIVILEGES_NAMES = """
Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit
Group.Allocate Mapping.Audit Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate
Pool.Audit Realm.Allocate Realm.AllocateUser SDN.Allocate SDN.Audit SDN.Use Sys.AccessNetwork
Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog User.Modify VM.Allocate
VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk
VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.Migrate
VM.PowerMgmt VM.Snapshot VM.Snapshot.Rollback
"""
_PRIVILEGES = frozenset(_PRIVILEGES_NAMES.split())
_PRIVILEGES_OF = {
    "8.4": _PRIVILEGES | {"VM.Monitor"},
    "9.1": _PRIVILEGES
    | {
        "VM.GuestAgent.Audit",
        "VM.GuestAgent.FileRead",
        "VM.GuestAgent.FileSystemMgmt",
        "VM.GuestAgent.FileWrite",
        "VM.GuestAgent.Unrestricted",
        "VM.Replicate",
    },
}


def user_id(text: str) -> str | None:
    """`name@realm`."""
    text = "" if text == "0" else text
    if len(text) < 3:
        return f"user name '{text}' is too short"
    if len(text) > 64:
        return f"user name '{text}' is too long ({len(text)} > 64)"
    if _USERID.match(text):
        return None
    return f"value '{text}' does not look like a valid user name"


def pool_id(text: str) -> str | None:
    """Up to three levels: `a/b/c`."""
    if len(text.rstrip("/").split("/")) > 3:
        return f"pool name '{text}' nested too deeply (max levels = 3)"
    return None if _POOL.match(text) else f"pool name '{text}' contains invalid characters"


def checkers(profile: str) -> dict[str, Checker]:
    """The checkers of access control, by format."""
    privileges = _PRIVILEGES_OF[profile]
    return {
        "pve-userid": user_id,
        "pve-tokenid": like(
            rf"{USER}@{REALM}!{REALM}$", "value '{}' does not look like a valid token ID"
        ),
        "pve-realm": like(f"{REALM}$", "value does not look like a valid realm"),
        "pve-groupid": like(r"[A-Za-z0-9\.\-_]+$", "group name '{}' contains invalid characters"),
        "pve-roleid": like(r"[A-Za-z0-9\.\-_]+$", "role name '{}' contains invalid characters"),
        "pve-poolid": pool_id,
        "pve-priv": lambda text: None if text in privileges else f"invalid privilege '{text}'",
    }
