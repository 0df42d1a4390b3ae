"""Privileges and built-in roles of both profiles."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.privileges import Profile, privileges

EIGHT = privileges(Profile.PVE_8_4)
NINE = privileges(Profile.PVE_9_1)

EVERY_PRIVILEGE = """
Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit
Group.Allocate
Mapping.Audit Mapping.Modify Mapping.Use
Permissions.Modify
Pool.Allocate Pool.Audit
Realm.Allocate Realm.AllocateUser
SDN.Allocate SDN.Audit SDN.Use
Sys.AccessNetwork Sys.Audit Sys.Console Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog
User.Modify
VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit
VM.Config.Disk VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console
VM.GuestAgent.Audit VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite
VM.GuestAgent.Unrestricted VM.Migrate VM.PowerMgmt VM.Replicate VM.Snapshot VM.Snapshot.Rollback
"""

AUDIT = "Datastore.Audit Mapping.Audit Pool.Audit SDN.Audit Sys.Audit VM.Audit VM.GuestAgent.Audit"

AGENT = {
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
}


def test_the_monitor_left_and_the_guest_agent_came_with_9() -> None:
    assert EIGHT.all - NINE.all == {"VM.Monitor"}
    assert NINE.all - EIGHT.all == AGENT | {"VM.Replicate"}


def test_every_privilege_of_9() -> None:
    assert sorted(NINE.all) == EVERY_PRIVILEGE.split()


def test_both_profiles_have_the_same_built_in_roles() -> None:
    assert list(EIGHT.roles) == list(NINE.roles)
    assert list(NINE.roles) == [
        "Administrator",
        "NoAccess",
        "PVEAdmin",
        "PVEAuditor",
        "PVEDatastoreAdmin",
        "PVEDatastoreUser",
        "PVEMappingAdmin",
        "PVEMappingUser",
        "PVEPoolAdmin",
        "PVEPoolUser",
        "PVESDNAdmin",
        "PVESDNUser",
        "PVESysAdmin",
        "PVETemplateUser",
        "PVEUserAdmin",
        "PVEVMAdmin",
        "PVEVMUser",
    ]


def test_an_administrator_holds_everything_and_no_access_nothing() -> None:
    assert NINE.roles["Administrator"] == NINE.all
    assert NINE.roles["NoAccess"] == frozenset()


def test_what_the_admin_role_lacks() -> None:
    assert NINE.all - NINE.roles["PVEAdmin"] == {
        "Mapping.Modify",
        "Permissions.Modify",
        "Realm.Allocate",
        "Sys.AccessNetwork",
        "Sys.Incoming",
        "Sys.Modify",
        "Sys.PowerMgmt",
    }


@pytest.mark.parametrize(
    ("role", "held"),
    [
        (
            "PVEAuditor",
            AUDIT,
        ),
        ("PVEDatastoreUser", "Datastore.AllocateSpace Datastore.Audit"),
        ("PVEMappingAdmin", "Mapping.Audit Mapping.Modify Mapping.Use"),
        ("PVEPoolUser", "Pool.Audit"),
        ("PVESDNUser", "SDN.Audit SDN.Use"),
        ("PVESysAdmin", "Sys.Audit Sys.Console Sys.Syslog"),
        ("PVETemplateUser", "VM.Audit VM.Clone"),
        ("PVEUserAdmin", "Group.Allocate Realm.AllocateUser User.Modify"),
    ],
)
def test_what_a_built_in_role_holds(role: str, held: str) -> None:
    assert sorted(NINE.roles[role]) == held.split()


def test_only_the_admin_of_guests_has_the_whole_agent() -> None:
    assert NINE.roles["PVEVMAdmin"] >= AGENT
    assert "VM.GuestAgent.Unrestricted" not in NINE.roles["PVEVMUser"]
    assert "VM.Monitor" in EIGHT.roles["PVEVMAdmin"]
