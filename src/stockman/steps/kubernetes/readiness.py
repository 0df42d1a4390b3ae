"""Whether a component is ready: conditions on its objects, and a gate that waits for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ObjectRef, Selection
from stockman.model.errors import NotFound, Unsupported
from stockman.model.record import record
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.kubernetes.cel import evaluate_condition
from stockman.steps.kubernetes.objects import (
    find_kind,
    number_at,
    object_name,
    read_condition,
    text_at,
)
from stockman.steps.ports import Ports

_MAX_LISTED = 4
"""Maximum number of objects that are named."""
_ABSENT = "it does not exist yet"


@record
class ObjectCondition:
    """A condition on an object in the cluster."""

    api_version: str
    kind: str
    name: str
    """Empty: every object of the kind."""
    expr: str
    """CEL over `object`."""
    says: str
    """Description of the condition."""
    namespace: str = ""
    """Empty: cluster-scoped."""


@record
class ConditionResult:
    """The result of checking a condition."""

    condition: ObjectCondition
    holds: bool
    seen: str
    """The observed state: `2 of 3 ready`, `it does not exist yet`."""


async def check_conditions(
    kubernetes: KubernetesClient, conditions: Iterable[ObjectCondition]
) -> tuple[ConditionResult, ...]:
    """Return the current result of each condition."""
    return tuple([await _check_condition(kubernetes, condition) for condition in conditions])


async def _check_condition(
    kubernetes: KubernetesClient, condition: ObjectCondition
) -> ConditionResult:
    kind = await find_kind(kubernetes, condition.api_version, condition.kind)
    unserved = f"{condition.kind} is not served yet"
    if kind is None:
        return ConditionResult(condition=condition, holds=False, seen=unserved)
    try:
        if condition.name:
            ref = ObjectRef(kind=kind, name=condition.name, namespace=condition.namespace)
            contents: tuple[Object, ...] = (await kubernetes.get(ref),)
        else:
            selection = Selection(namespace=condition.namespace)
            contents = (await kubernetes.objects(kind, selection)).items
    except Unsupported:
        return ConditionResult(condition=condition, holds=False, seen=unserved)
    except NotFound:
        return ConditionResult(condition=condition, holds=False, seen=_ABSENT)
    return judge_condition(condition, contents)


def judge_condition(condition: ObjectCondition, contents: tuple[Object, ...]) -> ConditionResult:
    """Return whether a condition is true for all of its objects."""
    if condition.name and not contents:
        return ConditionResult(condition=condition, holds=False, seen=_ABSENT)
    failing = [content for content in contents if not evaluate_condition(condition.expr, content)]
    if condition.name:
        seen = describe_object(contents[0])
        return ConditionResult(condition=condition, holds=not failing, seen=seen)
    names = ", ".join(object_name(content) for content in failing[:_MAX_LISTED])
    more = f" and {len(failing) - _MAX_LISTED} more" if len(failing) > _MAX_LISTED else ""
    exceptions = f", not {names}{more}" if failing else ""
    seen = f"{len(contents) - len(failing)} of {len(contents)}{exceptions}"
    return ConditionResult(condition=condition, holds=not failing, seen=seen)


def describe_object(content: Object) -> str:
    """Return the state of an object in few words."""
    match content.get("kind"):
        case "Deployment" | "StatefulSet":
            desired = number_at(content, "spec", "replicas")
            return f"{number_at(content, 'status', 'readyReplicas')} of {desired} ready"
        case "DaemonSet":
            desired = number_at(content, "status", "desiredNumberScheduled")
            return f"{number_at(content, 'status', 'numberReady')} of {desired} ready"
        case "CustomResourceDefinition":
            return "served" if read_condition(content, "Established").holds else "not served yet"
        case _:
            ready = read_condition(content, "Ready")
            return ready.message or ready.reason or ready.status or _phase(content)


def _phase(content: Object) -> str:
    phase = text_at(content, "status", "phase")
    return f"its phase is {phase}" if phase else "its status is empty"


@record
class ComponentReady(Gate):
    """A component is ready."""

    kind: ClassVar[str] = "kube.working"
    component: str
    conditions: tuple[ObjectCondition, ...]

    @property
    def summary(self) -> str:
        return f"{self.component} is ready: " + "; ".join(
            condition.says for condition in self.conditions
        )

    async def check(self, ports: Ports) -> Verdict:
        results = await check_conditions(ports.to_kubernetes(), self.conditions)
        unmet = [result for result in results if not result.holds]
        state = "; ".join(
            f"{result.condition.says} ({result.seen})" for result in (unmet or results)
        )
        if unmet:
            return Verdict(answer=GateAnswer.WAIT, because=f"waits for: {state}")
        return Verdict(answer=GateAnswer.GO, because=state)
