"""Workloads: whatever makes pods from a template."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.kube.admission.checks.pods import pod_spec_causes, template_causes
from stockman_lab.kube.admission.draft import Draft, forbidden_field, required, unsupported, wrong
from stockman_lab.kube.admission.go_shown import shown_selector
from stockman_lab.kube.failures import Cause
from stockman_lab.kube.objects import Object, part_of

_NEGATIVE = "must be greater than or equal to 0"
_FIELDS_OF_CRON = 5


def deployment_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a deployment."""
    spec = part_of(draft.content, "spec")
    yield from _at_least_zero(spec, "replicas")
    yield from _selector_causes(spec)
    yield from _strategy_causes(spec)
    yield from _at_least_zero(spec, "minReadySeconds")
    yield from _at_least_zero(spec, "revisionHistoryLimit")
    yield from template_causes(part_of(spec, "template"), "spec.template", spec.get("selector"))
    yield from _always(spec)


def _at_least_zero(spec: Object, name: str) -> Iterator[Cause]:
    found = spec.get(name)
    if isinstance(found, int) and found < 0:
        yield wrong(f"spec.{name}", found, _NEGATIVE)


def _selector_causes(spec: Object) -> Iterator[Cause]:
    selector = spec.get("selector")
    if not isinstance(selector, dict):
        yield required("spec.selector")
    elif not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield wrong(
            "spec.selector", shown_selector(selector), "empty selector is invalid for deployment"
        )


def _strategy_causes(spec: Object) -> Iterator[Cause]:
    strategy = part_of(spec, "strategy")
    if strategy.get("type") == "Recreate" and strategy.get("rollingUpdate") is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden_field("spec.strategy.rollingUpdate", why)
    elif strategy.get("type") not in {"Recreate", "RollingUpdate"}:
        yield unsupported(
            "spec.strategy.type", strategy.get("type", ""), ("Recreate", "RollingUpdate")
        )
    rolling = part_of(strategy, "rollingUpdate")
    if rolling.get("maxUnavailable") in (0, "0%") and rolling.get("maxSurge") in (0, "0%"):
        why = "may not be 0 when `maxSurge` is 0"
        yield wrong("spec.strategy.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], why)


def _always(spec: Object) -> Iterator[Cause]:
    policy = part_of(spec, "template", "spec").get("restartPolicy")
    if policy in {"Never", "OnFailure"}:
        yield unsupported("spec.template.spec.restartPolicy", policy, ("Always",))


def replica_set_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a replica set."""
    spec = part_of(draft.content, "spec")
    yield from _at_least_zero(spec, "replicas")
    if not isinstance(spec.get("selector"), dict):
        yield required("spec.selector")
    yield from template_causes(part_of(spec, "template"), "spec.template", spec.get("selector"))
    yield from _always(spec)


def stateful_set_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a stateful set."""
    spec = part_of(draft.content, "spec")
    yield from _at_least_zero(spec, "replicas")
    if not isinstance(spec.get("selector"), dict):
        yield required("spec.selector")
    yield from template_causes(part_of(spec, "template"), "spec.template", spec.get("selector"))
    yield from _always(spec)


def daemon_set_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a daemon set."""
    spec = part_of(draft.content, "spec")
    yield from template_causes(part_of(spec, "template"), "spec.template", spec.get("selector"))
    yield from _always(spec)


def selector_update_causes(draft: Draft) -> Iterator[Cause]:
    """Selectors stay what they are."""
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    if new.get("selector") != old.get("selector"):
        yield wrong("spec.selector", shown_selector(new.get("selector")), "field is immutable")


_CHANGEABLE = frozenset(
    {
        "minReadySeconds",
        "ordinals",
        "persistentVolumeClaimRetentionPolicy",
        "replicas",
        "revisionHistoryLimit",
        "template",
        "updateStrategy",
    }
)
_STATEFUL = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
    " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and"
    " 'minReadySeconds' are forbidden"
)


def stateful_set_update_causes(draft: Draft) -> Iterator[Cause]:
    """Most of a stateful set stays what it is."""
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    names = {*new, *old} - _CHANGEABLE
    if any(new.get(name) != old.get(name) for name in names):
        yield forbidden_field("spec", _STATEFUL)


def job_update_causes(draft: Draft) -> Iterator[Cause]:
    """Jobs stay what they are, but for how many pods work at a time."""
    new, old = part_of(draft.content, "spec"), part_of(draft.old or {}, "spec")
    for name in ("completions", "selector", "template", "completionMode", "podFailurePolicy"):
        if new.get(name) != old.get(name):
            yield wrong(f"spec.{name}", new.get(name), "field is immutable")


def job_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a job."""
    spec = part_of(draft.content, "spec")
    yield from _at_least_zero(spec, "parallelism")
    yield from _at_least_zero(spec, "completions")
    yield from _at_least_zero(spec, "backoffLimit")
    yield from job_template_causes(spec, "spec")


def job_template_causes(spec: Object, field: str) -> Iterator[Cause]:
    """What is wrong with the pods of a job."""
    inner = part_of(spec, "template", "spec")
    yield from pod_spec_causes(inner, f"{field}.template.spec")
    if inner.get("restartPolicy") == "Always":
        path = f"{field}.template.spec.restartPolicy"
        yield required(path, 'valid values: "OnFailure", "Never"')


def cron_job_causes(draft: Draft) -> Iterator[Cause]:
    """What is wrong with a cron job."""
    spec = part_of(draft.content, "spec")
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required("spec.schedule")
    elif not schedule.startswith("@") and len(schedule.split()) != _FIELDS_OF_CRON:
        parts = schedule.split()
        why = f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]"
        yield wrong("spec.schedule", schedule, why)
    yield from job_template_causes(part_of(spec, "jobTemplate", "spec"), "spec.jobTemplate.spec")
