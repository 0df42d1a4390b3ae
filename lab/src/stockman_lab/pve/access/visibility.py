"""Whom a caller may see and change, by the groups that they belong to."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.state import AccessState


def groups_with(authority: Authority, caller: Caller, *privs: str) -> set[str]:
    """The groups on which the caller holds any of these privileges."""
    return {
        group
        for group in authority.state.groups
        if authority.allowed(caller, f"/access/groups/{group}", *privs, any_of=True)
    }


def members_of(state: AccessState, groups: Iterable[str]) -> set[str]:
    """The users that belong to any of these groups."""
    return {member for group in groups for member in state.groups[group].members}
