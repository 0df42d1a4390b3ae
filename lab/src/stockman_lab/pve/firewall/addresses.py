"""Addresses in rules, aliases and sets."""

from __future__ import annotations

import re
from ipaddress import ip_network

from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import die

_REFERENCE = re.compile(r"(dc/|guest/)?([A-Za-z][A-Za-z0-9\-_]+)")
SET = re.compile(r"\+(guest/|dc/|sdn/)?([A-Za-z][A-Za-z0-9\-_]+)")


def version_of(text: str) -> int:
    """4 or 6, of an address, a network, a range or a list; 0: it is none of those."""
    first = text.split(",", maxsplit=1)[0].partition("-")[0]
    try:
        return ip_network(first, strict=False).version
    except ValueError:
        return 0


def clean(text: str) -> str:
    """An address as it was given, or a network without host bits."""
    address, slash, _ = text.partition("/")
    if not slash:
        return text
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return text
    return without_whole(f"{found}" if found.prefixlen != found.max_prefixlen else f"{address}/")


def without_whole(text: str) -> str:
    """An address without a length that means one host."""
    return text.removesuffix("/32" if "." in text else "/128").removesuffix("/")


def alias_in(text: str) -> tuple[str, str] | None:
    """Scope and name of an alias; None: it is an address, a set or a list."""
    found = _REFERENCE.fullmatch(text)
    return (found[1] or "", found[2].lower()) if found else None


def require_alias(text: str, cluster: Firewall, own: Firewall) -> None:
    """Refuse a name that no alias has."""
    alias = alias_in(text)
    if alias is not None and not resolve(alias, cluster, own):
        raise die(f"no such alias '{text}'")


def resolve(reference: tuple[str, str], cluster: Firewall, own: Firewall) -> dict[str, str]:
    """The alias that is meant; empty where there is none."""
    scope, name = reference
    if scope != "dc/" and name in own.aliases:
        return own.aliases[name]
    return cluster.aliases.get(name, {}) if scope != "guest/" else {}
