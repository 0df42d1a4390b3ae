"""Users: made, changed, deleted and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stockman_lab.pve.access.acl import forget_user
from stockman_lab.pve.access.identity import Caller, existing_user, split_userid
from stockman_lab.pve.access.passwords import Scramble, store_password
from stockman_lab.pve.access.permissions import Authority, groups_with, members_of
from stockman_lab.pve.access.state import ROOT, AccessState, Token, User
from stockman_lab.pve.access.tokens import token_info
from stockman_lab.pve.errors import die, failing

_TEXTS = ("firstname", "lastname", "email", "comment", "keys")


@dataclass(frozen=True, slots=True)
class UserChange:
    """What is said about a user; None: nothing is said."""

    enable: bool | None = None
    expire: int | None = None
    firstname: str | None = None
    lastname: str | None = None
    email: str | None = None
    comment: str | None = None
    keys: str | None = None
    groups: Sequence[str] | None = None
    append: bool = False
    """Whether the groups are added to the present ones, instead of replacing them."""


def create_user(
    state: AccessState,
    userid: str,
    change: UserChange,
    password: Scramble | None = None,
) -> None:
    """Adds a user, with a password or without."""
    with failing("create user failed"):
        account, realm = split_userid(userid)
        if userid in state.users:
            raise die(f"user '{userid}' already exists")
        user = User()
        if password is not None:
            store_password(state, user, (account, realm), password)
        _check_groups(state, change)
    state.users[userid] = user
    _apply(state, userid, change)


def update_user(state: AccessState, userid: str, change: UserChange) -> None:
    """Changes what is said about a user."""
    split_userid(userid)
    with failing("update user failed"):
        existing_user(state, userid)
        _check_groups(state, change)
    _apply(state, userid, change)


def delete_user(state: AccessState, userid: str) -> None:
    """Deletes a user with tokens, memberships and entries.

    Nothing happens if there is no such user, and root comes back at once without its details.
    """
    split_userid(userid)
    state.users.pop(userid, None)
    if userid == ROOT:
        state.users[ROOT] = User()
    for group in state.groups.values():
        group.members.discard(userid)
    forget_user(state, userid)
    state.changed()


def user_info(state: AccessState, userid: str) -> dict[str, object]:
    """One user in full."""
    user = existing_user(state, userid)
    tokens = {name: token_info(token) for name, token in sorted(user.tokens.items())}
    return {**_fields(user), "groups": state.groups_of(userid), "tokens": tokens or None}


def user_rows(
    authority: Authority, caller: Caller, *, full: bool = False, enabled: bool | None = None
) -> list[dict[str, object]]:
    """The users that the caller may see: always oneself, others by their groups."""
    state = authority.state
    privs = ("User.Modify", "Sys.Audit")
    if authority.allowed(caller, "/access/groups", *privs, any_of=True):
        visible = set(state.users)
    else:
        visible = members_of(state, groups_with(authority, caller, *privs)) | {caller.authid}
    return [
        _row(state, userid, full=full)
        for userid, user in sorted(state.users.items())
        if userid in visible and enabled in (None, user.enabled)
    ]


def _row(state: AccessState, userid: str, *, full: bool) -> dict[str, object]:
    user = state.users[userid]
    row = {**_fields(user), "userid": userid}
    if full:
        row["groups"] = ",".join(state.groups_of(userid))
        row["tokens"] = _token_rows(user.tokens) or None
    realm = state.realms.get(userid.rpartition("@")[2])
    if realm is not None:
        row["realm-type"] = realm.kind
    return row


def _token_rows(tokens: dict[str, Token]) -> list[dict[str, object]]:
    return [{"tokenid": name, **token_info(token)} for name, token in sorted(tokens.items())]


def _fields(user: User) -> dict[str, object]:
    fields: dict[str, object] = {"enable": int(user.enabled), "expire": user.expire}
    fields.update({name: value for name in _TEXTS if (value := getattr(user, name))})
    if user.comment or user.keys:
        # An empty field of `user.cfg` is read as empty text if another one follows it.
        fields.setdefault("email", "")
    return fields


def _check_groups(state: AccessState, change: UserChange) -> None:
    for group in change.groups or ():
        if group not in state.groups:
            raise die(f"no such group '{group}'")


def _apply(state: AccessState, userid: str, change: UserChange) -> None:
    user = state.users[userid]
    if change.enable is not None:
        user.enabled = change.enable
    if change.expire is not None:
        user.expire = change.expire
    for name in _TEXTS:
        value = getattr(change, name)
        if value is not None:
            setattr(user, name, "" if value == "0" else value)
    if change.groups is not None:
        for name, group in state.groups.items():
            if name in change.groups:
                group.members.add(userid)
            elif not change.append:
                group.members.discard(userid)
    state.changed()
