"""Users and tokens by name, and who is asking."""

from __future__ import annotations

import re
from typing import NamedTuple

from stockman_lab.pve.access.state import ROOT, AccessState, Token, User
from stockman_lab.pve.errors import die

_REALM = r"[A-Za-z][A-Za-z0-9.\-_]+"
_USER = r"[^\s:/]+"
_USERID = re.compile(rf"({_USER})@({_REALM})\Z")
_TOKENID = re.compile(rf"({_USER}@{_REALM})!({_REALM})\Z")
_SHORTEST = 3
_LONGEST = 64


class Caller(NamedTuple):
    """A user, or one of the tokens of a user."""

    userid: str
    tokenid: str | None = None

    @property
    def authid(self) -> str:
        """The name that logs, tasks and entries use."""
        return self.userid if self.tokenid is None else f"{self.userid}!{self.tokenid}"

    @property
    def is_root(self) -> bool:
        """Whether this is root with a ticket: no token ever is."""
        return self.tokenid is None and self.userid == ROOT


def parse_caller(authid: str) -> Caller | None:
    """The user or token of this name; None: no user or token can be called so."""
    if found := _TOKENID.match(authid):
        return Caller(found[1], found[2])
    return Caller(authid) if is_userid(authid) else None


def split_tokenid(tokenid: str) -> Caller:
    """The user and the token that a full token id names."""
    found = _TOKENID.match(tokenid)
    if found is None:
        raise die(
            f"'{tokenid}' is not a valid token ID - not able to split into user and token parts"
        )
    return Caller(found[1], found[2])


def is_userid(userid: str) -> bool:
    """Whether a user can be called so."""
    return _SHORTEST <= len(userid) <= _LONGEST and _USERID.match(userid) is not None


def split_userid(userid: str) -> tuple[str, str]:
    """The account and the realm that a user id names."""
    if len(userid) < _SHORTEST:
        raise die(f"user name '{userid}' is too short")
    if len(userid) > _LONGEST:
        raise die(f"user name '{userid}' is too long ({len(userid)} > {_LONGEST})")
    found = _USERID.match(userid)
    if found is None:
        raise die(f"value '{userid}' does not look like a valid user name")
    return found[1], found[2]


def existing_user(state: AccessState, userid: str) -> User:
    """The user of this name."""
    user = state.users.get(userid)
    if user is None:
        split_userid(userid)
        raise die(f"no such user ('{userid}')")
    return user


def require_enabled_user(state: AccessState, userid: str, now: float) -> User:
    """The user of this name, if it may log in now."""
    user = existing_user(state, userid)
    if not user.enabled:
        raise die(f"user '{userid}' is disabled")
    if user.expire and user.expire < int(now):
        raise die(f"user '{userid}' access expired")
    return user


def existing_token(state: AccessState, userid: str, tokenid: str) -> Token:
    """The token of this name."""
    token = existing_user(state, userid).tokens.get(tokenid)
    if token is None:
        raise die(f"no such token '{tokenid}' for user '{userid}'")
    return token
