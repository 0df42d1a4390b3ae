"""Records of drift: layers, values, authors, corrections and the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from enum import Enum
from fnmatch import fnmatchcase

from stockman.model.policies import DriftRule
from stockman.model.problem import Problem, Severity
from stockman.model.record import record


class Layer(Enum):
    """A part of the cluster that is compared; the values are those of `drift.ignore`."""

    VMS = "vms"
    """Keys, disks and power state of VMs and containers."""
    PLACEMENT = "placement"
    """Hosts, pools and high availability."""
    TALOS = "talos"
    """Machine configurations, versions and schematics."""
    KUBERNETES = "kubernetes"
    """Objects that stockman creates in the cluster."""
    TREE = "tree"
    """Rendered files, commits, the remote, and what Flux applied."""
    ACCESS = "access"
    """Roles, users, tokens and privileges in Proxmox VE, and client configuration files."""


LAYER_TITLES = {
    Layer.VMS: "virtual machines",
    Layer.PLACEMENT: "placement",
    Layer.TALOS: "Talos configurations",
    Layer.KUBERNETES: "objects in Kubernetes",
    Layer.TREE: "rendered files",
    Layer.ACCESS: "access",
}


class DriftSeverity(Enum):
    """How severe a drift is."""

    CRITICAL = "critical"
    """Something is missing or stopped, or somebody has more privileges than intended."""
    WARNING = "warning"
    """Something works differently than configured."""
    NOTICE = "notice"
    """Cosmetic: nothing works differently."""


@record
class DriftValue:
    """Desired and observed value of one key; secrets are shown as `***`."""

    key: str
    observed: str | None
    """None: the key is not set."""
    desired: str | None
    """None: the key should not be set."""


@record
class Author:
    """Who caused a drift."""

    name: str = ""
    """Empty: unknown."""
    when: datetime | None = None
    how: str = ""
    """How the author is known, or why not."""

    @property
    def is_known(self) -> bool:
        return bool(self.name)


@record
class CorrectionStep:
    """A step of the plan that corrects a drift."""

    id: str
    summary: str


@record
class Correction:
    """How a drift is corrected."""

    steps: tuple[CorrectionStep, ...] = ()
    """Empty: no plan corrects it."""
    command: str = ""
    """A command for the user to run."""
    blocked_by: str = ""
    """The problem that blocks the plan. Empty: nothing blocks it."""


@record
class Drift:
    """One difference between desired and observed state."""

    layer: Layer
    subject: str
    """What rules of `drift.ignore` match: a node, an object, a file or an account."""
    description: str
    why: str = ""
    values: tuple[DriftValue, ...] = ()
    details: tuple[str, ...] = ()
    """Additional lines for `--explain`."""
    author: Author = Author()
    severity: DriftSeverity = DriftSeverity.WARNING
    correction: Correction = Correction()
    claims: tuple[str, ...] = field(default=(), metadata={"shown": False})
    """Steps that correct it: IDs, ID prefixes before a `/`, or `node:NAME` for all steps of a node.
    """
    by_hand: bool = field(default=False, metadata={"shown": False})
    """Whether those steps would be refused, so that the command must be run first."""


@record
class Gap:
    """Something that could not be read and may differ."""

    layer: Layer
    subject: str
    problem: Problem


class LayerState(Enum):
    """State of a layer."""

    SAME = "same"
    DRIFT = "drift"
    UNKNOWN = "unknown"
    """Part of the layer could not be read; the rest may contain drift."""


@record
class IgnoredDrift:
    """A drift that a rule ignores."""

    drift: Drift
    reason: str
    until: str


@record
class DriftReport:
    """Drift, ignored drift, and what could not be read."""

    today: date
    layers: tuple[Layer, ...]
    """The layers that were compared."""
    drifts: tuple[Drift, ...] = ()
    unknown: tuple[Gap, ...] = ()
    ignored: tuple[IgnoredDrift, ...] = ()
    expired: tuple[DriftRule, ...] = ()
    """Rules whose last day has passed and that ignore nothing."""

    def state(self, layer: Layer) -> LayerState:
        if any(gap.layer is layer for gap in self.unknown):
            return LayerState.UNKNOWN
        if any(gap.layer is layer for gap in self.drifts):
            return LayerState.DRIFT
        return LayerState.SAME

    @property
    def states(self) -> dict[str, str]:
        return {layer.value: self.state(layer).value for layer in self.layers}


UNREADABLE = "drift.unread"


def unreadable_part(part_name: str, why: str) -> Problem:
    """Return the problem of a part that could not be read."""
    return Problem(
        code=UNREADABLE,
        what=f"{part_name} could not be read",
        where=part_name,
        why=f"{why}; whether it differs is not known",
        fix="bring it back, or leave the layer out with `--layer`; `stockman doctor` says more",
    )


def expired_rule(rule: DriftRule, today: date) -> Problem:
    """Return the problem of a rule whose last day has passed."""
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


_ANY = "*"


def find_expired(rules: Iterable[DriftRule], today: date) -> tuple[DriftRule, ...]:
    """Return rules whose last day has passed."""
    return tuple(rule for rule in rules if rule.last_day < today)


def apply_ignore_rules(
    drifts: Iterable[Drift], rules: Sequence[DriftRule], today: date
) -> tuple[tuple[Drift, ...], tuple[IgnoredDrift, ...]]:
    """Separate drift that counts from ignored drift; one drift may be split by its values."""
    valid = [rule for rule in rules if rule.last_day >= today]
    kept: list[Drift] = []
    ignored: list[IgnoredDrift] = []
    for drift in drifts:
        left: Drift | None = drift
        for rule in valid:
            if left is None or not _matches_rule(rule, left):
                continue
            left, gone = _split_drift(rule, left)
            if gone is not None:
                ignored.append(IgnoredDrift(drift=gone, reason=rule.reason, until=rule.until))
        if left is not None:
            kept.append(left)
    return tuple(kept), tuple(ignored)


def _matches_rule(rule: DriftRule, drift: Drift) -> bool:
    return rule.layer == drift.layer.value and fnmatchcase(drift.subject, rule.subject)


def _split_drift(rule: DriftRule, drift: Drift) -> tuple[Drift | None, Drift | None]:
    """Return what counts and what is ignored; a rule for any key ignores drift without values."""
    if rule.field == _ANY:
        return None, drift
    meant = tuple(value for value in drift.values if fnmatchcase(value.key, rule.field))
    if not meant:
        return drift, None
    counted = tuple(value for value in drift.values if value not in meant)
    return _with_values(drift, counted), _with_values(drift, meant)


def _with_values(drift: Drift, values: tuple[DriftValue, ...]) -> Drift | None:
    return replace(drift, values=values) if values else None
