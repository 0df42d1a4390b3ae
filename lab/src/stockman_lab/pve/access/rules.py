"""The `permissions` blocks of the schema, made ready once and then enforced on every request.

They are enforced before the parameters are verified: a caller without the privilege learns nothing
of what else is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from stockman_lab.pve.access.acl import check_may_change
from stockman_lab.pve.access.identity import Caller, existing_user, split_userid
from stockman_lab.pve.access.parameters import Params, listed, text
from stockman_lab.pve.access.permissions import (
    Authority,
    groups_with,
    members_of,
    normalise_path,
    permission_error,
)

_PIECE = re.compile(r"([^{]+)|\{([^}]+)\}")

Pieces = tuple[tuple[str, str | None], ...]
"""Literal text, or the name of a parameter."""


def path_pieces(path: str) -> Pieces:
    """The pieces of a path."""
    return tuple((found[1] or "", found[2]) for found in _PIECE.finditer(path))


def fill_path(pieces: Pieces, params: Params) -> str:
    """The path with the values of the parameters; a missing one, or 0, becomes a dash."""
    return "".join(
        [literal if name is None else _path_value(params, name) for literal, name in pieces]
    )


def _path_value(params: Params, name: str) -> str:
    value = text(params, name)
    return value if value and value != "0" else "-"


Check = Callable[[Authority, Caller, Params, bool], bool]
"""Raises if the caller is refused. With `quiet` it answers False where an `or` may go on asking."""

Rule = Callable[[Authority, "Caller | None", Params], None]
"""Refuses a request; the caller is None where nobody has to log in."""


def rule(permissions: Mapping[str, object] | None) -> Rule:
    """What a `permissions` block of the schema demands; None: the endpoint has no such block."""
    if permissions is None:
        return _only_root
    match permissions.get("user"):
        case "world":
            return _open_to_the_world
        case "all":
            return _open_to_users
    expression = permissions.get("check")
    return _closed if expression is None else _checking_rule(compile_check(expression))


def refuse_token(path: str) -> None:
    """Refuses an API token on an endpoint that wants a ticket (`allowtoken: 0`)."""
    raise permission_error(f"URI '{path}' not available with API token, need proper ticket.\n")


def compile_check(expression: object) -> Check:
    """One check expression of the schema, such as `["perm", "/vms/{vmid}", ["VM.Audit"]]`."""
    match expression:
        case ["and", *parts]:
            return _all_of([compile_check(part) for part in parts])
        case ["or", *parts]:
            return _one_of([compile_check(part) for part in parts])
        case ["perm", str(path), [*privs], *options]:
            return _perm(path, _names(privs), _options(options))
        case ["userid-param", "self"]:
            return _is_oneself
        case ["userid-param", "Realm.AllocateUser"]:
            return _may_allocate_users
        case ["userid-group", [*privs], *options]:
            return _user_group(_names(privs), _options(options))
        case ["perm-modify", str(path)]:
            return _may_change_entries(path)
    raise ValueError(f"no such check: {expression!r}")


def _names(privs: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(priv) for priv in privs)


def _options(flat: Sequence[object]) -> dict[str, object]:
    return {str(key): value for key, value in zip(flat[::2], flat[1::2], strict=True)}


def _only_root(authority: Authority, caller: Caller | None, params: Params) -> None:
    if not _somebody(caller).is_root:
        raise permission_error("user != root@pam")


def _open_to_users(authority: Authority, caller: Caller | None, params: Params) -> None:
    _somebody(caller)


def _open_to_the_world(authority: Authority, caller: Caller | None, params: Params) -> None:
    if caller is not None and not caller.is_root:
        raise permission_error()


def _closed(authority: Authority, caller: Caller | None, params: Params) -> None:
    if not _somebody(caller).is_root:
        raise permission_error()


def _checking_rule(check: Check) -> Rule:
    def enforce(authority: Authority, caller: Caller | None, params: Params) -> None:
        caller = _somebody(caller)
        if not caller.is_root:
            check(authority, caller, params, False)

    return enforce


def _somebody(caller: Caller | None) -> Caller:
    if caller is None:
        raise permission_error("user != null")
    return caller


def _refuse(quiet: bool, what: str | None = None) -> bool:
    if quiet:
        return False
    raise permission_error(what)


def _all_of(parts: Sequence[Check]) -> Check:
    def check(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
        # An `and` inside an `or` is never quiet: its first refusal is the answer.
        for part in parts:
            part(authority, caller, params, False)
        return True

    return check


def _one_of(parts: Sequence[Check]) -> Check:
    def check(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
        if any(part(authority, caller, params, True) for part in parts):
            return True
        return _refuse(quiet)

    return check


def _perm(path: str, privs: tuple[str, ...], options: Mapping[str, object]) -> Check:
    pieces = path_pieces(path)
    any_of = bool(options.get("any"))
    required = options.get("require_param")

    def check(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
        if required is not None and params.get(str(required)) is None:
            return _refuse(quiet)
        where = normalise_path(fill_path(pieces, params)) or ""
        if authority.allowed(caller, where, *privs, any_of=any_of):
            return True
        if not quiet:
            authority.check(caller, where, *privs, any_of=any_of)
        return False

    return check


def _user_group(privs: tuple[str, ...], options: Mapping[str, object]) -> Check:
    names_groups = "groups_param" in options
    user_exists = options.get("groups_param") != "create"

    def check(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
        userid = text(params, "userid") or ""
        if user_exists and not _exists(authority, userid, quiet):
            return False
        if authority.allowed(caller, "/access/groups", *privs, any_of=True):
            return True
        groups = groups_with(authority, caller, *privs)
        if names_groups:
            _check_named_groups(groups, listed(params, "groups"), privs)
        if user_exists and userid not in members_of(authority.state, groups):
            return _refuse(quiet)
        return True

    return check


def _check_named_groups(held: set[str], named: Sequence[str], privs: tuple[str, ...]) -> None:
    if not named:
        raise permission_error(f"/access/groups, {'|'.join(privs)}")
    for group in named:
        if group not in held:
            raise permission_error(f"/access/groups/{group}, {'|'.join(privs)}")


def _exists(authority: Authority, userid: str, quiet: bool) -> bool:
    if quiet:
        return userid in authority.state.users
    existing_user(authority.state, userid)
    return True


def _is_oneself(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
    userid = text(params, "userid") or ""
    split_userid(userid)
    if not _exists(authority, userid, quiet):
        return False
    return caller.authid == userid or _refuse(quiet)


def _may_allocate_users(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
    _, realm = split_userid(text(params, "userid") or "")
    where = f"/access/realm/{realm}"
    if authority.allowed(caller, where, "Realm.AllocateUser"):
        return True
    return _refuse(quiet, f"{where}, Realm.AllocateUser")


def _may_change_entries(path: str) -> Check:
    pieces = path_pieces(path)

    def check(authority: Authority, caller: Caller, params: Params, quiet: bool) -> bool:
        where = normalise_path(fill_path(pieces, params))
        # A path that cannot be written is refused by the endpoint itself, as a bad parameter.
        return where is None or check_may_change(authority, caller, where, quiet=quiet)

    return check
