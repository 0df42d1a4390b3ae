"""Users: made, changed, deleted and shown."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.passwords import scrambled
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
        create_user(populated(), "eve@pam", UserChange(), scrambled("sesame street", dice()))

    assert text(caught) == (
        "500 create user failed: change password failed: user 'eve' does not exist"
    )


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
    found = authority()
    update_user(found.state, "bob@pve", UserChange(enable=False))

    assert {row["userid"] for row in user_rows(found, ROOT, enabled=enabled)} == seen
