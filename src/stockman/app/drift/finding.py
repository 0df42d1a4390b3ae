"""Drifts: one thing that differs, with values, author, severity and correction."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from enum import Enum

from stockman.app.drift.layer import Layer
from stockman.model.problem import Problem
from stockman.model.record import record


class DriftSeverity(Enum):
    """How much it matters."""

    CRITICAL = "critical"
    """Something is gone or stands still, or somebody may do more than intended."""
    WARNING = "warning"
    """It works otherwise than the files say."""
    NOTICE = "notice"
    """Nothing works otherwise."""


@record
class Value:
    """One value on both sides; secrets are `***` on both."""

    key: str
    found: str | None
    """None: it is not set, or not there."""
    wanted: str | None
    """None: it should not be."""


@record
class Author:
    """Who did it."""

    who: str = ""
    """Empty: nobody tells."""
    when: datetime | None = None
    how: str = ""
    """How it is known, or why it is not."""

    @property
    def is_known(self) -> bool:
        return bool(self.who)


@record
class CorrectionStep:
    """A step of the plan that corrects it."""

    id: str
    summary: str


@record
class Correction:
    """What puts it right."""

    steps: tuple[CorrectionStep, ...] = ()
    """Empty: plans do not do that."""
    command: str = ""
    """What to type."""
    stopped_by: str = ""
    """What keeps the plan from being carried out. Empty: nothing."""


@record
class Drift:
    """One thing that is not as it should be."""

    layer: Layer
    subject: str
    """What rules of `drift.ignore` name: a node, an object, a file or an account."""
    what: str
    why: str = ""
    values: tuple[Value, ...] = ()
    details: tuple[str, ...] = ()
    """Lines for who wants to know more."""
    author: Author = Author()
    severity: DriftSeverity = DriftSeverity.WARNING
    correction: Correction = Correction()
    claims: tuple[str, ...] = field(default=(), metadata={"shown": False})
    """Steps that correct it: ids, beginnings of ids before a `/`, or `node:NAME` for all of one."""
    by_hand: bool = field(default=False, metadata={"shown": False})
    """Whether those steps would be refused, so that its command has to be typed first."""


@record
class Gap:
    """Something that could not be read, and may differ."""

    layer: Layer
    subject: str
    problem: Problem
