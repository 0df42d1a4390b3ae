"""Run all checks: first those of this machine, then all network queries at once.

A new check is a function in the module of its area, listed in the `CHECKS` at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stockman.app.doctor import clock, machine, proxmox, reach, secrets
from stockman.app.doctor.check import (
    Check,
    CheckInput,
    CheckResult,
    DoctorReport,
    Question,
    skip,
    unknown,
)
from stockman.ports.environment import Network

if TYPE_CHECKING:
    from stockman.config.load import LoadedConfig
    from stockman.model.problem import Problem


CHECKS = (
    *machine.CHECKS,
    *secrets.CHECKS,
    *reach.CHECKS,
    *proxmox.CHECKS,
    *clock.CHECKS,
)


TIMEOUT = 5.0
"""Seconds for one query, including everything it needs."""

NamedResults = Sequence[tuple[str, CheckResult | Question]]
"""Results of checks, each with the name of its check."""

ProgressCallback = Callable[[int], None]
"""Called with the number of queries that are about to run."""


def diagnose(
    directory: Path, *, offline: bool = False, listen: ProgressCallback = lambda _: None
) -> DoctorReport:
    """Run every check for a directory."""
    results = run_local_checks(build_check_input(directory), CHECKS)
    if offline:
        return report_offline(results)
    import asyncio

    from stockman.adapters.network import SocketNetwork

    listen(sum(isinstance(item, Question) for _, item in results))
    return asyncio.run(run_network_checks(results, SocketNetwork()))


def build_check_input(directory: Path) -> CheckInput:
    """Build the input of the checks, with the real machine."""
    from stockman.adapters.git.probe import LocalGitProbe
    from stockman.adapters.system import LocalMachine, SystemClock
    from stockman.app.workspace.validation import validate
    from stockman.config.load import load
    from stockman.model.errors import NotFound, StockmanError

    try:
        validation = validate(directory)
        loaded, trouble = validation.loaded, tuple(validation.problems)
    except NotFound:
        raise
    except StockmanError as error:
        loaded, trouble = load({}), (error.problem,)
    return CheckInput(
        directory=directory,
        estate=loaded.configuration,
        secrets=tuple(dict.fromkeys(loaded.secrets)),
        problems=trouble,
        complete=bool(loaded.texts) and loaded.complete,
        machine=LocalMachine(),
        repo=LocalGitProbe(directory),
        clock=SystemClock(),
        **_proxmox(directory, loaded, trouble),
    )


def _proxmox(directory: Path, loaded: LoadedConfig, trouble: Sequence[Problem]) -> dict[str, Any]:
    """Return Proxmox clusters for which the configuration has a token."""
    import os

    from stockman.app.doctor.regions import has_token, regions
    from stockman.config.resolve import resolve

    if not has_token(loaded.configuration, directory):
        return {}
    right = not any(problem.is_error for problem in trouble)
    desired = resolve(loaded) if right and loaded.complete else None
    clusters = regions(directory, loaded.configuration, desired, os.environ)
    return {"desired": desired, "regions": clusters}


def run_local_checks(scene: CheckInput, checks: Iterable[Check]) -> NamedResults:
    """Return the results of checks without the network, and the queries they need."""
    return [(check.name, result) for check in checks for result in check.look(scene)]


def report_offline(results: NamedResults) -> DoctorReport:
    """Return the report without the network: one skipped result for each check with queries."""
    findings = (
        replace(finding, check=name)
        for name, items in groupby(results, key=lambda pair: pair[0])
        for finding in _skip_question([item for _, item in items])
    )
    return DoctorReport(findings=tuple(findings))


async def run_network_checks(
    results: NamedResults, network: Network, patience: float = TIMEOUT
) -> DoctorReport:
    """Return the report once every query is answered or timed out."""
    import asyncio

    async with asyncio.TaskGroup() as group:
        tasks = [
            (name, group.create_task(_run_question(item, network, patience)))
            for name, item in results
        ]
    findings = (replace(item, check=name) for name, task in tasks for item in task.result())
    return DoctorReport(findings=tuple(findings))


async def _run_question(
    result: CheckResult | Question, network: Network, patience: float
) -> tuple[CheckResult, ...]:
    import asyncio

    if isinstance(result, CheckResult):
        return (result,)
    try:
        async with asyncio.timeout(patience):
            return tuple(await result.ask(network))
    except TimeoutError:
        return (unknown(result.subject, f"no answer within {patience:g} s", "run it again"),)


def _skip_question(yielded: Sequence[CheckResult | Question]) -> Iterator[CheckResult]:
    yield from (result for result in yielded if isinstance(result, CheckResult))
    subjects = [result.subject for result in yielded if isinstance(result, Question)]
    if subjects:
        yield skip(", ".join(subjects), "not asked")
