"""Users, groups, roles and tokens: created, changed, deleted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from stockman_lab.pve.access.acl import forget_group, forget_role, forget_token, forget_user
from stockman_lab.pve.access.identity import Caller, existing_token, existing_user, split_userid
from stockman_lab.pve.access.login import Scramble, store_password
from stockman_lab.pve.access.permissions import Authority, groups_with, members_of
from stockman_lab.pve.access.state import (
    ROOT,
    AccessState,
    Group,
    Profile,
    RandomBytes,
    Token,
    User,
    privileges,
)
from stockman_lab.pve.errors import bad_parameters, die, failing


def create_group(state: AccessState, groupid: str, comment: str | None = None) -> None:
    """Adds a group without members."""
    with failing("create group failed"):
        if groupid in state.groups:
            raise die(f"group '{groupid}' already exists")
    state.groups[groupid] = Group(comment=comment or "")
    state.changed()


def update_group(state: AccessState, groupid: str, comment: str | None) -> None:
    """Changes the comment of a group."""
    with failing("update group failed"):
        group = _existing_group(state, groupid)
    if comment is not None:
        group.comment = comment
    state.changed()


def delete_group(state: AccessState, groupid: str) -> None:
    """Deletes a group and its entries; its members stay."""
    with failing("delete group failed"):
        _existing_group(state, groupid)
    del state.groups[groupid]
    forget_group(state, groupid)
    state.changed()


def group_info(state: AccessState, groupid: str) -> dict[str, object]:
    """One group with its members."""
    group = _existing_group(state, groupid)
    return {"members": sorted(group.members), **_group_comment(group)}


def group_rows(authority: Authority, caller: Caller) -> list[dict[str, object]]:
    """The groups that the caller may see."""
    visible = groups_with(authority, caller, "User.Modify", "Sys.Audit", "Group.Allocate")
    groups = authority.state.groups
    return [
        {
            "groupid": name,
            **_group_comment(groups[name]),
            "users": ",".join(sorted(groups[name].members)),
        }
        for name in sorted(visible)
    ]


def _existing_group(state: AccessState, groupid: str) -> Group:
    group = state.groups.get(groupid)
    if group is None:
        raise die(f"group '{groupid}' does not exist")
    return group


def _group_comment(group: Group) -> dict[str, object]:
    return {"comment": group.comment} if group.comment else {}


def create_role(state: AccessState, roleid: str, privs: Iterable[str] = ()) -> None:
    """Adds a role."""
    if roleid.lower().startswith("pve"):
        wrong = "cannot use role ID starting with the (case-insensitive) 'PVE' namespace"
        raise bad_parameters({"roleid": wrong})
    with failing("create role failed"):
        if state.role(roleid) is not None:
            raise die(f"role '{roleid}' already exists")
        held = _parse_privileges(state, privs)
    state.roles[roleid] = held
    state.changed()


def update_role(
    state: AccessState, roleid: str, privs: Iterable[str] = (), *, append: bool = False
) -> None:
    """Replaces the privileges of a role, or adds some."""
    if _is_built_in(state, roleid):
        raise die(f"auto-generated role '{roleid}' cannot be modified")
    with failing("update role failed"):
        _check_role_exists(state, roleid)
        held = _parse_privileges(state, privs)
    state.roles[roleid] = state.roles[roleid] | held if append else held
    state.changed()


def delete_role(state: AccessState, roleid: str) -> None:
    """Deletes a role, and with it the entries that gave it to somebody."""
    if _is_built_in(state, roleid):
        raise die(f"auto-generated role '{roleid}' cannot be deleted")
    with failing("delete role failed"):
        _check_role_exists(state, roleid)
    del state.roles[roleid]
    forget_role(state, roleid)
    state.changed()


def role_info(state: AccessState, roleid: str) -> dict[str, int]:
    """The privileges of a role."""
    _check_role_exists(state, roleid)
    return dict.fromkeys(sorted(state.role(roleid) or ()), 1)


def role_rows(state: AccessState) -> list[dict[str, object]]:
    """All roles, built-in ones and others."""
    return [
        {
            "roleid": name,
            "privs": ",".join(sorted(state.role(name) or ())),
            "special": int(_is_built_in(state, name)),
        }
        for name in sorted({*privileges(state.profile).roles, *state.roles})
    ]


def _is_built_in(state: AccessState, roleid: str) -> bool:
    return roleid in privileges(state.profile).roles


def _check_role_exists(state: AccessState, roleid: str) -> None:
    if state.role(roleid) is None:
        raise die(f"role '{roleid}' does not exist")


def _parse_privileges(state: AccessState, privs: Iterable[str]) -> set[str]:
    held = set()
    for priv in privs:
        if priv not in privileges(state.profile).all:
            raise die(f"invalid privilege '{priv}'")
        held.add(priv)
    return held


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
    _apply_token(token, change)
    state.changed()
    info: dict[str, object] = {"privsep": 1, **_token_as_sent(change)}
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
    _apply_token(token, change)
    if change.delete:
        token.comment = ""
    state.changed()
    shown = {**token_info(token), **_token_as_sent(change)}
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


def _apply_token(token: Token, change: TokenChange) -> None:
    if change.privsep is not None:
        token.privsep = change.privsep
    if change.expire is not None:
        token.expire = change.expire
    if change.comment is not None:
        token.comment = "" if change.comment == "0" else change.comment


def _token_as_sent(change: TokenChange) -> dict[str, object]:
    """The values of the request itself: a reply to a change repeats them as text."""
    sent: dict[str, object] = {}
    if change.privsep is not None:
        sent["privsep"] = str(int(change.privsep))
    if change.expire is not None:
        sent["expire"] = str(change.expire)
    if change.comment is not None:
        sent["comment"] = change.comment
    return sent


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
    _apply_user(state, userid, change)


def update_user(state: AccessState, userid: str, change: UserChange) -> None:
    """Changes what is said about a user."""
    split_userid(userid)
    with failing("update user failed"):
        existing_user(state, userid)
        _check_groups(state, change)
    _apply_user(state, userid, change)


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
    return {**_user_fields(user), "groups": state.groups_of(userid), "tokens": tokens or None}


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
        _user_row(state, userid, full=full)
        for userid, user in sorted(state.users.items())
        if userid in visible and enabled in (None, user.enabled)
    ]


def _user_row(state: AccessState, userid: str, *, full: bool) -> dict[str, object]:
    user = state.users[userid]
    row = {**_user_fields(user), "userid": userid}
    if full:
        row["groups"] = ",".join(state.groups_of(userid))
        row["tokens"] = _token_rows(user.tokens) or None
    realm = state.realms.get(userid.rpartition("@")[2])
    if realm is not None:
        row["realm-type"] = realm.kind
    return row


def _token_rows(tokens: dict[str, Token]) -> list[dict[str, object]]:
    return [{"tokenid": name, **token_info(token)} for name, token in sorted(tokens.items())]


def _user_fields(user: User) -> dict[str, object]:
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


def _apply_user(state: AccessState, userid: str, change: UserChange) -> None:
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
