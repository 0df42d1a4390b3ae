"""Layers that are compared, each with what should be on one side and what is on the other."""

from __future__ import annotations

from dataclasses import field
from datetime import date, datetime
from enum import Enum

from stockman.model.policies import DriftRule
from stockman.model.problem import Problem, Severity
from stockman.model.record import record


class Layer(Enum):
    """One of them; the names are those of `drift.ignore` in the files."""

    VMS = "vms"
    """Keys, disks and power of VMs and containers."""
    PLACEMENT = "placement"
    """Hosts, pools and high availability."""
    TALOS = "talos"
    """Machine configurations, versions and schematics."""
    KUBERNETES = "kubernetes"
    """Objects that stockman put into the cluster."""
    TREE = "tree"
    """Rendered files, commits, what is pushed, and what Flux made of it."""
    ACCESS = "access"
    """Roles, users, tokens and rights in Proxmox VE, and files for clients."""


LAYER_TITLES = {
    Layer.VMS: "virtual machines",
    Layer.PLACEMENT: "placement",
    Layer.TALOS: "Talos configurations",
    Layer.KUBERNETES: "objects in Kubernetes",
    Layer.TREE: "rendered files",
    Layer.ACCESS: "access",
}


class DriftSeverity(Enum):
    """How much it matters."""

    CRITICAL = "critical"
    """Something is gone or stands still, or somebody may do more than intended."""
    WARNING = "warning"
    """It works otherwise than the files say."""
    NOTICE = "notice"
    """Nothing works otherwise."""


@record
class DriftValue:
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
    values: tuple[DriftValue, ...] = ()
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


class LayerState(Enum):
    """How a layer is."""

    SAME = "same"
    DRIFT = "drift"
    UNKNOWN = "unknown"
    """A part of it could not be read; drifts may have been found in the rest."""


@record
class IgnoredDrift:
    """A drift that a rule lets stay."""

    drift: Drift
    reason: str
    until: str


@record
class DriftReport:
    """Drifts, what is ignored, and what nobody could tell."""

    today: date
    layers: tuple[Layer, ...]
    """Those that were looked at."""
    drifts: tuple[Drift, ...] = ()
    unknown: tuple[Gap, ...] = ()
    ignored: tuple[IgnoredDrift, ...] = ()
    expired: tuple[DriftRule, ...] = ()
    """Rules whose last day is over; they ignore nothing."""

    def state(self, layer: Layer) -> LayerState:
        if any(one.layer is layer for one in self.unknown):
            return LayerState.UNKNOWN
        if any(one.layer is layer for one in self.drifts):
            return LayerState.DRIFT
        return LayerState.SAME

    @property
    def states(self) -> dict[str, str]:
        return {layer.value: self.state(layer).value for layer in self.layers}


UNREADABLE = "drift.unread"


def unreadable_part(what: str, why: str) -> Problem:
    """A part of a layer that nobody could read."""
    return Problem(
        code=UNREADABLE,
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
