"""Tables of the Talos API: which messages, enums and services there are, and in which minors.

A row is a name, its facts, and where that is not always so, the minors it holds in (`1.12-1.14`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from stockman.model.package_file import package_bytes

MINORS = ("1.11", "1.12", "1.13", "1.14")

FIELD_FACTS = 4
"""Name, number, type, label."""
VALUE_FACTS = 2
"""Name, number."""
METHOD_FACTS = 4
"""Name, request, response, which sides stream (`c`, `s`)."""


@cache
def packages() -> dict[str, dict[str, dict[str, Any]]]:
    """Package -> messages, enums or services -> full name -> minors and rows."""
    text = package_bytes("stockman.talos.wire", "tables.json")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return found


def known_in(package: str, kind: str, minor: str) -> Iterator[tuple[str, list[list[Any]]]]:
    """What a package has in a minor, with all its rows."""
    for name, (span, rows) in packages()[package].get(kind, {}).items():
        if holds(span, minor):
            yield name, rows


def rows_in(rows: list[list[Any]], facts: int, minor: str) -> Iterator[list[Any]]:
    """Those rows that hold in a minor."""
    for row in rows:
        if len(row) == facts or holds(row[facts], minor):
            yield row


def holds(spans: str, minor: str) -> bool:
    """Whether a minor is one of those that are written down; an empty text means all."""
    if not spans:
        return True
    place = MINORS.index(minor)
    for span in spans.split():
        first, _, last = span.partition("-")
        if MINORS.index(first) <= place <= MINORS.index(last):
            return True
    return False
