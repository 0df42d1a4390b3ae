"""Formats of names and numbers: guests, nodes, storages, groups, snapshots."""

from __future__ import annotations

import re

from stockman_lab.pve.schema.named.checker import Checker, like
from stockman_lab.pve.schema.perl import is_true, split_list

LABEL = r"[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?"
TAG = r"[a-z0-9_][a-z0-9_\-\+\.]*"
_ID = re.compile(r"[a-z][a-z0-9\-_.]*[a-z0-9]$", re.IGNORECASE)
_BRIDGE = like(r"[-_.\w\d]+$", "invalid bridge ID '{}'")
_STARTUP = re.compile(r"(?:(order=)?\d+|up=\d+|down=\d+)$")
_SIZE = {
    "8.4": r"\d+(\.\d+)?[KMGT]?$",
    "9.1": r"\d+(\.\d+)?([KMGT](?:iB)?)?$",
}


def identifier(what: str, profile: str) -> Checker:
    """A checker of identifiers such as those of storages."""

    def check(text: str) -> str | None:
        if len(text) < 2 and profile != "8.4":
            return f"{what} ID '{text}' cannot be shorter than 2 characters"
        return None if _ID.match(text) else f"{what} ID '{text}' contains illegal characters"

    return check


def startup_order(text: str) -> str | None:
    """`order=1,up=30,down=60`; the number alone is the order."""
    pieces = [piece for piece in text.split(",") if piece and not piece.isspace()]
    if text in {"", "0"} or not all(_STARTUP.match(piece) for piece in pieces):
        return "unable to parse startup options"
    return None


def pairs(ids: Checker) -> Checker:
    """A checker of one entry of a mapping: `1`, `target` or `source:target`."""

    def check(text: str) -> str | None:
        problem = _mapping_problem(split_list(text), ids) if is_true(text) else None
        return None if problem is None else f"{problem}\n"

    return check


def _mapping_problem(entries: list[str], ids: Checker) -> str | None:
    sources: set[str] = set()
    others: list[str] = []
    for entry in entries:
        source, colon, target = entry.partition(":")
        pair = bool(colon and source and target and ":" not in target)
        for name in (source, target) if pair else (entry,):
            if (pair or entry != "1") and (problem := ids(name)) is not None:
                return f"entry '{entry}' contains invalid ID - {problem}\n"
        if pair and source in sources:
            return f"duplicate mapping for source '{source}'"
        if pair:
            sources.add(source)
        elif entry != "1" and any(other != "1" for other in others):
            return "default target ID can only be provided once"
        else:
            others.append(entry)
    if "1" in others and (sources or len(set(others)) > 1):
        return "identity mapping cannot be combined with other mappings"
    return None


def checkers(profile: str) -> dict[str, Checker]:
    """The checkers of names, by format."""
    storage = identifier("storage", profile)
    return {
        "pve-configid": like(
            r"[a-z][a-z0-9_-]+$", "invalid configuration ID '{}'", ignore_case=True
        ),
        "pve-vmid": like(r"[1-9][0-9]{2,8}$", "value does not look like a valid VM ID"),
        "pve-node": like(f"{LABEL}$", "value does not look like a valid node name"),
        "pve-storage-id": storage,
        "acme-plugin-id": identifier("ACME plugin", profile),
        "pve-bridge-id": _BRIDGE,
        "storage-pair": pairs(storage),
        "bridge-pair": pairs(_BRIDGE),
        "pve-tag": like(f"{TAG}$", "invalid characters in tag", ignore_case=True),
        "pve-startup-order": startup_order,
        "disk-size": like(_SIZE[profile], "value does not look like a valid disk size: {}"),
        "pve-task-status-type": like(
            r"(ok|error|warning|unknown)$", "invalid status '{}'", ignore_case=True
        ),
        "urlencoded": like(r"[-%a-zA-Z0-9_.!~*'()]*$", "invalid urlencoded string: {}"),
        "graphite-path": like(
            rf"({LABEL}\.)*{LABEL}$", "value does not look like a valid graphite path"
        ),
    }
