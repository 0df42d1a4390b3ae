"""Run the smoke tests of components in a running cluster; their results are not recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from stockman.app.components import catalog_entry
from stockman.app.runs.session import SessionContext, open_session
from stockman.model.errors import NotFound, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from stockman.steps.ports import Ports


@record
class SmokeTestResult:
    """The result of one smoke test."""

    component: str
    says: str
    """What is tested."""
    problem: Problem | None = None
    """Why it failed. None: it passed."""


async def run_smoke_tests(
    context: SessionContext, component: str = ""
) -> tuple[SmokeTestResult, ...]:
    """Run the smoke tests of all components, or of one; raises `NotFound` if it has none."""
    name = catalog_entry(component).component.name if component else ""
    async with open_session(context, only_looks=True) as session:
        desired = session.planner.desired_kubernetes
        tests = desired.smoke_tests if desired is not None else ()
        chosen = [test for test in tests if not name or test.component == name]
        if name and not chosen:
            raise NotFound(no_smoke_test(name))
        return await try_components(chosen, session.ports)


async def try_components(
    tests: Iterable[RunSmokeTest], ports: Ports
) -> tuple[SmokeTestResult, ...]:
    """Run smoke tests side by side; one that fails stops no other."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_try_component(test, ports)) for test in tests]
    return tuple(task.result() for task in tasks)


async def _try_component(test: RunSmokeTest, ports: Ports) -> SmokeTestResult:
    problem = None
    try:
        await test.test(ports)
    except StockmanError as error:
        problem = error.problem
    return SmokeTestResult(component=test.component, says=test.says, problem=problem)


def no_smoke_test(name: str) -> Problem:
    """Return the problem of a component that cannot be tested."""
    return Problem(
        code="status.no-smoke-test",
        what=f"{name} has no smoke test in this cluster",
        why="it is disabled or waits for a secret, or it needs no test besides its conditions",
        fix="run `stockman health --smoke` to run the smoke tests of all components",
    )
