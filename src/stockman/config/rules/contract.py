"""What a contract can express, and what it cannot."""

from __future__ import annotations

from stockman.config.rules.context import Context
from stockman.model import support
from stockman.model.origin import Origin


def contract_line(context: Context) -> tuple[int, int]:
    """The line whose style machine configurations have."""
    talos = context.estate.talos
    found = talos.contract or talos.version or support.talos_lines()[-1].newest
    return found.line


def lacks(
    context: Context,
    thing: str,
    at: Origin | None,
    *,
    since: tuple[int, int] = (0, 0),
    until: tuple[int, int] = (99, 0),
) -> None:
    """Report what configurations in the style of the cluster have no words for."""
    line = contract_line(context)
    if since <= line <= until:
        return
    too_old = line < since
    known = "since" if too_old else "up to"
    major, minor = since if too_old else until
    context.problems.error(
        "talos.contract-lacks",
        f"machine configurations of contract {line[0]}.{line[1]} have no words for {thing}",
        why=f"Talos has them {known} contract {major}.{minor}",
        fix="raise the contract once all nodes run that Talos, or do without"
        if too_old
        else "do without; in the place of mounts take user volumes",
        at=at,
    )
