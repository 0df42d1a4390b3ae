"""From the headers of a request to who is asking."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from stockman_lab.pve.access.identity import (
    Caller,
    existing_token,
    is_userid,
    require_enabled_user,
    split_tokenid,
)
from stockman_lab.pve.access.login import check_csrf_token, ticket_user
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.state import AccessState, Profile
from stockman_lab.pve.errors import ApiError, die

_Verify = Callable[[AccessState, str, float], Caller]

_COOKIE = re.compile(r"(?:^|\s)PVEAuthCookie[= ]([^;]*)")
_API_TOKEN = re.compile(r"(?:^|\s)PVEAPIToken[= ]([^;]*)")
_UPLOAD = re.compile(r"/nodes/[^/]+/storage/([^/]+)/upload\Z")

_OPEN = frozenset(
    {
        ("GET", "/access/domains"),
        ("GET", "/access/ticket"),
        ("POST", "/access/ticket"),
        ("POST", "/access/vncticket"),
        ("POST", "/access/openid/login"),
        ("POST", "/access/openid/auth-url"),
    }
)


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request shows of its sender. The path is the one below `/api2/json`."""

    method: str
    path: str
    ticket: str | None = field(default=None, repr=False)
    api_token: str | None = field(default=None, repr=False)
    """Only where no ticket was shown: a ticket always goes first."""
    csrf_token: str | None = field(default=None, repr=False)


def read_credentials(method: str, path: str, headers: Mapping[str, str]) -> Presented:
    """What a request shows; names of headers are in small letters."""
    authorization = headers.get("authorization")
    ticket = _value(_COOKIE, headers.get("cookie")) or _value(_COOKIE, authorization)
    return Presented(
        method=method,
        path=path,
        ticket=ticket,
        api_token=None if ticket else _value(_API_TOKEN, authorization),
        csrf_token=headers.get("csrfpreventiontoken"),
    )


def authenticate(authority: Authority, shown: Presented, now: float) -> Caller | None:
    """Who is asking; None: the endpoint asks nobody for a name.

    Every refusal goes out with an empty body and late, the 403 of a forbidden upload too.
    """
    if (shown.method, shown.path) in _OPEN:
        return None
    state = authority.state
    if shown.api_token:
        caller = _told_apart(state, _token_caller, shown.api_token, now)
    elif shown.ticket:
        caller = _told_apart(state, _ticket_caller, shown.ticket, now)
    else:
        raise ApiError(401, "No ticket")
    upload = _UPLOAD.match(shown.path) if shown.method == "POST" else None
    if upload:
        # Uploads need no CSRF token, so who may upload is looked at before anything is read.
        authority.check(caller, f"/storage/{upload[1]}", "Datastore.AllocateTemplate")
    elif shown.method != "GET" and not shown.api_token:
        check_csrf_token(state.ticket_key, caller.userid, shown.csrf_token, now)
    return caller


def _value(pattern: re.Pattern[str], header: str | None) -> str | None:
    found = pattern.search(header) if header else None
    value = unquote(found[1]) if found else ""
    return None if value in ("", "0") else value


def _told_apart(state: AccessState, verify: _Verify, credential: str, now: float) -> Caller:
    """The caller, or a refusal that says why on 8.4 and nothing on 9.1."""
    try:
        return verify(state, credential, now)
    except ApiError as error:
        tells = state.profile is Profile.PVE_8_4
        raise ApiError(401, error.message if tells else "Authentication failed!") from error


def _token_caller(state: AccessState, api_token: str, now: float) -> Caller:
    authid, equals, secret = api_token.rpartition("=")
    if not equals:
        raise die("no tokenid specified")
    caller = split_tokenid(authid)
    tokenid = caller.tokenid or ""
    require_enabled_user(state, caller.userid, now)
    token = existing_token(state, caller.userid, tokenid)
    if token.expire and token.expire < int(now):
        raise die(f"token '{tokenid}' access expired")
    if not hmac.compare_digest(token.secret.encode(), secret.encode("utf-8", "surrogatepass")):
        raise die("invalid token value!")
    return caller


def _ticket_caller(state: AccessState, ticket: str, now: float) -> Caller:
    userid = ticket_user(state.ticket_key, ticket, now)
    if userid is None or not is_userid(userid):
        raise die("permission denied - invalid PVE ticket")
    require_enabled_user(state, userid, now)
    return Caller(userid)
