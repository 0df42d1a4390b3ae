"""Roles: made, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.roles import (
    create_role,
    delete_role,
    role_info,
    role_rows,
    update_role,
)
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, authority, populated


def text(caught: pytest.ExceptionInfo[ApiError]) -> str:
    return f"{caught.value.status} {caught.value.message}"


def test_a_changed_role_changes_what_its_holders_may_do() -> None:
    found = authority("/vms ann@pve Look")
    before = found.allowed(ANN, "/vms/100", "VM.Clone")

    update_role(found.state, "Look", ["VM.Clone"])

    assert (before, found.allowed(ANN, "/vms/100", "VM.Clone")) == (False, True)


def test_a_deleted_role_takes_its_entries_along() -> None:
    found = authority("/vms ann@pve Look", "/vms @staff Start", "/nodes ann@pve!narrow Look")

    delete_role(found.state, "Look")
    create_role(found.state, "Look", ["VM.Audit"])

    assert list(found.state.acl) == ["/vms"]
    assert found.state.acl["/vms"].users == {}
    assert found.state.acl["/vms"].groups == {"staff": {"Start": True}}


@pytest.mark.parametrize("name", ["PVEMine", "pvemine", "PVEAdmin"])
def test_names_of_built_in_roles_are_reserved(name: str) -> None:
    with pytest.raises(ApiError) as caught:
        create_role(populated(), name)

    assert text(caught) == "400 Parameter verification failed."
    assert caught.value.errors == {
        "roleid": "cannot use role ID starting with the (case-insensitive) 'PVE' namespace"
    }


@pytest.mark.parametrize("name", ["Look", "Administrator", "NoAccess"])
def test_a_role_that_is_already_there(name: str) -> None:
    with pytest.raises(ApiError) as caught:
        create_role(populated(), name)

    assert text(caught) == f"500 create role failed: role '{name}' already exists"


@pytest.mark.parametrize("name", ["Administrator", "NoAccess", "PVEAuditor"])
def test_built_in_roles_cannot_be_changed(name: str) -> None:
    state = populated()

    with pytest.raises(ApiError) as updated:
        update_role(state, name, ["VM.Audit"])
    with pytest.raises(ApiError) as deleted:
        delete_role(state, name)

    assert text(updated) == f"500 auto-generated role '{name}' cannot be modified"
    assert text(deleted) == f"500 auto-generated role '{name}' cannot be deleted"


def test_a_role_that_is_not_there() -> None:
    state = populated()

    with pytest.raises(ApiError, match=r"^role 'Gone' does not exist$"):
        role_info(state, "Gone")
    with pytest.raises(ApiError, match=r"^update role failed: role 'Gone' does not exist$"):
        update_role(state, "Gone")
    with pytest.raises(ApiError, match=r"^delete role failed: role 'Gone' does not exist$"):
        delete_role(state, "Gone")


def test_all_roles_are_listed_and_built_in_ones_marked() -> None:
    rows = {row["roleid"]: row for row in role_rows(populated())}

    assert rows["Start"] == {"roleid": "Start", "privs": "VM.Audit,VM.PowerMgmt", "special": 0}
    assert rows["NoAccess"] == {"roleid": "NoAccess", "privs": "", "special": 1}
    assert rows["PVETemplateUser"]["privs"] == "VM.Audit,VM.Clone"
    assert len(rows) == 19
