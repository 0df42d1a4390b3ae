"""Passwords of the realms `pve` and `pam`."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from stockman_lab.pve.access.identity import Caller, enabled_user, existing_user, split_userid
from stockman_lab.pve.access.permissions import Authority, denied
from stockman_lab.pve.access.state import ROOT, AccessState, RandomBytes, User
from stockman_lab.pve.errors import bad_parameters, die

_ROUNDS = 1000
"""Few: passwords of a lab guard nothing, and tests log in often."""
_SALT = 8


@dataclass(frozen=True, slots=True)
class Scramble:
    """A password that can be checked and no longer be read."""

    stored: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PasswordChange:
    """A new password, and the one of who asks for it."""

    userid: str
    password: Scramble
    confirmation: str | None = field(default=None, repr=False)


def scrambled(password: str, random_bytes: RandomBytes) -> Scramble:
    """A new password, ready to be stored."""
    salt = random_bytes(_SALT).hex()
    return Scramble(f"{salt}${_digest(salt, password)}")


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
    if not hmac.compare_digest(digest, _digest(salt, password)):
        raise die(wrong)


def change_password(
    authority: Authority, caller: Caller, change: PasswordChange, now: float
) -> None:
    """Changes a password: one's own, or that of a user in the caller's care."""
    state, userid = authority.state, change.userid
    account, realm = split_userid(userid)
    user = existing_user(state, userid)
    if not caller.is_root:
        _confirm(state, caller, change)
        if caller.authid == userid:
            enabled_user(state, userid, now)
        elif realm == "pam":
            raise denied()
    store_password(state, user, (account, realm), change.password)


def _confirm(state: AccessState, caller: Caller, change: PasswordChange) -> None:
    """Asks everybody but root for their own password before one is changed."""
    if change.userid == ROOT:
        raise denied()
    if change.confirmation is None:
        raise bad_parameters({"confirmation-password": "password is required to modify user"})
    check_password(state, caller.authid, change.confirmation)


def _digest(salt: str, password: str) -> str:
    return hashlib.pbkdf2_hmac(
        "sha256", password.encode("utf-8", "surrogatepass"), salt.encode(), _ROUNDS
    ).hex()
