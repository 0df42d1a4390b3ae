"""Contracts between which configurations are migrated."""

from __future__ import annotations

from collections.abc import Iterable

from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.version import Version
from stockman.talos.patches.documents import Document
from stockman.talos.patches.table import MINORS, table

CONTRACTS = MINORS
"""Oldest first."""


def contract(text: str) -> str:
    """The contract that a text names, `1.14` or `v1.14.1`; refuses one that is unknown."""
    try:
        version = Version.parse(text)
    except ValueError:
        raise Refused(_unknown(text)) from None
    line = f"{version.major}.{version.minor}"
    if line not in CONTRACTS:
        raise Refused(_unknown(text))
    return line


def style(documents: Iterable[Document]) -> str:
    """The oldest contract that knows every document of a configuration."""
    kinds = {document.kind.name for document in documents}
    for line in CONTRACTS:
        if kinds <= table(line).kinds.keys():
            return line
    return CONTRACTS[-1]


def steps(source: str, target: str) -> tuple[str, ...]:
    """The contracts to go through; refuses to go back."""
    first, last = CONTRACTS.index(source), CONTRACTS.index(target)
    if last < first:
        raise Refused(downward(source, target))
    return CONTRACTS[first + 1 : last + 1]


def downward(source: str, target: str) -> Problem:
    return Problem(
        code="migration.downward",
        what=f"a configuration of contract {source} cannot go back to contract {target}",
        why=f"documents of {source} say things that {target} has no words for",
        fix=f"give a contract from {source} on, or take the older configuration from the history",
    )


def _unknown(text: str) -> Problem:
    return Problem(
        code="migration.contract",
        what=f"there is no contract {text}",
        why=f"contracts are known from {CONTRACTS[0]} to {CONTRACTS[-1]}",
        fix=f"give one of {', '.join(CONTRACTS)}",
    )
