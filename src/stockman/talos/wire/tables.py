"""Tables of the Talos API: messages, enums and services, and the minors that have them.

A table row is a name, its facts, and the minors it applies to (`1.12-1.14`) unless to all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from stockman.model.package_file import read_package_bytes

MINORS = ("1.11", "1.12", "1.13", "1.14")

FIELD_FACTS = 4
"""Name, number, type, label."""
VALUE_FACTS = 2
"""Name, number."""
METHOD_FACTS = 4
"""Name, request, response, which sides stream (`c`, `s`)."""


@cache
def packages() -> dict[str, dict[str, dict[str, Any]]]:
    """Return package -> messages, enums or services -> full name -> minors and rows."""
    text = read_package_bytes("stockman.talos.wire", "tables.json")
    tables: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return tables


def package_entries(package: str, kind: str, minor: str) -> Iterator[tuple[str, list[list[Any]]]]:
    """Yield the entries of a package in a minor, with all their rows."""
    for name, (span, rows) in packages()[package].get(kind, {}).items():
        if minor_matches(span, minor):
            yield name, rows


def matching_rows(rows: list[list[Any]], facts: int, minor: str) -> Iterator[list[Any]]:
    """Yield the rows that apply to a minor."""
    for row in rows:
        if len(row) == facts or minor_matches(row[facts], minor):
            yield row


def minor_matches(spans: str, minor: str) -> bool:
    """Whether a minor is in the listed spans; an empty text means all minors."""
    if not spans:
        return True
    position = MINORS.index(minor)
    for span in spans.split():
        first, _, last = span.partition("-")
        if MINORS.index(first) <= position <= MINORS.index(last):
            return True
    return False
