"""Problems of drift, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from stockman.assessment.drift.report import expired_rule, unreadable_part
from stockman.model.origin import Origin, Position
from stockman.model.policies import DriftRule
from stockman.model.problem import Problem


def _expired() -> Problem:
    rule = DriftRule(
        layer="vms",
        subject="work-1",
        field="memory",
        until="2026-07-31",
        reason="bigger until the import is over",
        origins={"until": Origin(Position("cluster.yaml", 41, 14), "drift.ignore.until")},
    )
    return expired_rule(rule, date(2026, 8, 1))


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "drift.rule-expired": _expired,
    "drift.unread": lambda: unreadable_part(
        "the Kubernetes API", "no connection to 127.66.0.15:6443"
    ),
}
