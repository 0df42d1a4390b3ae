"""Groups: made, changed, deleted and shown."""

from __future__ import annotations

from stockman_lab.pve.access.acl import forget_group
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority, groups_with
from stockman_lab.pve.access.state import AccessState, Group
from stockman_lab.pve.errors import die, failing


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
        group = _existing(state, groupid)
    if comment is not None:
        group.comment = comment
    state.changed()


def delete_group(state: AccessState, groupid: str) -> None:
    """Deletes a group and its entries; its members stay."""
    with failing("delete group failed"):
        _existing(state, groupid)
    del state.groups[groupid]
    forget_group(state, groupid)
    state.changed()


def group_info(state: AccessState, groupid: str) -> dict[str, object]:
    """One group with its members."""
    group = _existing(state, groupid)
    return {"members": sorted(group.members), **_comment(group)}


def group_rows(authority: Authority, caller: Caller) -> list[dict[str, object]]:
    """The groups that the caller may see."""
    visible = groups_with(authority, caller, "User.Modify", "Sys.Audit", "Group.Allocate")
    groups = authority.state.groups
    return [
        {
            "groupid": name,
            **_comment(groups[name]),
            "users": ",".join(sorted(groups[name].members)),
        }
        for name in sorted(visible)
    ]


def _existing(state: AccessState, groupid: str) -> Group:
    group = state.groups.get(groupid)
    if group is None:
        raise die(f"group '{groupid}' does not exist")
    return group


def _comment(group: Group) -> dict[str, object]:
    return {"comment": group.comment} if group.comment else {}
