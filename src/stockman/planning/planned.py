from __future__ import annotations

from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.planning.change import Change
from stockman.planning.observed.systems import Observed
from stockman.steps.plan import Plan


@record
class Planned:
    """A plan, why, and what it was made from."""

    changes: tuple[Change, ...]
    plan: Plan
    problems: Problems
    """With an error among them, the plan must not be carried out."""
    observed: Observed
