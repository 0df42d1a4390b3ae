"""Groups: made, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.groups import (
    create_group,
    delete_group,
    group_info,
    group_rows,
    update_group,
)
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, BOB, ROOT, authority, populated


def test_members_are_listed_by_name() -> None:
    assert group_info(populated(), "staff")["members"] == ["ann@pve", "bob@pve"]


def test_a_deleted_group_takes_its_entries_along_and_not_its_members() -> None:
    found = authority("/vms @staff Look", "/vms @night Look")

    delete_group(found.state, "staff")

    assert found.state.acl["/vms"].groups == {"night": {"Look": True}}
    assert "ann@pve" in found.state.users
    assert found.permissions(ANN, "/vms") == {}


def test_groups_that_are_there_or_not_there() -> None:
    state = populated()

    with pytest.raises(ApiError, match=r"^create group failed: group 'staff' already exists$"):
        create_group(state, "staff")
    with pytest.raises(ApiError, match=r"^update group failed: group 'moon' does not exist$"):
        update_group(state, "moon", "x")
    with pytest.raises(ApiError, match=r"^delete group failed: group 'moon' does not exist$"):
        delete_group(state, "moon")
    with pytest.raises(ApiError, match=r"^group 'moon' does not exist$"):
        group_info(state, "moon")


def test_one_sees_the_groups_in_ones_care() -> None:
    found = authority("/access/groups/staff bob@pve PVEUserAdmin")
    update_group(found.state, "night", "owls")

    assert group_rows(found, ANN) == []
    assert group_rows(found, BOB) == [{"groupid": "staff", "users": "ann@pve,bob@pve"}]
    assert group_rows(found, ROOT) == [
        {"groupid": "night", "comment": "owls", "users": ""},
        {"groupid": "staff", "users": "ann@pve,bob@pve"},
    ]
