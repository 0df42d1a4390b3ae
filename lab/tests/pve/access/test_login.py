"""Logging in: passwords, tickets, tokens, and who is asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

import pytest
from stockman_lab.pve.access.accounts import (
    TokenChange,
    UserChange,
    create_user,
    delete_user,
    update_token,
    update_user,
)
from stockman_lab.pve.access.credentials import authenticate, read_credentials
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.login import (
    Login,
    check_csrf_token,
    log_in,
    make_csrf_token,
    make_ticket,
    scramble,
    store_password,
    ticket_user,
)
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.errors import ApiError

from lab.tests.pve.access.populated_access import (
    ANN,
    ANN_FULL_TOKEN,
    ANN_TOKEN,
    BOB,
    NOW,
    ROOT,
    authority,
    dice,
)


def login_access(*entries: str) -> Authority:
    access = authority(*entries)
    password = scramble("sesame street", dice())
    state = access.state
    store_password(state, state.users["ann@pve"], ("ann", "pve"), password)
    store_password(state, state.users["root@pam"], ("root", "pam"), password)
    return access


def refused(access: Authority, login: Login) -> str:
    with pytest.raises(ApiError) as caught:
        log_in(access, login, NOW)
    return f"{caught.value.status} {caught.value.message}"


@pytest.mark.parametrize("userid", ["ann@pve", "root@pam"])
def test_a_password_gives_a_ticket_and_a_csrf_token(userid: str) -> None:
    access = login_access()
    key = access.state.ticket_key

    reply = log_in(access, Login(userid, "sesame street"), NOW)

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
    assert refused(login_access(), login) == "401 authentication failure"


OLD = "sesame street"
NEW = "open, please"


Case = Callable[[Authority], dict[str, str]]

UPLOAD = "/nodes/pve1/storage/local/upload"


def asked(
    access: Authority, headers: Mapping[str, str], method: str = "GET", path: str = "/version"
) -> Caller | None:
    return authenticate(access, read_credentials(method, path, headers), NOW)


def header_refusal(
    access: Authority, headers: Mapping[str, str], method: str = "GET", path: str = "/version"
) -> str:
    with pytest.raises(ApiError) as caught:
        asked(access, headers, method, path)
    return f"{caught.value.status} {caught.value.message}"


def secret(access: Authority, token: Caller) -> str:
    return access.state.users[token.userid].tokens[token.tokenid or ""].secret


def token_header(access: Authority, token: Caller) -> dict[str, str]:
    return {"authorization": f"PVEAPIToken={token.authid}={secret(access, token)}"}


def ticket(access: Authority, caller: Caller = ANN, age: int = 0) -> str:
    return make_ticket(access.state.ticket_key, caller.userid, NOW - age)


def cookie(access: Authority, caller: Caller = ANN) -> dict[str, str]:
    return {"cookie": f"PVEAuthCookie={quote(ticket(access, caller), safe='')}"}


def csrf(access: Authority, caller: Caller = ANN) -> dict[str, str]:
    return {"csrfpreventiontoken": make_csrf_token(access.state.ticket_key, caller.userid, NOW)}


@pytest.mark.parametrize(
    "form",
    [
        "PVEAPIToken={id}={secret}",
        "PVEAPIToken {id}={secret}",
        "PVEAPIToken={id}={secret}; more",
        "Something PVEAPIToken={id}={secret}",
    ],
)
def test_a_token_may_be_written_in_several_ways(form: str) -> None:
    access = authority()
    header = form.format(id=ANN_TOKEN.authid, secret=secret(access, ANN_TOKEN))

    assert asked(access, {"authorization": header}) == ANN_TOKEN


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("cookie", "PVEAuthCookie={}"),
        ("cookie", "theme=dark; PVEAuthCookie={}; other=1"),
        ("authorization", "PVEAuthCookie={}"),
        ("authorization", "PVEAuthCookie {}"),
    ],
)
def test_a_ticket_comes_as_cookie_or_in_the_authorization(
    header: str, form: str, escaped: bool
) -> None:
    access = authority()
    value = quote(ticket(access), safe="") if escaped else ticket(access)

    assert asked(access, {header: form.format(value)}) == ANN


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"cookie": "other=1"},
        {"authorization": "Basic abc"},
        {"authorization": "Bearer PVE"},
        {"cookie": "XPVEAuthCookie=1"},
    ],
)
def test_without_credentials_there_is_no_ticket(headers: dict[str, str]) -> None:
    assert header_refusal(authority(), headers) == "401 No ticket"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_change_with_a_ticket_needs_the_csrf_token(method: str) -> None:
    access = authority()

    assert asked(access, {**cookie(access), **csrf(access)}, method) == ANN
    for headers in (cookie(access), {**cookie(access), **csrf(access, BOB)}):
        assert (
            header_refusal(access, headers, method) == "401 Permission denied - invalid csrf token"
        )


def test_root_may_upload() -> None:
    access = authority()

    assert asked(access, cookie(access, ROOT), "POST", UPLOAD) == ROOT


def disabled(access: Authority) -> dict[str, str]:
    update_user(access.state, ANN.userid, UserChange(enable=False))
    return token_header(access, ANN_TOKEN)


def expired_user(access: Authority) -> dict[str, str]:
    update_user(access.state, ANN.userid, UserChange(expire=NOW - 1))
    return token_header(access, ANN_TOKEN)


def expired_token(access: Authority) -> dict[str, str]:
    update_token(access.state, ANN_TOKEN, TokenChange(expire=NOW - 1))
    return token_header(access, ANN_TOKEN)


def unknown_user(access: Authority) -> dict[str, str]:
    return {"authorization": "PVEAPIToken=eve@pve!some=1"}


def unknown_token(access: Authority) -> dict[str, str]:
    return {"authorization": "PVEAPIToken=ann@pve!gone=1"}


def wrong_secret(access: Authority) -> dict[str, str]:
    return {"authorization": f"PVEAPIToken={ANN_TOKEN.authid}={secret(access, ANN_FULL_TOKEN)}x"}


def without_secret(access: Authority) -> dict[str, str]:
    return {"authorization": f"PVEAPIToken={ANN_TOKEN.authid}"}


def not_a_token(access: Authority) -> dict[str, str]:
    return {"authorization": "PVEAPIToken=ann@pve=1"}


def old_ticket(access: Authority) -> dict[str, str]:
    return {"cookie": f"PVEAuthCookie={ticket(access, age=7200)}"}


def ticket_of_nobody(access: Authority) -> dict[str, str]:
    create_user(access.state, "eve@pve", UserChange())
    headers = cookie(access, Caller("eve@pve"))
    delete_user(access.state, "eve@pve")
    return headers


def ticket_of_disabled(access: Authority) -> dict[str, str]:
    disabled(access)
    return cookie(access)


def ticket_of_expired(access: Authority) -> dict[str, str]:
    expired_user(access)
    return cookie(access)


def ticket_of_no_name(access: Authority) -> dict[str, str]:
    return cookie(access, Caller("ann"))


REFUSALS: list[tuple[Case, str]] = [
    (disabled, "user 'ann@pve' is disabled"),
    (expired_user, "user 'ann@pve' access expired"),
    (expired_token, "token 'narrow' access expired"),
    (unknown_user, "no such user ('eve@pve')"),
    (unknown_token, "no such token 'gone' for user 'ann@pve'"),
    (wrong_secret, "invalid token value!"),
    (without_secret, "no tokenid specified"),
    (
        not_a_token,
        "'ann@pve' is not a valid token ID - not able to split into user and token parts",
    ),
    (old_ticket, "permission denied - invalid PVE ticket"),
    (ticket_of_nobody, "no such user ('eve@pve')"),
    (ticket_of_disabled, "user 'ann@pve' is disabled"),
    (ticket_of_expired, "user 'ann@pve' access expired"),
    (ticket_of_no_name, "permission denied - invalid PVE ticket"),
]


@pytest.mark.parametrize("case", [case for case, _ in REFUSALS])
def test_9_1_does_not(case: Case) -> None:
    access = authority()

    assert header_refusal(access, case(access)) == "401 Authentication failed!"


def test_credentials_do_not_show_in_texts() -> None:
    access = authority()
    headers = {**token_header(access, ANN_TOKEN), **csrf(access)}

    shown = repr(read_credentials("GET", "/version", headers))

    assert secret(access, ANN_TOKEN) not in shown
    assert headers["csrfpreventiontoken"] not in shown


KEY = bytes(32)
USER = "ann@pve"
