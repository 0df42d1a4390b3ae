"""What programs are told of a plan before its run begins."""

import json

from stockman.cli.plans.data import PlanView, plan_events, problem_events
from stockman.model.problem import Problem
from tests.cli.plan_scene import CHANGES, PLAN, WARNING
from tests.engine.simulated import MORNING

ERROR = Problem(code="vm.taken", what="1030 is taken", why="by billing-db", fix="take another")
FORM = {"number", "at", "event", "step", "data"}


def test_the_plan_and_its_warnings_have_the_form_of_entries() -> None:
    view = PlanView(plan=PLAN, changes=CHANGES, warnings=(WARNING,))

    planned, warning = map(json.loads, plan_events(view, MORNING))

    assert (set(planned), set(warning)) == (FORM, FORM)
    assert (planned["event"], planned["data"]["destroys"]) == (
        "planned",
        ["VM 1033 (work-3) with its disks"],
    )
    assert [change["why"] for change in planned["data"]["changes"]] == [
        change.why for change in CHANGES
    ]
    assert (warning["event"], warning["data"]["problem"]["code"]) == ("warning", WARNING.code)


def test_what_stands_in_the_way_is_told_as_an_error() -> None:
    (line,) = map(json.loads, problem_events([ERROR], MORNING))

    assert (line["event"], line["number"]) == ("error", 0)
    assert line["data"]["problem"]["fix"] == "take another"
