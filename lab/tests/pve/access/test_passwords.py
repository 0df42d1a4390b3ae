"""Passwords of the realms `pve` and `pam`."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.passwords import (
    PasswordChange,
    change_password,
    check_password,
    scrambled,
    store_password,
)
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.state import User
from stockman_lab.pve.access.users import UserChange, create_user, update_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, BOB, NOW, ROOT, authority, dice

OLD = "sesame street"
NEW = "open, please"


def house() -> Authority:
    found = authority()
    for userid, name in (("ann@pve", ("ann", "pve")), ("root@pam", ("root", "pam"))):
        store_password(found.state, found.state.users[userid], name, scrambled(OLD, dice()))
    return found


def change(userid: str, confirmation: str | None = None) -> PasswordChange:
    return PasswordChange(userid, scrambled(NEW, dice(9)), confirmation)


def refused(found: Authority, caller: Caller, password_change: PasswordChange) -> ApiError:
    before = repr(found.state)
    with pytest.raises(ApiError) as caught:
        change_password(found, caller, password_change, NOW)
    assert repr(found.state) == before
    return caught.value


def test_the_same_password_is_never_stored_the_same_way() -> None:
    random_bytes = dice()

    assert scrambled(OLD, random_bytes) != scrambled(OLD, random_bytes)


def test_passwords_do_not_show_in_texts() -> None:
    shown = repr(change("ann@pve", OLD))

    assert OLD not in shown
    assert NEW not in shown
    assert scrambled(NEW, dice(9)).stored not in shown


@pytest.mark.parametrize("userid", ["ann@pve", "root@pam", "bob@pve"])
def test_root_changes_any_password_without_more(userid: str) -> None:
    found = house()

    change_password(found, ROOT, change(userid), NOW)

    check_password(found.state, userid, NEW)
    with pytest.raises(ApiError):
        check_password(found.state, userid, OLD)


def test_one_changes_ones_own_password_with_the_old_one() -> None:
    found = house()

    change_password(found, ANN, change("ann@pve", OLD), NOW)

    check_password(found.state, "ann@pve", NEW)


def test_one_changes_the_password_of_another_with_ones_own() -> None:
    found = house()

    change_password(found, ANN, change("bob@pve", OLD), NOW)

    check_password(found.state, "bob@pve", NEW)


def test_without_the_old_password_nothing_happens() -> None:
    found = house()

    missing = refused(found, ANN, change("ann@pve"))
    wrong = refused(found, ANN, change("ann@pve", "guessed"))

    assert missing.errors == {"confirmation-password": "password is required to modify user"}
    assert (wrong.status, wrong.message) == (500, "invalid credentials")


def test_nobody_else_changes_the_password_of_root_or_of_the_system() -> None:
    found = house()
    create_user(found.state, "dan@pam", UserChange())

    of_root = refused(found, ANN, change("root@pam", OLD))
    of_system = refused(found, ANN, change("dan@pam", OLD))

    assert (of_root.status, of_root.message) == (403, "Permission check failed")
    assert (of_system.status, of_system.message) == (403, "Permission check failed")


def test_who_is_disabled_changes_nothing() -> None:
    found = house()
    update_user(found.state, "ann@pve", UserChange(enable=False))

    assert refused(found, ANN, change("ann@pve", OLD)).message == "user 'ann@pve' is disabled"


@pytest.mark.parametrize(
    ("userid", "why"),
    [
        ("eve@pve", "no such user ('eve@pve')"),
        ("dan@pam", "change password failed: user 'dan' does not exist"),
        ("dan@ldap", "auth domain 'ldap' does not exist"),
    ],
)
def test_a_password_that_has_no_place(userid: str, why: str) -> None:
    found = house()
    found.state.users["dan@pam"] = User()
    found.state.users["dan@ldap"] = User()

    assert refused(found, ROOT, change(userid)).message == why


@pytest.mark.parametrize(
    ("userid", "password", "why"),
    [
        ("ann@pve", "", "no password"),
        ("ann@pve", "guessed", "invalid credentials"),
        ("bob@pve", "guessed", "no password set"),
        ("root@pam", "guessed", "Authentication failure"),
        ("dan@pam", "guessed", "Authentication failure"),
        ("dan@ldap", "guessed", "auth domain 'ldap' does not exist"),
    ],
)
def test_a_wrong_password(userid: str, password: str, why: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_password(house().state, userid, password)

    assert caught.value.message == why


def test_bob_has_no_password_to_confirm_with() -> None:
    assert refused(house(), BOB, change("ann@pve", OLD)).message == "no password set"
