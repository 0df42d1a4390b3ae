"""A cluster with people in it, for tests of access control."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count

from stockman_lab.pve.access.accounts import (
    TokenChange,
    UserChange,
    create_group,
    create_role,
    create_token,
    create_user,
)
from stockman_lab.pve.access.acl import AclChange, change_acl
from stockman_lab.pve.access.identity import Caller
from stockman_lab.pve.access.permissions import Authority
from stockman_lab.pve.access.state import AccessState, Profile, RandomBytes, fresh_access

ROOT = Caller("root@pam")
ROOT_TOKEN = Caller("root@pam", "all")
ANN = Caller("ann@pve")
ANN_TOKEN = Caller("ann@pve", "narrow")
ANN_FULL_TOKEN = Caller("ann@pve", "full")
BOB = Caller("bob@pve")

NOW = 1_800_000_000


def dice(seed: int = 0) -> RandomBytes:
    """Dice that always fall the same way."""
    numbers = count(seed)

    def random_bytes(size: int) -> bytes:
        return next(numbers).to_bytes(size, "big")

    return random_bytes


@dataclass
class Pools:
    """Pools by name, each with the paths of its members."""

    members: dict[str, set[str]] = field(default_factory=dict)
    version: int = 0

    def pools_of(self, path: str) -> Collection[str]:
        return [pool for pool, paths in self.members.items() if path in paths]

    def member_paths(self) -> Iterable[str]:
        return {path for paths in self.members.values() for path in paths}

    def join(self, pool: str, path: str) -> None:
        self.members.setdefault(pool, set()).add(path)
        self.version += 1


def populated(profile: Profile = Profile.PVE_9_1) -> AccessState:
    """Root, ann and bob, who are `staff`, tokens of ann and root, and two roles of our own."""
    state = fresh_access(profile, dice())
    create_group(state, "staff")
    create_group(state, "night")
    for caller in (ANN, BOB):
        create_user(state, caller.userid, UserChange(groups=["staff"]))
    create_role(state, "Look", ["VM.Audit"])
    create_role(state, "Start", ["VM.PowerMgmt", "VM.Audit"])
    for token, privsep in ((ANN_TOKEN, True), (ANN_FULL_TOKEN, False), (ROOT_TOKEN, True)):
        create_token(state, token, TokenChange(privsep=privsep), dice(100))
    return state


def authority(*entries: str, pools: Mapping[str, set[str]] | None = None) -> Authority:
    """Who may do what by these entries (see `give`) in a populated cluster."""
    access = Authority(populated(), Pools(dict(pools or {})))
    for entry in entries:
        give(access, entry)
    return access


def give(authority: Authority, entry: str) -> None:
    """Adds an entry such as `/vms @staff Look`; a minus after the role: not for paths below."""
    path, holder, role = entry.split()
    change_acl(
        authority,
        ROOT,
        AclChange(
            path=path,
            roles=[role.rstrip("-")],
            users=[] if holder.startswith("@") or "!" in holder else [holder],
            groups=[holder[1:]] if holder.startswith("@") else [],
            tokens=[holder] if "!" in holder else [],
            propagate=not role.endswith("-"),
        ),
    )
