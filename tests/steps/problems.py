"""Problems of plans, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.problem import Problem
from stockman.steps import plan_problems as problems
from stockman.steps.plan_file import SCHEMA
from stockman.steps.ports import no_door

STEPS = ("images/k8s/1.13.9", "vms/create/cp-1", "talos/configure/cp-1")

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "plan.circle": lambda: problems.circle(["vms/create/cp-1", "images/k8s/1.13.9"]),
    "plan.damaged": lambda: problems.damaged("plan.json"),
    "plan.kind": lambda: problems.unknown_kind("plan.json", "vm.polish"),
    "plan.no-door": lambda: no_door("Kubernetes"),
    "plan.no-such-node": lambda: problems.no_such_node("cp-9", ("cp-1", "work-1")),
    "plan.no-such-step": lambda: problems.no_such_step("vms/create/cp-9", STEPS),
    "plan.schema": lambda: problems.schema("plan.json", "stockman.plan/9", SCHEMA),
    "plan.step-twice": lambda: problems.twice("vms/create/cp-1"),
    "plan.unknown-need": lambda: problems.unknown_need("vms/create/cp-1", "images/k8s/1.13.9"),
    "plan.unreadable": lambda: problems.unreadable("plan.json", "it has no key `schema`"),
}
