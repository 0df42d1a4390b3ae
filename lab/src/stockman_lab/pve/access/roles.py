"""Roles: made, changed, deleted and shown."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.pve.access.acl import forget_role
from stockman_lab.pve.access.privileges import privileges
from stockman_lab.pve.access.state import AccessState
from stockman_lab.pve.errors import bad_parameters, die, failing


def create_role(state: AccessState, roleid: str, privs: Iterable[str] = ()) -> None:
    """Adds a role."""
    if roleid.lower().startswith("pve"):
        wrong = "cannot use role ID starting with the (case-insensitive) 'PVE' namespace"
        raise bad_parameters({"roleid": wrong})
    with failing("create role failed"):
        if state.role(roleid) is not None:
            raise die(f"role '{roleid}' already exists")
        held = _verified(state, privs)
    state.roles[roleid] = held
    state.changed()


def update_role(
    state: AccessState, roleid: str, privs: Iterable[str] = (), *, append: bool = False
) -> None:
    """Replaces the privileges of a role, or adds some."""
    if _is_built_in(state, roleid):
        raise die(f"auto-generated role '{roleid}' cannot be modified")
    with failing("update role failed"):
        _check_exists(state, roleid)
        held = _verified(state, privs)
    state.roles[roleid] = state.roles[roleid] | held if append else held
    state.changed()


def delete_role(state: AccessState, roleid: str) -> None:
    """Deletes a role, and with it the entries that gave it to somebody."""
    if _is_built_in(state, roleid):
        raise die(f"auto-generated role '{roleid}' cannot be deleted")
    with failing("delete role failed"):
        _check_exists(state, roleid)
    del state.roles[roleid]
    forget_role(state, roleid)
    state.changed()


def role_info(state: AccessState, roleid: str) -> dict[str, int]:
    """The privileges of a role."""
    _check_exists(state, roleid)
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


def _check_exists(state: AccessState, roleid: str) -> None:
    if state.role(roleid) is None:
        raise die(f"role '{roleid}' does not exist")


def _verified(state: AccessState, privs: Iterable[str]) -> set[str]:
    held = set()
    for priv in privs:
        if priv not in privileges(state.profile).all:
            raise die(f"invalid privilege '{priv}'")
        held.add(priv)
    return held
