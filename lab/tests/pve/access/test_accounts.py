"""Users, groups, roles and tokens: created, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.accounts import (
    TokenChange,
    UserChange,
    create_group,
    create_role,
    create_token,
    create_user,
    delete_group,
    delete_role,
    delete_token,
    delete_user,
    group_info,
    group_rows,
    role_info,
    role_rows,
    token_rows,
    update_group,
    update_role,
    update_token,
    update_user,
    user_info,
    user_rows,
)
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.login import scramble
from stockman_lab.pve.access.state import Profile
from stockman_lab.pve.endpoints.access import realm_rows
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.populated_access import (
    ANN,
    ANN_TOKEN,
    BOB,
    ROOT,
    authority,
    dice,
    populated,
)


def text(caught: pytest.ExceptionInfo[ApiError]) -> str:
    return f"{caught.value.status} {caught.value.message}"


def test_a_user_with_everything() -> None:
    state = populated()

    create_user(
        state,
        "eve@pve",
        UserChange(
            enable=False,
            expire=7,
            firstname="Eve",
            lastname="Moon",
            email="eve@example.com",
            comment="night shift",
            keys="abc",
            groups=["night", "staff"],
        ),
    )

    assert user_info(state, "eve@pve") == {
        "enable": 0,
        "expire": 7,
        "firstname": "Eve",
        "lastname": "Moon",
        "email": "eve@example.com",
        "comment": "night shift",
        "keys": "abc",
        "groups": ["night", "staff"],
        "tokens": None,
    }


@pytest.mark.parametrize(
    ("userid", "change", "why"),
    [
        ("ann@pve", UserChange(), "user 'ann@pve' already exists"),
        ("eve@pve", UserChange(groups=["staff", "moon"]), "no such group 'moon'"),
        ("eve", UserChange(), "value 'eve' does not look like a valid user name"),
        ("e", UserChange(), "user name 'e' is too short"),
        (f"{'e' * 61}@pve", UserChange(), f"user name '{'e' * 61}@pve' is too long (65 > 64)"),
    ],
)
def test_a_user_that_cannot_be_made_leaves_nothing_behind(
    userid: str, change: UserChange, why: str
) -> None:
    state = populated()
    before = repr(state)

    with pytest.raises(ApiError) as caught:
        create_user(state, userid, change)

    assert text(caught) == f"500 create user failed: {why}"
    assert repr(state) == before


def test_a_password_for_an_account_that_the_host_lacks() -> None:
    with pytest.raises(ApiError) as caught:
        create_user(populated(), "eve@pam", UserChange(), scramble("sesame street", dice()))

    assert text(caught) == (
        "500 create user failed: change password failed: user 'eve' does not exist"
    )


def test_a_deleted_user_takes_tokens_memberships_and_entries_along() -> None:
    access = authority(
        "/vms ann@pve Look", "/vms ann@pve!narrow Look", "/vms bob@pve Look", "/ ann@pve Look"
    )

    delete_user(access.state, "ann@pve")

    assert access.state.groups["staff"].members == {"bob@pve"}
    assert list(access.state.acl) == ["/vms"]
    assert access.state.acl["/vms"].users == {"bob@pve": {"Look": True}}
    assert access.state.acl["/vms"].tokens == {}
    assert access.permissions(ANN, "/vms") == {}


def test_a_full_row_lists_tokens() -> None:
    row = user_rows(authority(), ANN, full=True)[0]

    assert row["tokens"] == [
        {"tokenid": "full", "expire": 0, "privsep": 0},
        {"tokenid": "narrow", "expire": 0, "privsep": 1},
    ]


@pytest.mark.parametrize(
    ("enabled", "seen"), [(True, {"ann@pve", "root@pam"}), (False, {"bob@pve"})]
)
def test_rows_can_be_chosen_by_whether_users_are_enabled(enabled: bool, seen: set[str]) -> None:
    access = authority()
    update_user(access.state, "bob@pve", UserChange(enable=False))

    assert {row["userid"] for row in user_rows(access, ROOT, enabled=enabled)} == seen


def test_members_are_listed_by_name() -> None:
    assert group_info(populated(), "staff")["members"] == ["ann@pve", "bob@pve"]


def test_a_deleted_group_takes_its_entries_along_and_not_its_members() -> None:
    access = authority("/vms @staff Look", "/vms @night Look")

    delete_group(access.state, "staff")

    assert access.state.acl["/vms"].groups == {"night": {"Look": True}}
    assert "ann@pve" in access.state.users
    assert access.permissions(ANN, "/vms") == {}


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
    access = authority("/access/groups/staff bob@pve PVEUserAdmin")
    update_group(access.state, "night", "owls")

    assert group_rows(access, ANN) == []
    assert group_rows(access, BOB) == [{"groupid": "staff", "users": "ann@pve,bob@pve"}]
    assert group_rows(access, ROOT) == [
        {"groupid": "night", "comment": "owls", "users": ""},
        {"groupid": "staff", "users": "ann@pve,bob@pve"},
    ]


def test_a_changed_role_changes_what_its_holders_may_do() -> None:
    access = authority("/vms ann@pve Look")
    before = access.allowed(ANN, "/vms/100", "VM.Clone")

    update_role(access.state, "Look", ["VM.Clone"])

    assert (before, access.allowed(ANN, "/vms/100", "VM.Clone")) == (False, True)


def test_a_deleted_role_takes_its_entries_along() -> None:
    access = authority("/vms ann@pve Look", "/vms @staff Start", "/nodes ann@pve!narrow Look")

    delete_role(access.state, "Look")
    create_role(access.state, "Look", ["VM.Audit"])

    assert list(access.state.acl) == ["/vms"]
    assert access.state.acl["/vms"].users == {}
    assert access.state.acl["/vms"].groups == {"staff": {"Start": True}}


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


NEW = Caller("bob@pve", "ci-1")


def test_a_new_token_tells_its_secret_once() -> None:
    state = populated()

    reply = create_token(state, NEW, TokenChange(), dice(5))

    assert reply == {
        "full-tokenid": "bob@pve!ci-1",
        "info": {"privsep": 1},
        "value": "00000000-0000-4000-8000-000000000005",
    }
    assert token_rows(state, "bob@pve") == [{"tokenid": "ci-1", "expire": 0, "privsep": 1}]


@pytest.mark.parametrize("change", [TokenChange(comment=""), TokenChange(delete=["comment"])])
def test_a_comment_can_be_taken_away(change: TokenChange) -> None:
    state = populated()
    update_token(state, ANN_TOKEN, TokenChange(comment="mine"))

    assert update_token(state, ANN_TOKEN, change) == {"expire": 0, "privsep": 1}
    assert state.users["ann@pve"].tokens["narrow"].comment == ""


def test_on_8_4_an_empty_comment_leaves_the_old_one() -> None:
    state = populated(Profile.PVE_8_4)
    update_token(state, ANN_TOKEN, TokenChange(comment="mine"))

    assert update_token(state, ANN_TOKEN, TokenChange(comment=""))["comment"] == "mine"


def test_only_the_comment_can_be_taken_away() -> None:
    with pytest.raises(ApiError) as caught:
        update_token(populated(), ANN_TOKEN, TokenChange(delete=["expire"]))

    assert text(caught) == (
        "500 updating token info failed: 400 Parameter verification failed.\n"
        "delete: unknown option 'expire'"
    )


def test_a_deleted_token_takes_its_entries_along() -> None:
    access = authority("/vms ann@pve Look", "/vms ann@pve!narrow Look")

    delete_token(access.state, ANN_TOKEN)

    assert "narrow" not in access.state.users["ann@pve"].tokens
    assert access.state.acl["/vms"].tokens == {}
    assert access.permissions(ANN_TOKEN, "/vms") == {}


def test_every_cluster_has_two_realms() -> None:
    assert realm_rows(populated()) == [
        {"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
        {"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
    ]
