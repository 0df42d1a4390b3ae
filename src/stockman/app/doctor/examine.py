"""Running the checks: those that look here first, then every question to the network at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stockman.app.doctor.catalog import CHECKS
from stockman.app.doctor.check import Check, Question, Scene
from stockman.app.doctor.finding import Finding, Report, skip, unknown
from stockman.ports.probe import Network

if TYPE_CHECKING:
    from stockman.config.load import Loaded
    from stockman.model.problem import Problem

PATIENCE = 5.0
"""Seconds for a question with everything that it takes to answer it."""

Seen = Sequence[tuple[str, Finding | Question]]
"""What checks yielded, each with the name of its check."""

Listen = Callable[[int], None]
"""Told how many questions are about to be asked."""


def diagnose(directory: Path, *, offline: bool = False, listen: Listen = lambda _: None) -> Report:
    """Look at everything that stockman depends on when it works in a directory."""
    seen = looked(scene_of(directory), CHECKS)
    if offline:
        return unasked(seen)
    import asyncio

    from stockman.adapters.network import SocketNetwork

    listen(sum(isinstance(one, Question) for _, one in seen))
    return asyncio.run(answered(seen, SocketNetwork()))


def scene_of(directory: Path) -> Scene:
    """What checks look at, with the real machine behind it."""
    from stockman.adapters.git import GitRepo
    from stockman.adapters.machine import LocalMachine
    from stockman.adapters.system import SystemClock
    from stockman.app.validation import validate
    from stockman.config.load import load
    from stockman.model.errors import NotFound, StockmanError

    try:
        validation = validate(directory)
        loaded, trouble = validation.loaded, tuple(validation.problems)
    except NotFound:
        raise
    except StockmanError as error:
        loaded, trouble = load({}), (error.problem,)
    return Scene(
        directory=directory,
        estate=loaded.estate,
        secrets=tuple(dict.fromkeys(loaded.secrets)),
        problems=trouble,
        complete=bool(loaded.texts) and loaded.complete,
        machine=LocalMachine(),
        repo=GitRepo(directory),
        clock=SystemClock(),
        **_proxmox(directory, loaded, trouble),
    )


def _proxmox(directory: Path, loaded: Loaded, trouble: Sequence[Problem]) -> dict[str, Any]:
    """What is looked at only where the configuration has a token for Proxmox VE."""
    import os

    from stockman.app.doctor.regions import has_token, regions
    from stockman.config.resolve import resolve

    if not has_token(loaded.estate, directory):
        return {}
    right = not any(problem.is_error for problem in trouble)
    desired = resolve(loaded) if right and loaded.complete else None
    found = regions(directory, loaded.estate, desired, os.environ)
    return {"desired": desired, "regions": found}


def looked(scene: Scene, checks: Iterable[Check]) -> Seen:
    """What checks find without the network, and what they would ask it."""
    return [(one.name, found) for one in checks for found in one.look(scene)]


def unasked(seen: Seen) -> Report:
    """The report without the network: what would be asked is skipped, a line for each check."""
    findings = (
        replace(finding, check=name)
        for name, items in groupby(seen, key=lambda pair: pair[0])
        for finding in _skipped([one for _, one in items])
    )
    return Report(findings=tuple(findings))


async def answered(seen: Seen, network: Network, patience: float = PATIENCE) -> Report:
    """The report once every question is answered, or given up."""
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [(name, group.create_task(_answer(one, network, patience))) for name, one in seen]
    findings = (replace(one, check=name) for name, task in tasks for one in task.result())
    return Report(findings=tuple(findings))


async def _answer(
    one: Finding | Question, network: Network, patience: float
) -> tuple[Finding, ...]:
    import asyncio

    if isinstance(one, Finding):
        return (one,)
    try:
        async with asyncio.timeout(patience):
            return tuple(await one.ask(network))
    except TimeoutError:
        return (unknown(one.subject, f"no answer within {patience:g} s", "run it again"),)


def _skipped(yielded: Sequence[Finding | Question]) -> Iterator[Finding]:
    yield from (one for one in yielded if isinstance(one, Finding))
    subjects = [one.subject for one in yielded if isinstance(one, Question)]
    if subjects:
        yield skip(", ".join(subjects), "not asked")
