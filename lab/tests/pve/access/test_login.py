"""Logging in."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.login import Login, log_in
from stockman_lab.pve.access.passwords import scrambled, store_password
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.tickets import check_csrf_token, ticket_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import NOW, authority, dice


def house(*entries: str) -> Authority:
    found = authority(*entries)
    password = scrambled("sesame street", dice())
    state = found.state
    store_password(state, state.users["ann@pve"], ("ann", "pve"), password)
    store_password(state, state.users["root@pam"], ("root", "pam"), password)
    return found


def refused(found: Authority, login: Login) -> str:
    with pytest.raises(ApiError) as caught:
        log_in(found, login, NOW)
    return f"{caught.value.status} {caught.value.message}"


@pytest.mark.parametrize("userid", ["ann@pve", "root@pam"])
def test_a_password_gives_a_ticket_and_a_csrf_token(userid: str) -> None:
    found = house()
    key = found.state.ticket_key

    reply = log_in(found, Login(userid, "sesame street"), NOW)

    assert reply["username"] == userid
    assert ticket_user(key, str(reply["ticket"]), NOW) == userid
    check_csrf_token(key, userid, str(reply["CSRFPreventionToken"]), NOW)
    assert set(reply) == {"username", "ticket", "CSRFPreventionToken", "cap"}


@pytest.mark.parametrize(
    "login",
    [
        pytest.param(Login("ann@pve", "wrong"), id="a wrong password"),
        pytest.param(Login("ann@pve", ""), id="an empty password"),
        pytest.param(Login("bob@pve", "sesame street"), id="a user without password"),
        pytest.param(Login("eve@pve", "sesame street"), id="a user that does not exist"),
        pytest.param(Login("ann", "sesame street"), id="a user without realm"),
        pytest.param(Login("ann@nowhere", "sesame street"), id="an unknown realm"),
        pytest.param(Login("ann@pve!narrow", "sesame street"), id="a token"),
        pytest.param(Login("ann@pve", "sesame street", second_factor=True), id="a second factor"),
        pytest.param(Login("ann@pve", "sesame street", challenged=True), id="an answer"),
        pytest.param(Login("ann@pve", "sesame \udc80"), id="a broken character"),
        pytest.param(
            Login("ann@pve", "sesame street", path="/vms", privs=["VM.Audit"]), id="no privilege"
        ),
        pytest.param(
            Login("ann@pve", "sesame street", path="/a b", privs=["VM.Audit"]), id="no path"
        ),
        pytest.param(Login("ann@pve", "sesame street", path="/vms"), id="a path alone"),
        pytest.param(Login("ann@pve", "wrong", path="/", privs=["Sys.Audit"]), id="all wrong"),
    ],
)
def test_every_refusal_says_the_same(login: Login) -> None:
    assert refused(house(), login) == "401 authentication failure"
