"""Plans as people and programs read them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.cli.output import Output
from stockman.cli.plans.data import PlanView, plan_data
from stockman.cli.plans.plan import show_step, step_details, step_details_data
from stockman.cli.plans.view import (
    call_count_lines,
    destroy_question,
    plan_lines,
    show_call_counts,
    show_plan,
)
from stockman.cli.terminal.prompts import confirm
from stockman.cli.terminal.screen import Screen
from stockman.cli.terminal.styles import display_width
from stockman.model.errors import Refused, WrongUsage
from stockman.model.problem import Problem, Severity
from stockman.planning.observed.systems import SystemCalls
from stockman.steps.plan import parse_plan, plan_digest, render_plan
from stockman.steps.step import Stage
from tests.cli.plan_scene import CHANGES, CONFIGURE, CREATE, DESTROY, FETCH, PLAN, WARNING, Drop
from tests.cli.test_screen import Terminal
from tests.engine.toys import make, plan_of

VIEW = PlanView(plan=PLAN, changes=CHANGES)
IN_A_PIPE = Screen(None, None, None, {})


def on_columns(columns: int, **environment: str) -> Screen:
    return Screen(None, Terminal(), None, {"COLUMNS": str(columns), **environment})


def test_a_plan_is_grouped_by_stage_and_node_with_reasons() -> None:
    assert (
        "\n".join(plan_lines(VIEW, IN_A_PIPE))
        == """\
images (1 step)
  cluster
    + image 1.13.9 on pve1
        cp-1 boots it

vms (2 steps, 1 gate)
  cluster
    ~ pool flock has 2 members instead of 3
        members are cp-1 and work-1
  cp-1
    + VM 1030 (cp-1) on pve1: 4 cores, 8192 MiB
        cp-1 is in the configuration, and VMID 1030 is free
  work-3
    - VM 1033 (work-3) on pve1
        work-3 is not in the configuration any more
        destroys VM 1033 (work-3) with its disks

talos (1 step)
  cp-1
    + cp-1 gets its first configuration, as a controller
        it is in maintenance mode

permanently destroyed:
  - VM 1033 (work-3) with its disks

3 to add, 1 to change, 1 to remove: 4 steps, about 6m"""
    )


def test_a_plan_that_was_read_from_a_file_shows_its_steps() -> None:
    plan = parse_plan(render_plan(plan_of(FETCH, CREATE)), "plan.json")

    assert list(plan_lines(PlanView(plan=plan), IN_A_PIPE)) == [
        "images (1 step)",
        "  cluster",
        "    * make images/fetch/pve1",
        "",
        "vms (1 step, 1 gate)",
        "  cp-1",
        "    * make vms/create/cp-1",
        "        cp-1 is in the configuration, and VMID 1030 is free",
        "",
        "2 steps, about 2m",
    ]


def test_an_empty_plan_says_so() -> None:
    assert list(plan_lines(PlanView(plan=plan_of()), IN_A_PIPE)) == [
        "No changes. The cluster matches the configuration."
    ]


def test_an_empty_plan_of_a_machine_that_nobody_saw_does_not_call_everything_right() -> None:
    unseen = Problem(
        code="node.unknown",
        what="the state of cp-1 is unknown",
        why="no route to host",
        fix="look at its console",
        severity=Severity.WARNING,
    )

    assert list(plan_lines(PlanView(plan=plan_of(), warnings=(unseen,)), IN_A_PIPE)) == [
        "No changes in the systems that could be read. The warnings list the others."
    ]


def test_who_wants_more_sees_steps_gates_and_the_longest_chain() -> None:
    screen = Screen(None, None, None, {})
    screen.verbosity = 1

    shown = "\n".join(plan_lines(VIEW, screen))

    assert "vms/create/cp-1       make vms/create/cp-1       images/fetch/pve1  room is" in shown
    assert "critical path: images/fetch/pve1 -> vms/create/cp-1 -> talos/configure/cp-1" in shown


def test_lanes_that_are_narrower_than_the_longest_chain_count() -> None:
    plan = plan_of(*(make(f"vms/{number}", seconds=60.0, lanes=("host",)) for number in range(5)))

    assert list(plan_lines(PlanView(plan=plan), IN_A_PIPE))[-1] == "5 steps, about 5m"


def test_marks_are_coloured_on_a_terminal() -> None:
    shown = "\n".join(plan_lines(VIEW, on_columns(80, TERM="xterm")))

    assert "\x1b[32m+\x1b[0m \x1b[32mVM 1030" in shown
    assert "\x1b[1;31m-\x1b[0m" in shown
    assert "\x1b" not in "\n".join(plan_lines(VIEW, on_columns(80, TERM="xterm", NO_COLOR="1")))


@given(st.integers(min_value=40, max_value=120))
def test_a_plan_fits_every_terminal(columns: int) -> None:
    screen = on_columns(columns)

    assert all(display_width(line) <= columns for line in plan_lines(VIEW, screen))
    assert all(display_width(line) <= columns for line in step_details(PLAN, CREATE, screen))


def test_programs_get_all_of_a_plan() -> None:
    data = plan_data(PlanView(plan=PLAN, changes=CHANGES, warnings=(WARNING,)))

    assert list(data) == [
        *("cluster", "made_at", "digest", "summary", "destroys", "changes", "steps"),
        *("critical_path", "lanes", "warnings", "problems"),
    ]
    assert data["digest"] == plan_digest(PLAN)
    assert data["summary"] == {
        "add": 3,
        "change": 1,
        "remove": 1,
        "steps": 4,
        "stages": ["images", "vms", "talos"],
        "seconds": 330.0,
    }
    assert data["changes"][2]["mark"] == "-"
    assert [step["id"] for step in data["steps"]] == [step.id for step in PLAN.steps]
    assert data["critical_path"] == [FETCH.id, CREATE.id, CONFIGURE.id]
    assert json.loads(json.dumps(data)) == data


def test_a_step_is_explained() -> None:
    assert (
        "\n".join(step_details(PLAN, CREATE, IN_A_PIPE))
        == """\
step vms/create/cp-1
  does:      make vms/create/cp-1
  why:       cp-1 is in the configuration, and VMID 1030 is free
  stage:     vms, for cp-1
  needs:     images/fetch/pve1 (make images/fetch/pve1)
  needed by: talos/configure/cp-1 (make talos/configure/cp-1)
  gates:     room is there
  holds:     flag red is down; also for vms/destroy/work-3
  lanes:     host/pve1, one step at a time
             storage/ceph, 4 steps at a time
  takes:     about 40s, and about 3m more for its dependents, on the critical path
  deadline:  10m0s from its start, including gates
  retry:     up to 3 attempts if there is no answer, 1s to 30s apart
  touches:   object/vms/create/cp-1
  destroys:  nothing"""
    )


def test_a_step_that_destroys_says_what() -> None:
    lines = list(step_details(PLAN, DESTROY, IN_A_PIPE))

    assert lines[-1] == "  destroys:  VM 1033 (work-3) with its disks"
    assert "  why:       for its dependents" in lines
    data = step_details_data(PLAN, CREATE)
    assert data["needed_by"] == [CONFIGURE.id]
    assert data["gates"] == [{"kind": "test.exists", "what": "room is there"}]


def test_a_step_that_is_tried_once_says_so() -> None:
    assert "  retry:     not retried" in list(step_details(PLAN, FETCH, IN_A_PIPE))


CALLS = (
    SystemCalls(
        system="Proxmox VE cluster k8s",
        calls=31,
        of={"hosts": 3, "guests": 15},
        grows="O(hosts + guests)",
    ),
    SystemCalls(
        system="Talos", calls=45, of={"nodes": 15}, grows="O(nodes)", by_call={"version": 45}
    ),
)


def test_calls_are_shown_with_what_they_grow_with() -> None:
    assert list(call_count_lines(CALLS, IN_A_PIPE)) == [
        "SYSTEM                  CALLS  OF                  SCALES WITH",
        "Proxmox VE cluster k8s  31     3 hosts, 15 guests  O(hosts + guests)",
        "Talos                   45     15 nodes            O(nodes)",
        "all                     76",
    ]


def test_the_question_names_what_is_lost() -> None:
    lost = "VM 1033 (work-3) with its disks"

    assert destroy_question(plan_of(FETCH)) == "Execute 1 step on cluster toy?"
    assert destroy_question(plan_of(DESTROY)) == (
        f"This permanently destroys {lost}. Execute 1 step on cluster toy?"
    )


def test_the_question_lists_what_is_lost_once_each() -> None:
    again = make("vms/forget/work-3", action=DESTROY.action)
    other = make("vms/destroy/work-4", action=Drop(key="1034 (work-4)"))

    assert destroy_question(plan_of(DESTROY, again, other)).split("\n") == [
        "This permanently destroys:",
        "  - VM 1033 (work-3) with its disks",
        "  - VM 1034 (work-4) with its disks",
        "Execute 3 steps on cluster toy?",
    ]


def test_without_a_terminal_the_question_is_told_in_one_line() -> None:
    other = make("vms/destroy/work-4", action=Drop(key="1034 (work-4)"))

    with pytest.raises(WrongUsage) as exc_info:
        confirm(destroy_question(plan_of(DESTROY, other)), yes=False)

    assert (
        "destroys: - VM 1033 (work-3) with its disks - VM 1034 (work-4)"
        in exc_info.value.problem.why
    )


Capture = pytest.CaptureFixture[str]


def test_data_go_to_stdout_and_warnings_to_stderr(capsys: Capture) -> None:
    show_plan(PlanView(plan=PLAN, changes=CHANGES, warnings=(WARNING,)), Output.TABLE)

    readouterr = capsys.readouterr()
    assert (
        readouterr.out.splitlines()[-1] == "3 to add, 1 to change, 1 to remove: 4 steps, about 6m"
    )
    assert "warning[vm.identity]: pve2 is full" in readouterr.err


def test_everything_has_an_envelope_for_programs(capsys: Capture) -> None:
    kinds = []
    show_plan(PlanView(plan=PLAN, warnings=(WARNING,)), Output.JSON)
    kinds.append(json.loads(capsys.readouterr().out)["kind"])
    show_step(PLAN, CREATE.id, Output.JSON)
    kinds.append(json.loads(capsys.readouterr().out)["kind"])
    show_call_counts(CALLS, Output.JSON)
    kinds.append(json.loads(capsys.readouterr().out)["kind"])

    assert kinds == ["Plan", "PlanStep", "PlanStats"]


def test_a_step_that_is_not_in_the_plan_is_told() -> None:
    with pytest.raises(Refused, match=r"plan\."):
        show_step(PLAN, "vms/create/cp-9", Output.TABLE)


def test_a_stage_that_only_helps_others_shows_its_steps() -> None:
    drain = replace(make("nodes/drain/cp-1", node="cp-1", reason="restart"), stage=Stage.TALOS)
    view = PlanView(plan=plan_of(FETCH, CREATE, drain), changes=CHANGES[1:2])

    lines = list(plan_lines(view, IN_A_PIPE))

    assert lines[lines.index("talos (1 step)") :][1:4] == [
        "  cp-1",
        "    * make nodes/drain/cp-1",
        "        restart",
    ]
