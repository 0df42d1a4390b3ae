"""Ids of members and clusters, which etcd computes from addresses and a token."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_ID_SIZE = 8


def member_id(peer_urls: Iterable[str], token: str = "") -> int:
    """Return the id of an initial or restored member. Talos uses an empty token."""
    return _leading_number("".join(sorted(peer_urls)).encode() + token.encode())


def added_member_id(peer_urls: Iterable[str], now: float) -> int:
    """Return the id of a member that is added later, derived from the time instead of the token."""
    return member_id(peer_urls, str(int(now)))


def cluster_id(members: Iterable[int]) -> int:
    """Return the id of a cluster from its initial members."""
    return _leading_number(b"".join(member.to_bytes(_ID_SIZE, "big") for member in sorted(members)))


def hex_id(number: int) -> str:
    """Return an id as 16 hex digits, as clients show it."""
    return f"{number:016x}"


def _leading_number(data: bytes) -> int:
    return int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[:_ID_SIZE], "big")
