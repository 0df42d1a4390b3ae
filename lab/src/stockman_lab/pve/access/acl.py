"""The access control list: who holds which role on which path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stockman_lab.pve.access.identity import Caller, existing_token, split_tokenid, split_userid
from stockman_lab.pve.access.permissions import Authority, is_valid, normalise_path
from stockman_lab.pve.access.state import NO_ACCESS, ROOT, AccessState, AclNode
from stockman_lab.pve.errors import bad_parameters, die, failing

_OWN_RIGHT = {
    "/storage/": "Datastore.Allocate",
    "/vms/": "VM.Allocate",
    "/pool/": "Pool.Allocate",
}
"""Who may allocate a thing may also hand out what they hold on it."""


@dataclass(frozen=True, slots=True)
class AclChange:
    """Entries to add to a path, or to take from it."""

    path: str
    roles: Sequence[str]
    users: Sequence[str] = ()
    groups: Sequence[str] = ()
    tokens: Sequence[str] = ()
    propagate: bool = True
    delete: bool = False


def acl_rows(authority: Authority, caller: Caller) -> list[dict[str, object]]:
    """The entries that the caller may change, or all of them for an auditor."""
    audits = authority.allowed(caller, "/access", "Sys.Audit")
    rows: list[dict[str, object]] = []
    for path in sorted(authority.state.acl, key=lambda path: path.split("/")):
        if audits or check_may_change(authority, caller, path, quiet=True):
            rows.extend(_rows(path, authority.state.acl[path]))
    return rows


def check_may_change(authority: Authority, caller: Caller, path: str, *, quiet: bool) -> bool:
    """Refuses who may not change the entries of a path; `quiet` only answers."""
    own = (right for prefix, right in _OWN_RIGHT.items() if path.startswith(prefix))
    rights = ("Permissions.Modify", *own)
    if quiet:
        return authority.allowed(caller, path, *rights, any_of=True)
    authority.check(caller, path, *rights, any_of=True)
    return True


def change_acl(authority: Authority, caller: Caller, change: AclChange) -> None:
    """Adds entries to the list, or takes them out: all of them or none."""
    if not (change.users or change.groups or change.tokens):
        wrong = "either 'users', 'groups' or 'tokens' is required."
        raise bad_parameters(dict.fromkeys(("users", "groups", "tokens"), wrong))
    state = authority.state
    path = normalise_path(change.path)
    if path is None or not (change.delete or is_valid(path, state.profile)):
        raise bad_parameters({"path": f"invalid ACL path '{change.path}'"})
    with failing("ACL update failed"):
        for role in change.roles:
            _check_role(authority, caller, path, change, role)
            _check_holders(state, change)
    _write(state, path, change)
    state.changed()


def forget_role(state: AccessState, role: str) -> None:
    """Takes a role out of all entries."""
    for node in state.acl.values():
        for holders in (node.users, node.groups, node.tokens):
            for roles in holders.values():
                roles.pop(role, None)
    _drop_empty(state)


def forget_group(state: AccessState, group: str) -> None:
    """Takes the entries of a group out of the list."""
    for node in state.acl.values():
        node.groups.pop(group, None)
    _drop_empty(state)


def forget_user(state: AccessState, userid: str) -> None:
    """Takes the entries of a user, and of the tokens of that user, out of the list."""
    for node in state.acl.values():
        node.users.pop(userid, None)
        for authid in [token for token in node.tokens if token.startswith(f"{userid}!")]:
            del node.tokens[authid]
    _drop_empty(state)


def forget_token(state: AccessState, token: Caller) -> None:
    """Takes the entries of a token out of the list."""
    for node in state.acl.values():
        node.tokens.pop(token.authid, None)
    _drop_empty(state)


def forget_path(state: AccessState, path: str) -> None:
    """Takes out the entries of a path and of all below it, when what it names is gone."""
    for found in [found for found in state.acl if f"{found}/".startswith(f"{path}/")]:
        del state.acl[found]
    state.changed()


def forget_pool(state: AccessState, pool: str) -> None:
    """Takes out the entries of a pool. Those of a nested pool stay behind, as in the real one."""
    if "/" not in pool:
        forget_path(state, f"/pool/{pool}")


def _rows(path: str, node: AclNode) -> list[dict[str, object]]:
    kinds: tuple[tuple[str, Mapping[str, Mapping[str, bool]]], ...] = (
        ("user", node.users),
        ("group", node.groups),
        ("token", node.tokens),
    )
    return [
        {"path": path, "type": kind, "ugid": holder, "roleid": role, "propagate": int(propagate)}
        for kind, holders in kinds
        for holder in sorted(holders)
        for role, propagate in sorted(holders[holder].items())
    ]


def _check_role(
    authority: Authority, caller: Caller, path: str, change: AclChange, role: str
) -> None:
    privileges = authority.state.role(role)
    if privileges is None:
        raise die(f"role '{role}' does not exist")
    held = authority.permissions(caller, path)
    if "Permissions.Modify" in held:
        return
    verb = "remove" if change.delete else "add"
    if any(priv not in held for priv in privileges):
        raise bad_parameters(
            {
                "role": f"Cannot {verb} role '{role}' - requires 'Permissions.Modify'"
                " or superset of privileges."
            }
        )
    if change.propagate and not change.delete and not all(held[priv] for priv in privileges):
        raise bad_parameters(
            {
                "role": f"Cannot {verb} role '{role}' with propagation - requires"
                " 'Permissions.Modify' or propagated superset of privileges."
            }
        )
    if role == NO_ACCESS:
        raise bad_parameters(
            {"role": f"Cannot {verb} role '{role}' - requires 'Permissions.Modify'"}
        )


def _check_holders(state: AccessState, change: AclChange) -> None:
    for group in change.groups:
        if group not in state.groups:
            raise die(f"group '{group}' does not exist")
    for userid in change.users:
        split_userid(userid)
        if userid not in state.users:
            raise die(f"user '{userid}' does not exist")
    for tokenid in change.tokens:
        token = split_tokenid(tokenid)
        existing_token(state, token.userid, token.tokenid or "")


def _write(state: AccessState, path: str, change: AclChange) -> None:
    node = state.acl.setdefault(path, AclNode())
    # Root holds everything anyway; its entries are never written.
    users = [userid for userid in change.users if userid != ROOT]
    for named, holders in (
        (change.groups, node.groups),
        (users, node.users),
        (change.tokens, node.tokens),
    ):
        for holder in named:
            roles = holders.setdefault(holder, {})
            for role in change.roles:
                if change.delete:
                    roles.pop(role, None)
                else:
                    roles[role] = change.propagate
    _drop_empty(state)


def _drop_empty(state: AccessState) -> None:
    for path, node in list(state.acl.items()):
        for holders in (node.users, node.groups, node.tokens):
            for holder in [holder for holder, roles in holders.items() if not roles]:
                del holders[holder]
        if not (node.users or node.groups or node.tokens):
            del state.acl[path]
