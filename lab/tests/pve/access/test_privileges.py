"""Privileges and built-in roles of both profiles."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.privileges import Profile, privileges

EIGHT = privileges(Profile.PVE_8_4)
NINE = privileges(Profile.PVE_9_1)


AUDIT = "Datastore.Audit Mapping.Audit Pool.Audit SDN.Audit Sys.Audit VM.Audit VM.GuestAgent.Audit"

AGENT = {
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
}


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
