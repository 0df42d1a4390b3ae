"""Logging in."""

from __future__ import annotations

import pytest
from stockman_lab.pve.access.login import Login, log_in
from stockman_lab.pve.access.passwords import scrambled, store_password
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.tickets import check_csrf_token, make_ticket, ticket_user
from stockman_lab.pve.access.users import UserChange, update_user
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.house import ANN, NOW, authority, dice


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


def test_a_ticket_can_be_renewed_with_itself() -> None:
    found = house()
    old = make_ticket(found.state.ticket_key, "ann@pve", NOW - 7000)

    reply = log_in(found, Login("ann@pve", old), NOW)

    assert ticket_user(found.state.ticket_key, str(reply["ticket"]), NOW + 7000) == "ann@pve"


def test_root_may_take_out_tickets_for_others_and_nobody_else_may() -> None:
    found = house()
    of_root = make_ticket(found.state.ticket_key, "root@pam", NOW)
    of_bob = make_ticket(found.state.ticket_key, "bob@pve", NOW)

    assert log_in(found, Login("ann@pve", of_root), NOW)["username"] == "ann@pve"
    assert refused(found, Login("ann@pve", of_bob)) == "401 authentication failure"


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


@pytest.mark.parametrize("change", [UserChange(enable=False), UserChange(expire=NOW - 1)])
def test_who_may_not_log_in_now_cannot_renew_either(change: UserChange) -> None:
    found = house()
    update_user(found.state, "ann@pve", change)
    old = make_ticket(found.state.ticket_key, "ann@pve", NOW)

    assert refused(found, Login("ann@pve", old)) == "401 authentication failure"


def test_a_login_can_ask_for_privileges_instead_of_a_ticket() -> None:
    found = house("/vms ann@pve Look")

    reply = log_in(
        found, Login("ann@pve", "sesame street", path="/vms/100", privs=["VM.Audit"]), NOW
    )

    assert set(reply) == {"username", "cap"}


def test_the_name_of_the_cluster_is_for_auditors() -> None:
    found = house("/ ann@pve PVEAuditor")

    auditor = log_in(found, Login("ann@pve", "sesame street"), NOW, "home")
    stranger = log_in(house(), Login("ann@pve", "sesame street"), NOW, "home")

    assert auditor["clustername"] == "home"
    assert "clustername" not in stranger


def test_a_login_tells_what_a_page_may_offer() -> None:
    found = house("/vms ann@pve Look")

    reply = log_in(found, Login(ANN.userid, "sesame street"), NOW)

    assert reply["cap"] == {
        "vms": {"VM.Audit": 1},
        "access": {},
        "storage": {},
        "nodes": {},
        "sdn": {},
        "dc": {},
        "mapping": {},
    }
