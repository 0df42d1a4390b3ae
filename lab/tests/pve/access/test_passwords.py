"""Passwords of the realms `pve` and `pam`."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.passwords import (
    PasswordChange,
    change_password,
    scrambled,
    store_password,
)
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.users import UserChange, create_user, update_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, NOW, authority, dice

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
