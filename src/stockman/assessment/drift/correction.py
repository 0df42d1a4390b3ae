"""Match drift with the plan steps that correct it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stockman.assessment.drift.report import (
    Author,
    Correction,
    CorrectionStep,
    Drift,
    DriftSeverity,
    Layer,
)
from stockman.planning.change import Change, ChangeKind, ProxmoxChange
from stockman.planning.kubernetes.changes import KubernetesChange
from stockman.planning.planned import Planned
from stockman.planning.talos.changes import ClientFileChange
from stockman.steps.base import Checkpoint
from stockman.steps.kubernetes.smoke_test import RunSmokeTest
from stockman.steps.step import Stage, Step

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
