"""Permissions seen as a whole: all paths of a caller, and what the web page may offer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman_lab.pve.access.identity import Caller, caller_named
from stockman_lab.pve.access.paths import normalised
from stockman_lab.pve.access.permissions import Authority, Held

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
_TOP = re.compile(r"/(\w+)")

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
    asked = caller if authid is None else caller_named(authid)
    owns_it = asked is not None and asked.userid == caller.userid and caller.tokenid is None
    if asked != caller and not owns_it:
        authority.check(caller, "/access", "Sys.Audit")
    if not path:
        return {} if asked is None else effective_permissions(authority, asked)
    held = None if asked is None else authority.permissions(asked, normalised(path) or path)
    return {path: _numbers(held or {})}


def capabilities(authority: Authority, caller: Caller) -> Shown:
    """What a web page may offer to somebody who has just logged in."""
    offered: dict[str, dict[str, int]] = {area: {} for area in _OFFERS}
    for path in (*_ALWAYS_OFFERED, *_entry_paths(authority)):
        top = _TOP.match(path)
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
