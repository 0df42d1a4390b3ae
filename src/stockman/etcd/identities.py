"""Ids of members and clusters, which etcd computes from addresses and a token."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_ID_SIZE = 8


def member_id(peer_urls: Iterable[str], token: str = "") -> int:
    """The id of a member that a cluster begins with or is restored to. Talos has an empty token."""
    return _leading_number("".join(sorted(peer_urls)).encode() + token.encode())


def added_member_id(peer_urls: Iterable[str], now: float) -> int:
    """The id of a member that is added later: not the token counts, but the second."""
    return member_id(peer_urls, str(int(now)))


def cluster_id(members: Iterable[int]) -> int:
    """The id of a cluster, from the members that it begins with."""
    return _leading_number(b"".join(member.to_bytes(_ID_SIZE, "big") for member in sorted(members)))


def hex_id(number: int) -> str:
    """An id as clients show it, and as states of the lab name it: 16 digits."""
    return f"{number:016x}"


def _leading_number(data: bytes) -> int:
    return int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[:_ID_SIZE], "big")
