"""Users and tokens by name, with the words of Proxmox VE for those that are missing."""

from __future__ import annotations

from stockman_lab.pve.access.identity import split_userid
from stockman_lab.pve.access.state import AccessState, Token, User
from stockman_lab.pve.errors import die


def existing_user(state: AccessState, userid: str) -> User:
    """The user of this name."""
    user = state.users.get(userid)
    if user is None:
        split_userid(userid)
        raise die(f"no such user ('{userid}')")
    return user


def enabled_user(state: AccessState, userid: str, now: float) -> User:
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
