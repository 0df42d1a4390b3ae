"""Logging in: a password, or a ticket that is still good, for a new ticket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from stockman_lab.pve.access.identity import Caller, enabled_user
from stockman_lab.pve.access.overview import capabilities
from stockman_lab.pve.access.passwords import check_password
from stockman_lab.pve.access.paths import normalised
from stockman_lab.pve.access.permissions import Authority, denied
from stockman_lab.pve.access.state import ROOT
from stockman_lab.pve.access.tickets import make_csrf_token, make_ticket, ticket_user
from stockman_lab.pve.errors import ApiError, die


@dataclass(frozen=True, slots=True)
class Login:
    """What somebody who wants a ticket has sent."""

    username: str
    password: str = field(repr=False)
    second_factor: bool = False
    """Whether a second factor came along. No user of the lab has one, so it fits none."""
    challenged: bool = False
    """Whether the password is meant as the answer to a challenge. The lab never gives one."""
    path: str | None = None
    privs: Sequence[str] = ()
    """With a path: no ticket is wanted, but to know whether these privileges are held there."""


def log_in(
    authority: Authority, login: Login, now: float, cluster_name: str | None = None
) -> dict[str, object]:
    """A new ticket, or the answer whether the old one is worth some privileges.

    Whatever is wrong, the refusal says the same.
    """
    userid = login.username
    try:
        enabled_user(authority.state, userid, now)
        reply = _verified(authority, login, now) if login.path else _ticket(authority, login, now)
    except ApiError as error:
        raise ApiError(401, "authentication failure") from error
    caller = Caller(userid)
    reply["cap"] = capabilities(authority, caller)
    if cluster_name and authority.allowed(caller, "/", "Sys.Audit"):
        reply["clustername"] = cluster_name
    return reply


def _ticket(authority: Authority, login: Login, now: float) -> dict[str, object]:
    key = authority.state.ticket_key
    known = None if login.challenged else ticket_user(key, login.password, now)
    # Root may take out tickets for others.
    if known not in (ROOT, login.username):
        _check_password(authority, login)
    return {
        "username": login.username,
        "ticket": make_ticket(key, login.username, now),
        "CSRFPreventionToken": make_csrf_token(key, login.username, now),
    }


def _verified(authority: Authority, login: Login, now: float) -> dict[str, object]:
    path = normalised(login.path or "")
    if path is None:
        raise die(f"invalid path - {login.path}")
    if ticket_user(authority.state.ticket_key, login.password, now) != login.username:
        _check_password(authority, login)
    if not login.privs:
        raise denied()
    authority.check(Caller(login.username), path, *login.privs)
    return {"username": login.username}


def _check_password(authority: Authority, login: Login) -> None:
    if login.challenged:
        raise die("bad ticket")
    check_password(authority.state, login.username, login.password)
    if authority.state.realms[login.username.rpartition("@")[2]].tfa:
        raise die("missing required 2nd keys")
    if login.second_factor:
        raise die("no such challenge")
