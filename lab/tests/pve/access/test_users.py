"""Users: made, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.passwords import check_password, scrambled
from stockman_lab.pve.access.state import User
from stockman_lab.pve.access.tokens import TokenChange, update_token
from stockman_lab.pve.access.users import (
    UserChange,
    create_user,
    delete_user,
    update_user,
    user_info,
    user_rows,
)
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    BOB,
    ROOT,
    authority,
    dice,
    populated,
)


def text(caught: pytest.ExceptionInfo[ApiError]) -> str:
    return f"{caught.value.status} {caught.value.message}"


def test_a_bare_user() -> None:
    state = populated()

    create_user(state, "eve@pve", UserChange())

    assert user_info(state, "eve@pve") == {"enable": 1, "expire": 0, "groups": [], "tokens": None}


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


def test_the_tokens_of_a_user_are_a_map() -> None:
    state = populated()
    update_token(state, ANN_TOKEN, TokenChange(comment="for tests", expire=9))

    assert user_info(state, "ann@pve")["tokens"] == {
        "full": {"expire": 0, "privsep": 0},
        "narrow": {"expire": 9, "privsep": 1, "comment": "for tests"},
    }


def test_an_empty_address_shows_if_a_comment_follows_it() -> None:
    state = populated()

    create_user(state, "eve@pve", UserChange(comment="night shift"))

    assert user_info(state, "eve@pve")["email"] == ""


def test_a_user_with_a_password_can_log_in() -> None:
    state = populated()

    create_user(state, "eve@pve", UserChange(), scrambled("sesame street", dice()))

    check_password(state, "eve@pve", "sesame street")
    assert "sesame" not in repr(state)


def test_a_user_of_an_unknown_realm_is_fine_without_a_password() -> None:
    state = populated()

    create_user(state, "eve@ldap", UserChange())

    assert "eve@ldap" in state.users
    with pytest.raises(ApiError) as caught:
        create_user(state, "dan@ldap", UserChange(), scrambled("sesame street", dice()))
    assert text(caught) == "500 create user failed: auth domain 'ldap' does not exist"


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
        create_user(populated(), "eve@pam", UserChange(), scrambled("sesame street", dice()))

    assert text(caught) == (
        "500 create user failed: change password failed: user 'eve' does not exist"
    )


def test_an_update_touches_only_what_it_names() -> None:
    state = populated()
    create_user(state, "eve@pve", UserChange(comment="one", firstname="Eve", groups=["staff"]))

    update_user(state, "eve@pve", UserChange(comment="two"))

    assert user_info(state, "eve@pve") == {
        "enable": 1,
        "expire": 0,
        "firstname": "Eve",
        "email": "",
        "comment": "two",
        "groups": ["staff"],
        "tokens": None,
    }


@pytest.mark.parametrize(
    ("change", "groups"),
    [
        (UserChange(groups=["night"]), ["night"]),
        (UserChange(groups=["night"], append=True), ["night", "staff"]),
        (UserChange(groups=[]), []),
        (UserChange(groups=[], append=True), ["staff"]),
        (UserChange(), ["staff"]),
    ],
)
def test_groups_are_replaced_or_appended(change: UserChange, groups: list[str]) -> None:
    state = populated()

    update_user(state, "ann@pve", change)

    assert user_info(state, "ann@pve")["groups"] == groups


@pytest.mark.parametrize("emptied", ["", "0"])
def test_an_emptied_field_disappears(emptied: str) -> None:
    state = populated()
    update_user(state, "ann@pve", UserChange(comment="one"))

    update_user(state, "ann@pve", UserChange(comment=emptied))

    assert "comment" not in user_info(state, "ann@pve")


@pytest.mark.parametrize(
    ("userid", "change", "why"),
    [
        ("eve@pve", UserChange(), "update user failed: no such user ('eve@pve')"),
        ("ann@pve", UserChange(groups=["moon"]), "update user failed: no such group 'moon'"),
    ],
)
def test_an_update_that_cannot_be_made(userid: str, change: UserChange, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        update_user(populated(), userid, change)

    assert text(caught) == f"500 {why}"


def test_a_deleted_user_takes_tokens_memberships_and_entries_along() -> None:
    found = authority(
        "/vms ann@pve Look", "/vms ann@pve!narrow Look", "/vms bob@pve Look", "/ ann@pve Look"
    )

    delete_user(found.state, "ann@pve")

    assert found.state.groups["staff"].members == {"bob@pve"}
    assert list(found.state.acl) == ["/vms"]
    assert found.state.acl["/vms"].users == {"bob@pve": {"Look": True}}
    assert found.state.acl["/vms"].tokens == {}
    assert found.permissions(ANN, "/vms") == {}


def test_deleting_a_user_who_is_not_there_changes_nothing() -> None:
    state = populated()
    users = dict(state.users)

    delete_user(state, "eve@pve")

    assert state.users == users


def test_root_comes_back_bare() -> None:
    state = populated()
    update_user(state, "root@pam", UserChange(email="root@example.com"))

    delete_user(state, "root@pam")

    assert state.users["root@pam"] == User()


def test_reading_a_user_who_is_not_there() -> None:
    with pytest.raises(ApiError) as caught:
        user_info(populated(), "eve@pve")

    assert text(caught) == "500 no such user ('eve@pve')"


@pytest.mark.parametrize(
    ("caller", "entries", "seen"),
    [
        (ROOT, [], ["ann@pve", "bob@pve", "lone@pve", "root@pam"]),
        (BOB, [], ["bob@pve"]),
        (
            BOB,
            ["/access/groups bob@pve PVEAuditor"],
            ["ann@pve", "bob@pve", "lone@pve", "root@pam"],
        ),
        (BOB, ["/access/groups/staff bob@pve PVEUserAdmin"], ["ann@pve", "bob@pve"]),
        (BOB, ["/access/groups/night bob@pve PVEUserAdmin"], ["bob@pve"]),
        (ANN_FULL_TOKEN, [], []),
    ],
)
def test_one_sees_oneself_and_those_in_ones_care(
    caller: Caller, entries: list[str], seen: list[str]
) -> None:
    found = authority(*entries)
    create_user(found.state, "lone@pve", UserChange())

    assert [row["userid"] for row in user_rows(found, caller)] == seen


def test_a_row_of_a_user() -> None:
    found = authority()

    assert user_rows(found, BOB) == [
        {"userid": "bob@pve", "enable": 1, "expire": 0, "realm-type": "pve"}
    ]
    assert user_rows(found, BOB, full=True) == [
        {
            "userid": "bob@pve",
            "enable": 1,
            "expire": 0,
            "realm-type": "pve",
            "groups": "staff",
            "tokens": None,
        }
    ]


def test_a_full_row_lists_tokens() -> None:
    row = user_rows(authority(), ANN, full=True)[0]

    assert row["tokens"] == [
        {"tokenid": "full", "expire": 0, "privsep": 0},
        {"tokenid": "narrow", "expire": 0, "privsep": 1},
    ]


def test_a_user_of_an_unknown_realm_has_no_kind_of_realm() -> None:
    found = authority()
    create_user(found.state, "eve@ldap", UserChange())

    rows = {row["userid"]: row for row in user_rows(found, ROOT)}

    assert "realm-type" not in rows["eve@ldap"]
    assert rows["root@pam"]["realm-type"] == "pam"


@pytest.mark.parametrize(
    ("enabled", "seen"), [(True, {"ann@pve", "root@pam"}), (False, {"bob@pve"})]
)
def test_rows_can_be_chosen_by_whether_users_are_enabled(enabled: bool, seen: set[str]) -> None:
    found = authority()
    update_user(found.state, "bob@pve", UserChange(enable=False))

    assert {row["userid"] for row in user_rows(found, ROOT, enabled=enabled)} == seen
