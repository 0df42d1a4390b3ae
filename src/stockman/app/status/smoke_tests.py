"""Run the smoke tests of components now, whatever `apply` has recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from stockman.engine.lifecycle import RunHome, hold_lock
from stockman.model.errors import StockmanError, WrongUsage
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from stockman.steps.ports import Ports


@record
class SmokeTestResult:
    """The result of one smoke test."""

    component: str
    tests: str
    """What was tested, as a clause."""
    seconds: float
    problem: Problem | None = None
    """None: it passed."""

    @property
    def passed(self) -> bool:
        return self.problem is None


def choose_smoke_tests(
    desired: DesiredKubernetes | None, component: str = ""
) -> tuple[RunSmokeTest, ...]:
    """Return the smoke tests of all enabled components, or the one of a named component."""
    tests = desired.smoke_tests if desired is not None else ()
    chosen = tuple(test for test in tests if component in ("", test.component))
    if component and not chosen:
        raise WrongUsage(no_smoke_test(component, [test.component for test in tests]))
    return chosen


async def run_smoke_tests(
    home: RunHome, ports: Ports, tests: Sequence[RunSmokeTest], by: str
) -> tuple[SmokeTestResult, ...]:
    """Run tests in parallel. Raises `Locked` if a run is executing, which may test the same."""
    async with hold_lock(home, ports, by, "smoke-tests"), asyncio.TaskGroup() as group:
        tasks = [group.create_task(_run_smoke_test(test, ports)) for test in tests]
    return tuple(task.result() for task in tasks)


async def _run_smoke_test(test: RunSmokeTest, ports: Ports) -> SmokeTestResult:
    began = ports.clock.now()
    problem: Problem | None = None
    try:
        await test.test(ports)
    except StockmanError as error:
        problem = error.problem
    seconds = (ports.clock.now() - began).total_seconds()
    return SmokeTestResult(
        component=test.component, tests=test.says, seconds=seconds, problem=problem
    )


def no_smoke_test(component: str, tested: Sequence[str]) -> Problem:
    """No enabled component of this name has a smoke test."""
    return Problem(
        code="health.no-smoke-test",
        what=f"there is no smoke test of {component}",
        why="it is not an enabled component with a smoke test; those with one are "
        + (", ".join(tested) or "none"),
        fix="name one of them, or use `stockman health --smoke` to test all of them",
    )
