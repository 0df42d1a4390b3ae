"""Talos machines of a running lab, and what stands on their screens."""

from __future__ import annotations

from collections.abc import Iterator
from time import sleep  # noqa: TID251  # another process, in real time
from typing import Any, cast

from stockman.model.errors import NotFound
from stockman.model.problem import Problem
from stockman_lab.commands.runtime.directories import LabFiles
from stockman_lab.commands.runtime.remote import ask

_PAUSE = 0.3


def machine_rows(files: LabFiles) -> list[dict[str, Any]]:
    """All machines by name: address, stage, version, whether they are ready."""
    return cast("list[dict[str, Any]]", ask(files, "machines"))


def machine_console(files: LabFiles, name: str) -> dict[str, Any]:
    """The console of a machine; refuses names that none has."""
    found = ask(files, "machine", name=name)
    if found is None:
        known = [str(machine_row["name"]) for machine_row in machine_rows(files)]
        raise NotFound(unknown_machine(name, known))
    return cast("dict[str, Any]", found)


def unknown_machine(name: str, known: list[str]) -> Problem:
    """No machine of a lab has a name."""
    why = f"it has {', '.join(known)}" if known else "it has none: no guest has booted Talos yet"
    return Problem(
        code="lab.machine",
        what=f"the lab has no Talos machine {name!r}",
        why=why,
        fix="see `stockman lab machine` for names and addresses",
    )


def followed(files: LabFiles, name: str, seen: list[str], pause: float = _PAUSE) -> Iterator[str]:
    """Lines that a machine says after those that were seen, until the lab ends."""
    while True:
        try:
            now = [str(line) for line in machine_console(files, name)["log"]]
        except NotFound:
            return
        yield from new_lines(seen, now)
        seen = now
        sleep(pause)


def new_lines(seen: list[str], now: list[str]) -> list[str]:
    """What a log holds that it did not hold before; it may have lost its oldest lines, or all."""
    for start in range(len(seen)):
        kept = len(seen) - start
        if seen[start:] == now[:kept]:
            return now[kept:]
    return now
