"""Lists of firewalls with their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

NUMBERS = ("enable", "ipversion", "nomatch")


def digest_of(entries: Iterable[Mapping[str, str]]) -> str:
    """The digest of a list."""
    sha1 = hashlib.sha1(usedforsecurity=False)
    for entry in entries:
        for key in sorted(entry):
            sha1.update(f"{key}:{entry[key]}\n".encode("utf-8", "surrogatepass"))
    return sha1.hexdigest()


def rows_of(entries: list[dict[str, str]]) -> list[dict[str, object]]:
    """Entries in their kinds, each with the digest of all."""
    digest = digest_of(entries)
    return [row_of(entry) | {"digest": digest} for entry in entries]


def row_of(entry: Mapping[str, str]) -> dict[str, object]:
    return {key: int(value) if key in NUMBERS else value for key, value in entry.items()}
