"""What could not be read: unknown is not the same as unchanged."""

from __future__ import annotations

from datetime import date

from stockman.model.drift import DriftRule
from stockman.model.problem import Problem, Severity

UNREAD = "drift.unread"


def unread(what: str, why: str) -> Problem:
    """A part of a layer that nobody could read."""
    return Problem(
        code=UNREAD,
        what=f"{what} could not be read",
        where=what,
        why=f"{why}; whether it differs is not known",
        fix="bring it back, or leave the layer out with `--layer`; `stockman doctor` says more",
    )


def rule_expired(rule: DriftRule, today: date) -> Problem:
    """A rule whose last day is over."""
    origin = rule.origins.get("until")
    return Problem(
        code="drift.rule-expired",
        what=f"a rule of drift.ignore ended on {rule.until}",
        where=origin.at if origin is not None else "drift.ignore",
        why=f"today is {today.isoformat()}, so {rule.subject} counts again in {rule.layer};"
        f" the reason was: {rule.reason}",
        fix="take the rule out, or give it another last day if the reason still holds",
        severity=Severity.WARNING,
    )
