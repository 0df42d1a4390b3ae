"""What a rule has to be like, told in the words of the real one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.cluster_state import Firewall
from stockman_lab.pve.errors import ApiError, bad_parameters, die
from stockman_lab.pve.firewall.addresses import SET, alias_in, resolve, version_of
from stockman_lab.pve.firewall.macros import preferred

_DIRECTIONS = {
    "ct": ("in", "out", "group"),
    "vm": ("in", "out", "group"),
    "group": ("in", "out", "forward"),
    "cluster": ("in", "out", "forward", "group"),
    "host": ("in", "out", "forward", "group"),
}
_ACTIONS = ("ACCEPT", "DROP", "REJECT")
_GROUP = re.compile(r"[A-Za-z][A-Za-z0-9\-_]+")
_CARD = re.compile(r"net\d+")
_WITH_PORTS = ("udp", "tcp", "dccp", "sctp", "udplite", "17", "6", "33", "132", "136")
_ICMP = ("icmp", "icmpv6", "ipv6-icmp", "1", "58")
_ICMP_VERSIONS = {"icmp": 4, "icmpv6": 6, "ipv6-icmp": 6}


@dataclass(slots=True)
class Around:
    """What a rule may refer to."""

    kind: str
    cluster: Firewall
    own: Firewall


def checked(rule: dict[str, str], around: Around) -> dict[str, str]:
    """A rule that may stand, with what follows from it; raises what is wrong first."""
    found = dict(rule)
    found.pop("ipversion", None)
    _check_kind(found, around.kind)
    _check_card(found, around.kind)
    if "macro" in found:
        name = preferred(found["macro"])
        if not name:
            raise _wrong("macro", f"unknown macro '{found['macro']}'")
        found["macro"] = name
    _check_ports(found)
    version = _version(found, around)
    if version:
        found["ipversion"] = str(version)
    return found


def _wrong(field: str, text: str) -> ApiError:
    return bad_parameters({field: text})


def _check_kind(rule: dict[str, str], kind: str) -> None:
    direction, action = rule.get("type", ""), rule.get("action", "")
    if not direction:
        raise _wrong("type", "missing property")
    if not action:
        raise _wrong("action", "missing property")
    if direction not in _DIRECTIONS[kind]:
        raise _wrong("type", f"invalid rule type '{direction}' for rule_env '{kind}'")
    if direction == "group":
        if not _GROUP.fullmatch(action):
            raise _wrong("action", "invalid characters in security group name")
        return
    if direction == "forward" and action == "REJECT":
        raise _wrong("action", "cannot define REJECT rules on forward chain")
    if action not in _ACTIONS:
        raise _wrong("action", f"unknown action '{action}'")


def _check_card(rule: dict[str, str], kind: str) -> None:
    card = rule.get("iface", "")
    if not card:
        return
    if kind == "group":
        raise _wrong("type", "parameter -i not allowed for this rule type")
    if kind in ("vm", "ct") and not _CARD.fullmatch(card):
        raise _wrong("iface", "value does not match the regex pattern 'net\\d+'")


def _check_ports(rule: dict[str, str]) -> None:
    protocol = rule.get("proto", "")
    is_icmp = protocol in _ICMP
    for field in ("dport", "sport"):
        if field not in rule:
            continue
        if not protocol:
            raise _wrong("proto", f"missing property - '{field}' requires this property")
        if protocol not in _WITH_PORTS and not (is_icmp and field == "dport"):
            raise _wrong(field, f"protocol '{protocol}' does not support ports")
    if "icmp-type" in rule:
        if not is_icmp:
            raise _wrong("proto", "missing property - 'icmp-type' requires this property")
        if "dport" in rule:
            raise _wrong("icmp-type", "'icmp-type' cannot be specified together with 'dport'")


def _version(rule: dict[str, str], around: Around) -> int:
    version = _ICMP_VERSIONS.get(rule.get("proto", ""), 0)
    for field in ("source", "dest"):
        text = rule.get(field, "")
        found = _version_of_field(field, text, around) if text else 0
        if found and version and found != version:
            raise die("detected mixed ipv4/ipv6 addresses in rule")
        version = found or version
    return version


def _version_of_field(field: str, text: str, around: Around) -> int:
    if text.startswith("+"):
        named = SET.fullmatch(text)
        if named is None:
            raise _wrong(field, f"invalid ipset name '{text}'")
        if named[2] not in around.cluster.ipsets and named[2] not in around.own.ipsets:
            raise _wrong(field, f"no such ipset '{named[2]}'")
        return 0
    reference = alias_in(text)
    if reference is None:
        return version_of(text)
    alias = resolve(reference, around.cluster, around.own)
    if not alias:
        raise _wrong(field, f"no such alias '{text}'")
    return version_of(alias["cidr"])
