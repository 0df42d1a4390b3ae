"""API tokens: made, changed, deleted and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from stockman_lab.pve.access.acl import forget_token
from stockman_lab.pve.access.identity import Caller, existing_token, existing_user, split_userid
from stockman_lab.pve.access.privileges import Profile
from stockman_lab.pve.access.state import AccessState, RandomBytes, Token
from stockman_lab.pve.errors import bad_parameters, failing


@dataclass(frozen=True, slots=True)
class TokenChange:
    """What is said about a token; None: nothing is said."""

    privsep: bool | None = None
    expire: int | None = None
    comment: str | None = None
    delete: Sequence[str] = ()


def create_token(
    state: AccessState, owner: Caller, change: TokenChange, random_bytes: RandomBytes
) -> dict[str, object]:
    """Adds a token and tells its secret, this one time."""
    userid, tokenid = owner.userid, owner.tokenid or ""
    user = existing_user(state, userid)
    if tokenid in user.tokens:
        raise bad_parameters({"tokenid": "Token already exists."})
    token = Token(secret=str(UUID(bytes=random_bytes(16), version=4)))
    user.tokens[tokenid] = token
    _apply(token, change)
    state.changed()
    info: dict[str, object] = {"privsep": 1, **_as_sent(change)}
    if not token.comment:
        info.pop("comment", None)
    return {"full-tokenid": owner.authid, "info": info, "value": token.secret}


def update_token(state: AccessState, owner: Caller, change: TokenChange) -> dict[str, object]:
    """Changes what is said about a token, and shows the result."""
    token = existing_token(state, owner.userid, owner.tokenid or "")
    with failing("updating token info failed"):
        for name in change.delete:
            if name != "comment":
                raise bad_parameters({"delete": f"unknown option '{name}'"})
    if state.profile is Profile.PVE_8_4 and not change.comment:
        change = TokenChange(privsep=change.privsep, expire=change.expire)
    _apply(token, change)
    if change.delete:
        token.comment = ""
    state.changed()
    shown = {**token_info(token), **_as_sent(change)}
    if not token.comment:
        shown.pop("comment", None)
    return shown


def delete_token(state: AccessState, owner: Caller) -> None:
    """Deletes a token and its entries."""
    existing_token(state, owner.userid, owner.tokenid or "")
    del state.users[owner.userid].tokens[owner.tokenid or ""]
    forget_token(state, owner)
    state.changed()


def token_info(token: Token) -> dict[str, object]:
    """What is said about a token, without its secret."""
    info: dict[str, object] = {"expire": token.expire, "privsep": int(token.privsep)}
    if token.comment:
        info["comment"] = token.comment
    return info


def token_rows(state: AccessState, userid: str) -> list[dict[str, object]]:
    """The tokens of a user."""
    split_userid(userid)
    tokens = existing_user(state, userid).tokens
    return [{"tokenid": name, **token_info(tokens[name])} for name in sorted(tokens)]


def _apply(token: Token, change: TokenChange) -> None:
    if change.privsep is not None:
        token.privsep = change.privsep
    if change.expire is not None:
        token.expire = change.expire
    if change.comment is not None:
        token.comment = "" if change.comment == "0" else change.comment


def _as_sent(change: TokenChange) -> dict[str, object]:
    """The values of the request itself: a reply to a change repeats them as text."""
    sent: dict[str, object] = {}
    if change.privsep is not None:
        sent["privsep"] = str(int(change.privsep))
    if change.expire is not None:
        sent["expire"] = str(change.expire)
    if change.comment is not None:
        sent["comment"] = change.comment
    return sent
