"""Which privileges a caller holds on a path."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Protocol

from stockman_lab.pve.access.identity import Caller, parse_caller
from stockman_lab.pve.access.state import NO_ACCESS, ROOT, AccessState, AclNode, Profile, privileges
from stockman_lab.pve.errors import ApiError, die

_SLASHES = re.compile(r"/+")
_NORMAL = re.compile(r"(?:/[A-Za-z0-9.\-_]+)+\Z")
_ALLOWED = re.compile(r"[A-Za-z0-9.\-_/]+\Z")

_NAME = r"[A-Za-z0-9.\-_]+"
_EVERYWHERE = (
    r"/",
    rf"/access(?:/groups(?:/{_NAME})?|/realm(?:/{_NAME})?)?",
    rf"/nodes(?:/{_NAME})?",
    rf"/pool(?:/{_NAME}){{0,3}}",
    r"/sdn",
    r"/sdn/controllers(?:/[A-Za-z0-9_\-]+)?",
    r"/sdn/(?:dns|ipams)(?:/[A-Za-z0-9]+)?",
    rf"/sdn/zones(?:/{_NAME}(?:/{_NAME}(?:/[1-9][0-9]{{0,3}})?)?)?",
    rf"/storage(?:/{_NAME})?",
    r"/vms(?:/[1-9][0-9]{2,})?",
    rf"/mapping(?:/{_NAME}){{0,2}}",
)
_SINCE_9 = (r"/sdn/fabrics(?:/[A-Za-z0-9]+)?",)


def normalise_path(path: str) -> str | None:
    """The one way to write a path; None: it holds characters that no path may hold."""
    if _NORMAL.match(path):
        return path
    if not path or path == "0":
        return None
    path = _SLASHES.sub("/", path).removesuffix("/")
    if not path.startswith("/"):
        path = f"/{path}"
    return path if _ALLOWED.match(path) else None


def is_valid(path: str, profile: Profile) -> bool:
    """Whether entries may be added to this normalised path."""
    return _valid(profile).match(path) is not None


@cache
def _valid(profile: Profile) -> re.Pattern[str]:
    forms = _EVERYWHERE if profile is Profile.PVE_8_4 else (*_EVERYWHERE, *_SINCE_9)
    return re.compile(rf"(?:{'|'.join(forms)})\Z")


Held = Mapping[str, bool]
"""Privilege, or role, to whether it reaches the paths below."""

_NOTHING: Held = {}
_MOST_REMEMBERED = 200_000
_LONGEST_REMEMBERED = 128
"""A longer path names nothing that exists; it comes from a parameter nobody has checked yet."""


class PoolMembership(Protocol):
    """Which guests and storages belong to which pools."""

    @property
    def version(self) -> int:
        """A number that moves whenever an answer of the others may have changed."""
        ...

    def pools_of(self, path: str) -> Collection[str]:
        """The pools that hold what `/vms/ID` or `/storage/ID` names; nested ones as `a/b`."""
        ...

    def member_paths(self) -> Iterable[str]:
        """The paths of everything that belongs to a pool."""
        ...


class NoPools:
    """A cluster without pools."""

    version = 0

    def pools_of(self, path: str) -> Collection[str]:
        """No pool holds anything."""
        return ()

    def member_paths(self) -> Iterable[str]:
        """Nothing belongs to a pool."""
        return ()


class Authority:
    """Answers what a caller may do. Answers are remembered until the state changes."""

    def __init__(self, state: AccessState, pools: PoolMembership | None = None) -> None:
        self.state = state
        self.pools: PoolMembership = pools or NoPools()
        self._everything: Held = dict.fromkeys(sorted(privileges(state.profile).all), True)
        self._seen = (-1, -1)
        self._forget()

    def permissions(self, caller: Caller, path: str) -> Held:
        """The privileges on a normalised path, each with whether it reaches the paths below.

        An empty path stands for one that cannot be written: nobody but root holds anything there.
        """
        if self.state.version != self._seen[0] or self.pools.version != self._seen[1]:
            self._forget()
        answer = self._answers.get((caller, path))
        if answer is None:
            if len(self._answers) >= _MOST_REMEMBERED:
                self._forget()
            answer = self._compute(caller, path)
            if len(path) <= _LONGEST_REMEMBERED:
                self._answers[caller, path] = answer
        return answer

    def allowed(self, caller: Caller, path: str, *privs: str, any_of: bool = False) -> bool:
        """Whether the caller holds all of these privileges on the path, or any of them."""
        held = self.permissions(caller, path)
        for priv in privs:
            if (priv in held) is any_of:
                return any_of
        return not any_of

    def check(self, caller: Caller, path: str, *privs: str, any_of: bool = False) -> None:
        """Refuses a caller who lacks these privileges on the path."""
        held = self.permissions(caller, path)
        missing = [priv for priv in privs if priv not in held]
        if not missing or (any_of and len(missing) < len(privs)):
            return
        for priv in missing:
            if priv not in self._everything:
                raise die(f"invalid privilege '{priv}'")
        raise permission_error(f"{path}, {'|'.join(privs) if any_of else missing[0]}")

    def _forget(self) -> None:
        self._seen = (self.state.version, self.pools.version)
        self._answers: dict[tuple[Caller, str], Held] = {}
        self._holders: dict[Caller, _Holder] = {}
        self._by_roles: dict[frozenset[tuple[str, bool]], Held] = {}
        self._shared: dict[tuple[int, int], tuple[Held, Held, Held]] = {}
        self._depth = max((path.count("/") for path in self.state.acl), default=0)

    def _compute(self, caller: Caller, path: str) -> Held:
        if caller.is_root:
            return self._everything
        if not path:
            return _NOTHING
        if caller.tokenid is None:
            return self._own(caller, path)
        user = self.state.users.get(caller.userid)
        token = user.tokens.get(caller.tokenid) if user else None
        if token is None:
            return _NOTHING
        if not token.privsep:
            return self.permissions(Caller(caller.userid), path)
        if caller.userid == ROOT:
            return self._own(caller, path)
        return self._common(self.permissions(Caller(caller.userid), path), self._own(caller, path))

    def _own(self, caller: Caller, path: str) -> Held:
        """What the entries for this very caller give, without the limits of its user."""
        holder = self._holders.get(caller)
        if holder is None:
            holder = self._holders[caller] = _Holder(self.state, caller, self._depth)
        pools = self.pools.pools_of(path) if path.startswith(("/vms/", "/storage/")) else ()
        if pools or path in self.state.acl or path == "/":
            return self._privileges(_with_pools(holder, path, pools))
        # Nearly all guests are of this kind: they only inherit, and share one answer.
        parent = path.rpartition("/")[0] or "/"
        held = holder.shared.get(parent)
        if held is None:
            held = self._privileges(holder.roles(path))
            if len(parent) <= _LONGEST_REMEMBERED:
                holder.shared[parent] = held
        return held

    def _privileges(self, roles: Held) -> Held:
        key = frozenset(roles.items())
        by_role = self._by_roles.get(key)
        if by_role is None:
            held: dict[str, bool] = {}
            for role, propagates in roles.items():
                for priv in self.state.role(role) or ():
                    held[priv] = held.get(priv, False) or propagates
            by_role = self._by_roles[key] = dict(sorted(held.items()))
        return by_role

    def _common(self, of_user: Held, of_token: Held) -> Held:
        key = (id(of_user), id(of_token))
        known = self._shared.get(key)
        if known is None:
            common = {
                priv: propagates and of_user[priv]
                for priv, propagates in of_token.items()
                if priv in of_user
            }
            # Kept with its sources: as long as they live, nothing else gets their ids.
            known = self._shared[key] = (common, of_user, of_token)
        return known[0]


def _with_pools(holder: _Holder, path: str, pools: Collection[str]) -> Held:
    roles = holder.roles(path)
    if not pools or NO_ACCESS in roles:
        return roles
    by_pools = {role for pool in pools for role in holder.roles(f"/pool/{pool}")}
    if NO_ACCESS in by_pools:
        return {NO_ACCESS: False}
    return {**dict.fromkeys(by_pools, False), **roles}


class _Holder:
    """The roles of one user, or of one token by itself."""

    def __init__(self, state: AccessState, caller: Caller, depth: int) -> None:
        self._acl = state.acl
        self._authid = caller.authid
        self._is_token = caller.tokenid is not None
        self._groups = () if self._is_token else tuple(state.groups_of(caller.userid))
        self._depth = depth
        self.shared: dict[str, Held] = {}
        """The privileges of everything that lies right below a path and has no entries itself."""

    def roles(self, path: str) -> Held:
        node = self._acl.get(path)
        held = None if node is None else self._assigned(node, final=True)
        if held is None:
            held = _NOTHING if path == "/" else self._inherited(path.rpartition("/")[0] or "/")
        return {NO_ACCESS: held[NO_ACCESS]} if NO_ACCESS in held else held

    def _inherited(self, parent: str) -> Held:
        nothing = _NOTHING
        for prefix in _prefixes(parent, self._depth):
            node = self._acl.get(prefix)
            if node is not None:
                nothing = self._assigned(node, final=False) or nothing
        return nothing

    def _assigned(self, node: AclNode, *, final: bool) -> Held | None:
        """The roles that one path assigns: own entries first, else those of all groups."""
        own = (node.tokens if self._is_token else node.users).get(self._authid, _NOTHING)
        reaching = {role: below for role, below in own.items() if final or below}
        if not reaching:
            reaching = {
                role: below
                for group in self._groups
                for role, below in node.groups.get(group, _NOTHING).items()
                if final or below
            }
        return reaching or None


def _prefixes(path: str, depth: int) -> Iterator[str]:
    """The root, and what lies between it and the path, as deep as entries can lie."""
    yield "/"
    prefix = ""
    for name in path.split("/", depth + 1)[1 : depth + 1]:
        prefix = f"{prefix}/{name}"
        yield prefix


def permission_error(what: str | None = None) -> ApiError:
    """The refusal of a caller who lacks a privilege."""
    return ApiError(403, f"Permission check failed ({what})" if what else "Permission check failed")


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


_ALWAYS_SHOWN = (
    "/",
    "/access",
    "/access/groups",
    "/nodes",
    "/pool",
    "/sdn",
    "/storage",
    "/vms",
)
_ALWAYS_OFFERED = ("/", "/nodes", "/access/groups", "/vms", "/storage", "/sdn", "/mapping")
_OFFERS = {
    "vms": re.compile(r"VM\.|Permissions\.Modify"),
    "access": re.compile(r"(?:User|Group)\.|Permissions\.Modify"),
    "storage": re.compile(r"Datastore\.|Permissions\.Modify"),
    "nodes": re.compile(r"Sys\.|Permissions\.Modify"),
    "sdn": re.compile(r"SDN\.|Permissions\.Modify"),
    "dc": re.compile(r"Sys\.Audit|Sys\.Modify|SDN\."),
    "mapping": re.compile(r"Mapping\.|Permissions\.Modify"),
}
_TOP_OF_PATH = re.compile(r"/(\w+)")

Shown = Mapping[str, Mapping[str, int]]


def effective_permissions(authority: Authority, caller: Caller) -> Shown:
    """Every path on which the caller holds a privilege, with the privileges held there."""
    paths = {*_ALWAYS_SHOWN, *_entry_paths(authority), *authority.pools.member_paths()}
    held = {path: authority.permissions(caller, path) for path in sorted(paths)}
    return {path: _numbers(privs) for path, privs in held.items() if privs}


def permissions_shown(
    authority: Authority, caller: Caller, authid: str | None, path: str | None
) -> Shown:
    """The permissions of a user or token, own or another's, everywhere or on one path."""
    asked = caller if authid is None else parse_caller(authid)
    owns_it = asked is not None and asked.userid == caller.userid and caller.tokenid is None
    if asked != caller and not owns_it:
        authority.check(caller, "/access", "Sys.Audit")
    if not path:
        return {} if asked is None else effective_permissions(authority, asked)
    held = None if asked is None else authority.permissions(asked, normalise_path(path) or path)
    return {path: _numbers(held or {})}


def capabilities(authority: Authority, caller: Caller) -> Shown:
    """What a web page may offer to somebody who has just logged in."""
    offered: dict[str, dict[str, int]] = {area: {} for area in _OFFERS}
    for path in (*_ALWAYS_OFFERED, *_entry_paths(authority)):
        top = _TOP_OF_PATH.match(path)
        area = top[1] if top else "dc"
        for priv in authority.permissions(caller, path):
            for where in _offered_in(area, priv):
                offered[where][priv] = 1
    return offered


def _offered_in(area: str, priv: str) -> list[str]:
    if area == "pool":
        return [where for where in ("vms", "storage") if _OFFERS[where].match(priv)]
    return [area] if area in _OFFERS and _OFFERS[area].match(priv) else []


def _entry_paths(authority: Authority) -> set[str]:
    """The paths that have entries, and all paths above them."""
    paths = set()
    for path in authority.state.acl:
        while path not in paths and path != "/":
            paths.add(path)
            path = path.rpartition("/")[0] or "/"
    return paths


def _numbers(held: Held) -> dict[str, int]:
    return {priv: int(propagates) for priv, propagates in held.items()}
