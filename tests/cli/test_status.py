"""`stockman status` on the screen: problems first, few lines for many nodes, waiting."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import process_time
from typing import cast

import pytest
from stockman_lab.core.faults import Effect, Point

from stockman.app.runs.history import RecordedRun
from stockman.app.status.observation import StatusObserver, wait_until_healthy
from stockman.assessment.status.findings import StatusCheck
from stockman.assessment.status.observed import StatusInput
from stockman.assessment.status.status import ALL, Status, assess
from stockman.cli.options import Duration
from stockman.cli.status.status import run_lines
from stockman.cli.status.view import (
    WaitingLines,
    WaitingTree,
    status_data,
    status_lines,
    waiting_view,
)
from stockman.cli.terminal.screen import Screen
from stockman.engine.journal import EntryType
from stockman.steps.talos.machine import MachineState
from tests.app.status.large import multiplied
from tests.app.status.scene import NEO, Scene, scene
from tests.cli.inside import ran_inside
from tests.cli.live_scene import PLAN, entry
from tests.cli.shown_terminal import ShownTerminal
from tests.engine.simulated import LoopClock, virtually

CHECKS = tuple(check for check in ALL if check is not StatusCheck.CERTIFICATES)


@pytest.fixture
def simulation(tmp_path: Path) -> Scene:
    return scene(tmp_path)


def shown(status: Status, *, every: bool = False) -> list[str]:
    """What a pipe gets."""
    screen = Screen(io.StringIO(), io.StringIO(), io.StringIO(), {})
    return list(status_lines(status, screen, every=every))


def stopped(seen: StatusInput, count: int) -> StatusInput:
    """The same look, with so many workers whose machines are silent."""
    talos = seen.talos
    assert talos is not None
    machines = {
        name: replace(machine, standing=MachineState.SILENT)
        if name.startswith("work-") and int(name[5:]) < count
        else machine
        for name, machine in talos.machines.items()
    }
    fresh = replace(talos, machines=machines)
    return replace(seen, observed=replace(seen.observed, talos=fresh))


class RunningRun:
    """An observer while a run is executing."""

    clock = LoopClock()

    async def current_run(self) -> RecordedRun:
        entries = (entry(0, EntryType.ACCEPTED), entry(0, EntryType.STARTED, PLAN.steps[0].id))
        return RecordedRun(run="r1", plan=PLAN, entries=entries)


def test_watching_shows_the_run_that_is_executing() -> None:
    screen = Screen(io.StringIO(), io.StringIO(), io.StringIO(), {})

    async def watched() -> list[str]:
        return await run_lines(cast("StatusObserver", RunningRun()), screen)

    lines = virtually(watched())

    assert lines[0] == "run r1"
    assert "0/3 steps" in lines[1]
    assert lines[2].endswith("make vms/create/cp-1")


def test_problems_come_first_then_parts_then_nodes(simulation: Scene) -> None:
    simulation.stop(NEO)

    lines = shown(simulation.status(CHECKS))

    text = "\n".join(lines)
    order = ["error[status.vm-stopped]", "\nPART ", "Proxmox VE", "\nNODE ", "\ntalos-trinity"]
    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)
    assert any(line.startswith("  fix:") and "`qm start 1031`" in line for line in lines)
    row = next(line for line in lines if line.startswith(NEO))
    assert row.split()[:3] == [NEO, "error", "controller"]
    assert "1031 stopped on neo" in row


def test_a_cluster_that_works_says_so_in_one_line(simulation: Scene) -> None:
    lines = shown(simulation.status(CHECKS))

    assert lines[0].endswith(": no problems")
    assert "1030 running on trinity" in "\n".join(lines)


def test_many_nodes_that_are_well_are_counted(simulation: Scene) -> None:
    status = assess(multiplied(simulation.look(), 1000), CHECKS)

    lines = shown(status)

    assert status.healthy
    assert len(status.nodes) == 1003
    assert len(lines) < 20
    assert lines[-2:] == [
        "ok 1000 workers on 3 hosts: Talos v1.11.0, kubelet v1.34.1",
        "ok 3 controllers on 3 hosts: Talos v1.11.0, kubelet v1.34.1",
    ]
    assert len(shown(status, every=True)) > 1000


def test_many_problems_of_one_kind_are_told_once(simulation: Scene) -> None:
    status = assess(stopped(multiplied(simulation.look(), 1000), 400), CHECKS)

    lines = shown(status)

    assert sum(line.startswith("error[status.machine-silent]") for line in lines) == 1
    assert any("work-0001, work-0002" in line and "and 387 more" in line for line in lines)
    assert "and 370 more unhealthy nodes; use `--all` to list them" in lines
    assert len(lines) < 70


def test_judging_and_showing_a_thousand_nodes_takes_no_time_worth_speaking_of(
    simulation: Scene,
) -> None:
    seen = stopped(multiplied(simulation.look(), 1000), 400)
    began = process_time()  # what it costs a processor, whoever else works there

    lines = shown(assess(seen, CHECKS))

    assert lines
    assert process_time() - began < 2.0  # far more than it takes


def test_programs_get_everything(simulation: Scene) -> None:
    simulation.stop(NEO)

    data = json.loads(json.dumps(status_data(simulation.status(CHECKS))))

    assert (data["cluster"], data["healthy"], data["health"]) == ("k8s", False, "error")
    first = data["problems"][0]
    assert (first["code"], first["check"], first["subject"]) == ("status.vm-stopped", "vms", NEO)
    node = next(one for one in data["nodes"] if one["name"] == NEO)
    assert node["vm"]["vmid"] == 1031
    assert node["vm"]["runs"] is False
    assert {section["check"] for section in data["parts"]} == {check.value for check in CHECKS}


def test_no_secret_is_in_what_programs_get(simulation: Scene) -> None:
    told = json.dumps(status_data(simulation.status(CHECKS)))

    assert simulation.staged.bundle.secrets.bootstraptoken.reveal() not in told
    assert "PRIVATE KEY" not in told


# -- waiting ---------------------------------------------------------------------------------------


class Awake:
    """A looker of some parts only."""

    def __init__(self, simulation: Scene) -> None:
        self._looker = simulation.looker()
        self.clock = self._looker.clock
        self.looks = 0

    async def status(self) -> Status:
        self.looks += 1
        return await self._looker.status((StatusCheck.TALOS, StatusCheck.KUBERNETES))


def away(simulation: Scene) -> None:
    """A kubelet that says no for a while."""
    simulation.fault(Point.NODE, Effect.FAIL, machine=NEO)
    simulation.world.advance(60.0)


def waited(simulation: Scene, told: Callable[[Status, timedelta], None], seconds: float) -> Status:
    looker = Awake(simulation)
    return asyncio.run(wait_until_healthy(looker, timedelta(seconds=seconds), told))  # type: ignore[arg-type]  # as much as it needs


def test_waiting_ends_when_everything_works(simulation: Scene) -> None:
    away(simulation)
    seen: list[bool] = []

    def told(status: Status, passed: timedelta) -> None:
        del passed
        seen.append(status.healthy)
        if len(seen) == 3:
            simulation.world.take_back(1)

    found = waited(simulation, told, 600.0)

    assert found.healthy
    assert seen[:3] == [False, False, False]
    assert seen[-1]


def test_waiting_ends_when_time_is_up_with_what_is_wrong(simulation: Scene) -> None:
    away(simulation)
    spans: list[timedelta] = []

    found = waited(simulation, lambda _, passed: spans.append(passed), 30.0)

    assert [finding.problem.code for finding in found.findings] == ["status.node-not-ready"]
    assert spans[-1] <= timedelta(seconds=30)


def test_a_log_gets_a_line_when_something_changes_and_seldom_otherwise(simulation: Scene) -> None:
    away(simulation)
    err = io.StringIO()
    lines = WaitingLines(Screen(io.StringIO(), io.StringIO(), err, {}))

    status = simulation.status((StatusCheck.TALOS, StatusCheck.KUBERNETES))
    for seconds in range(0, 150, 3):
        lines(status, timedelta(seconds=seconds))

    told = err.getvalue().splitlines()
    assert len(told) == 3
    assert all("waiting for Kubernetes: 2 of 3 nodes ready" in one for one in told)


def test_a_terminal_gets_a_tree_that_is_drawn_over_and_removed(simulation: Scene) -> None:
    away(simulation)
    terminal = ShownTerminal(columns=80)
    screen = Screen(io.StringIO(), io.StringIO(), terminal, {"TERM": "xterm", "COLUMNS": "80"})
    view = waiting_view(screen, timedelta(seconds=30))
    assert isinstance(view, WaitingTree)

    waited(simulation, view, 9.0)
    drawn = list(terminal.lines)
    view.close()

    assert drawn[0].startswith("waiting until everything is healthy: ")
    assert any(line.split()[:4] == ["error", "Kubernetes", "2", "of"] for line in drawn)
    assert any(f"- the node {NEO} is not ready" in line for line in drawn)
    assert sum("Kubernetes " in line for line in drawn) == 1, "drawn over, not below"
    assert all(len(line) < 80 for line in drawn)
    assert terminal.lines == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("45", 45)]
)
def test_spans_of_time_are_read(text: str, seconds: int) -> None:
    assert Duration().convert(text, None, None) == timedelta(seconds=seconds)


@pytest.mark.parametrize("texts", [("--timeout", "soon"), ("--wait", "--watch")])
def test_what_makes_no_sense_is_wrong_usage(texts: tuple[str, ...], tmp_path: Path) -> None:
    assert ran_inside("-C", str(tmp_path), "status", *texts).status == 64
