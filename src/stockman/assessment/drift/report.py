"""Records of drift: layers, values, authors, corrections and the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from enum import Enum
from fnmatch import fnmatchcase

from stockman.model.policies import DriftRule
from stockman.model.problem import Problem, Severity
from stockman.model.record import record
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.planning.kubernetes.changes import KubernetesChange
from stockman.planning.planned import Planned
from stockman.planning.talos.changes import ClientFileChange
from stockman.steps.base import Checkpoint
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from stockman.steps.step import Stage, Step


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


_PLACING = tuple(
    f"vms/{kind}/" for kind in ("move", "ha", "no-ha", "pool", "join-pool", "ha-rule", "ha-group")
)
_UNKNOWN_AUTHOR = Author(how="nobody tells")


def with_correction(drift: Drift, planned: Planned) -> Drift:
    """Return the drift with the plan steps that correct it."""
    claimed = [step for step in planned.plan.steps if _is_claimed(step, drift.claims)]
    if not claimed or drift.by_hand:
        return drift
    errors = planned.problems.errors
    stages = dict.fromkeys(step.stage.value for step in claimed)
    nodes = dict.fromkeys(step.node for step in claimed if step.node)
    only = "".join(f" --only {stage}" for stage in stages)
    whose = "".join(f" --node {node}" for node in nodes)
    return replace(
        drift,
        correction=Correction(
            steps=tuple(
                CorrectionStep(id=step.id, summary=step.action.summary) for step in claimed
            ),
            command=f"stockman apply{only}{whose}",
            blocked_by=errors[0].what if errors else "",
        ),
    )


def remaining_changes(drifts: Iterable[Drift], planned: Planned) -> Iterator[Drift]:
    """Return changes of the plan that no reported drift covers."""
    claims = [claim for drift in drifts for claim in drift.claims]
    for change in planned.changes:
        if isinstance(change, KubernetesChange) and not planned.observed.api_answers:
            continue  # The objects in the cluster are unknown.
        layer = _layer(change)
        steps = _steps(change, planned.plan.steps)
        if layer is None or not steps or any(_is_claimed(step, claims) for step in steps):
            continue
        goes = change.node and any(step.id.startswith("vms/destroy/") for step in steps)
        own = (f"node:{change.node}",) if goes else tuple(step.id for step in steps)
        claims += own
        yield Drift(
            layer=layer,
            subject=change.node or change.what,
            description=change.what,
            why=change.why,
            author=_UNKNOWN_AUTHOR,
            severity=_severity(change),
            claims=own,
        )


def _is_claimed(step: Step, claims: Iterable[str]) -> bool:
    for claim in claims:
        kind, _, node = claim.partition(":")
        if kind == "node" and step.node == node:
            return True
        if step.id == claim or step.id.startswith(f"{claim}/"):
            return True
    return False


def _layer(change: Change) -> Layer | None:
    """Return the layer of a change. None: it is a means or a wait, not a difference."""
    if isinstance(change, ClientFileChange):
        return Layer.ACCESS
    if isinstance(change, KubernetesChange):
        is_wait = isinstance(change.action, Checkpoint | RunSmokeTest)
        return None if is_wait else Layer.KUBERNETES
    if isinstance(change, ProxmoxChange):
        return _proxmox_layer(change)
    if change.stage is Stage.ACCESS:
        return None  # Rendered files are reported one by one.
    if change.stage is Stage.TALOS and change.what.startswith("Node "):
        return Layer.KUBERNETES
    return Layer.TALOS


def _proxmox_layer(change: ProxmoxChange) -> Layer | None:
    if change.stage is Stage.ACCESS:
        return Layer.ACCESS
    if change.stage is not Stage.VMS:
        return None
    is_placement = any(step.id.startswith(_PLACING) for step in change.steps)
    return Layer.PLACEMENT if is_placement else Layer.VMS


def _steps(change: Change, planned: tuple[Step, ...]) -> tuple[Step, ...]:
    if isinstance(change, ProxmoxChange):
        return change.steps
    if isinstance(change, KubernetesChange):
        return tuple(step for step in planned if step.id == change.id)
    if isinstance(change, ClientFileChange):
        step_id = f"talos/client-file/{change.action.file}"
        return tuple(step for step in planned if step.id == step_id)
    return tuple(step for step in planned if step.stage is Stage.TALOS and step.node == change.node)


def _severity(change: Change) -> DriftSeverity:
    if isinstance(change, ClientFileChange):
        return DriftSeverity.NOTICE
    return DriftSeverity.CRITICAL if change.mark is ChangeKind.ADD else DriftSeverity.WARNING
