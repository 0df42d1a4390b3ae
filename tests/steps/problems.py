"""Problems of plans, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

from stockman.model.problem import Problem
from stockman.steps import plan_problems as problems
from stockman.steps.plan import SCHEMA
from stockman.steps.ports import missing_port

STEPS = ("images/k8s/1.13.9", "vms/create/cp-1", "talos/configure/cp-1")

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "plan.destroys": lambda: problems.unconfirmed_destruction(["work-1", "work-2"]),
    "plan.circle": lambda: problems.dependency_cycle(["vms/create/cp-1", "images/k8s/1.13.9"]),
    "plan.damaged": lambda: problems.plan_digest_mismatch("plan.json"),
    "plan.kind": lambda: problems.unknown_kind("plan.json", "vm.polish"),
    "plan.no-door": lambda: missing_port("Kubernetes"),
    "plan.no-such-node": lambda: problems.unknown_node("cp-9", ("cp-1", "work-1")),
    "plan.no-such-step": lambda: problems.unknown_step("vms/create/cp-9", STEPS),
    "plan.schema": lambda: problems.unknown_schema("plan.json", "stockman.plan/9", SCHEMA),
    "plan.step-twice": lambda: problems.duplicate_step("vms/create/cp-1"),
    "plan.unknown-need": lambda: problems.unknown_need("vms/create/cp-1", "images/k8s/1.13.9"),
    "plan.unreadable": lambda: problems.invalid_plan("plan.json", "it has no key `schema`"),
}
