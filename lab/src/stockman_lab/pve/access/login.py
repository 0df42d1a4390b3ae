"""Logging in: passwords of the realms `pve` and `pam`, and tickets.

The real one signs tickets with an RSA key. Here tickets and CSRF tokens are signed by HMAC with the
key of the state: nobody but the cluster itself verifies them. The signature has the length of the
real one, so that cookies are as long as clients know them.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from stockman_lab.pve.access.identity import (
    Caller,
    existing_user,
    require_enabled_user,
    split_userid,
)
from stockman_lab.pve.access.permissions import (
    Authority,
    capabilities,
    normalise_path,
    permission_error,
)
from stockman_lab.pve.access.state import ROOT, AccessState, RandomBytes, User
from stockman_lab.pve.errors import ApiError, die

LIFETIME = 2 * 3600
GRACE = 5 * 60
"""How far a ticket may lie in the future: clocks of hosts differ."""

_TICKET = re.compile(r"(PVE:(\S+):([A-Z0-9]{8}))::([^:\s]+)\Z")
_CSRF = re.compile(r"([A-Z0-9]{8}):(\S+)\Z")


def make_ticket(key: bytes, userid: str, now: float) -> str:
    """A ticket that says that this user has logged in."""
    plain = f"PVE:{userid}:{int(now):08X}"
    return f"{plain}::{_ticket_signature(key, plain)}"


def ticket_user(key: bytes, ticket: str, now: float) -> str | None:
    """The user that a ticket speaks for; None: it is not ours, too old, or from the future."""
    found = _TICKET.match(ticket)
    if found is None or not _is_fresh(found[3], now):
        return None
    expected = _ticket_signature(key, found[1])
    return found[2] if hmac.compare_digest(expected, _ascii(found[4])) else None


def make_csrf_token(key: bytes, userid: str, now: float) -> str:
    """The token that a browser has to send with every change."""
    stamp = f"{int(now):08X}"
    return f"{stamp}:{_csrf_signature(key, stamp, userid)}"


def check_csrf_token(key: bytes, userid: str, token: str | None, now: float) -> None:
    """Refuses a change that comes without the right token."""
    found = _CSRF.match(token or "")
    if found is not None and _is_fresh(found[1], now):
        expected = _csrf_signature(key, found[1], userid)
        if hmac.compare_digest(expected, _ascii(found[2])):
            return
    raise ApiError(401, "Permission denied - invalid csrf token")


def _is_fresh(stamp: str, now: float) -> bool:
    try:
        made = int(stamp, 16)
    except ValueError:
        return False
    return -GRACE < int(now) - made < LIFETIME


@lru_cache(maxsize=256)
def _ticket_signature(key: bytes, plain: str) -> str:
    text = plain.encode("utf-8", "surrogatepass")
    blocks = (hmac.digest(key, b"ticket%d:%b" % (part, text), "sha512") for part in range(4))
    return b64encode(b"".join(blocks)).decode()


def _csrf_signature(key: bytes, stamp: str, userid: str) -> str:
    text = f"csrf:{stamp}:{userid}".encode("utf-8", "surrogatepass")
    digest = hmac.digest(key, text, "sha256")
    return b64encode(digest).decode().rstrip("=")


def _ascii(text: str) -> str:
    """A signature that can be compared; what is not ASCII cannot be one."""
    return text if text.isascii() else ""


_ROUNDS = 1000
"""Few: passwords of a lab guard nothing, and tests log in often."""
_SALT = 8


@dataclass(frozen=True, slots=True)
class Scramble:
    """A password that can be checked and no longer be read."""

    stored: str = field(repr=False)


def scramble(password: str, random_bytes: RandomBytes) -> Scramble:
    """A new password, ready to be stored."""
    salt = random_bytes(_SALT).hex()
    return Scramble(f"{salt}${_password_digest(salt, password)}")


def store_password(
    state: AccessState, user: User, name: tuple[str, str], password: Scramble
) -> None:
    """Gives a user, who has this account in this realm, a new password."""
    account, realm = name
    if realm not in state.realms:
        raise die(f"auth domain '{realm}' does not exist")
    if realm == "pam":
        if account not in state.system_passwords:
            raise die(f"change password failed: user '{account}' does not exist")
        state.system_passwords[account] = password.stored
    else:
        user.password = password.stored


def check_password(state: AccessState, userid: str, password: str) -> None:
    """Refuses a wrong password."""
    account, realm = split_userid(userid)
    if realm not in state.realms:
        raise die(f"auth domain '{realm}' does not exist")
    if not password or password == "0":
        raise die("no password")
    if realm == "pam":
        stored, wrong = state.system_passwords.get(account), "Authentication failure"
    else:
        stored, wrong = existing_user(state, userid).password, "invalid credentials"
    if stored is None:
        raise die(wrong if realm == "pam" else "no password set")
    salt, _, digest = stored.partition("$")
    if not hmac.compare_digest(digest, _password_digest(salt, password)):
        raise die(wrong)


def _password_digest(salt: str, password: str) -> str:
    return hashlib.pbkdf2_hmac(
        "sha256", password.encode("utf-8", "surrogatepass"), salt.encode(), _ROUNDS
    ).hex()


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
        require_enabled_user(authority.state, userid, now)
        reply = (
            _check_privileges(authority, login, now)
            if login.path
            else _ticket(authority, login, now)
        )
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


def _check_privileges(authority: Authority, login: Login, now: float) -> dict[str, object]:
    path = normalise_path(login.path or "")
    if path is None:
        raise die(f"invalid path - {login.path}")
    if ticket_user(authority.state.ticket_key, login.password, now) != login.username:
        _check_password(authority, login)
    if not login.privs:
        raise permission_error()
    authority.check(Caller(login.username), path, *login.privs)
    return {"username": login.username}


def _check_password(authority: Authority, login: Login) -> None:
    if login.challenged:
        raise die("bad ticket")
    check_password(authority.state, login.username, login.password)
    if login.second_factor:
        raise die("no such challenge")
