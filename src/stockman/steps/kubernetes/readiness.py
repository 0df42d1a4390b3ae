"""Whether a component works: what its objects have to say, and a gate that waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import Object, ObjectRef, Selection
from stockman.model.errors import NotFound, Unsupported
from stockman.model.record import record
from stockman.steps.base import Gate, GateAnswer, Verdict
from stockman.steps.kubernetes.cel import evaluate_condition
from stockman.steps.kubernetes.objects import find_kind, number_at, object_name, read_condition
from stockman.steps.ports import Ports

_MAX_LISTED = 4
"""More objects than this are counted, not named."""


@record
class ObjectCondition:
    """Something that has to be true of an object in the cluster."""

    api_version: str
    kind: str
    name: str
    """Empty: every object of the kind."""
    expr: str
    """CEL over `object`."""
    says: str
    """The same in words."""
    namespace: str = ""
    """Empty: cluster-wide."""


@record
class ConditionResult:
    """How a condition was found."""

    condition: ObjectCondition
    holds: bool
    seen: str
    """The numbers: `2 of 3 ready`, `there is none`."""


async def check_conditions(
    kubernetes: KubernetesClient, conditions: Iterable[ObjectCondition]
) -> tuple[ConditionResult, ...]:
    """Each condition as it is now, in their order."""
    return tuple([await _check_condition(kubernetes, one) for one in conditions])


async def _check_condition(
    kubernetes: KubernetesClient, wanted: ObjectCondition
) -> ConditionResult:
    kind = await find_kind(kubernetes, wanted.api_version, wanted.kind)
    if kind is None:
        return ConditionResult(
            condition=wanted, holds=False, seen=f"{wanted.kind} is not served yet"
        )
    try:
        if wanted.name:
            ref = ObjectRef(kind=kind, name=wanted.name, namespace=wanted.namespace)
            found: tuple[Object, ...] = (await kubernetes.get(ref),)
        else:
            found = (await kubernetes.objects(kind, Selection(namespace=wanted.namespace))).items
    except Unsupported:
        return ConditionResult(
            condition=wanted, holds=False, seen=f"{wanted.kind} is not served yet"
        )
    except NotFound:
        return ConditionResult(condition=wanted, holds=False, seen="there is none yet")
    return judge_condition(wanted, found)


def judge_condition(wanted: ObjectCondition, found: tuple[Object, ...]) -> ConditionResult:
    """How a condition is fulfilled by the objects that it is about."""
    if wanted.name and not found:
        return ConditionResult(condition=wanted, holds=False, seen="there is none yet")
    bad = [one for one in found if not evaluate_condition(wanted.expr, one)]
    if wanted.name:
        return ConditionResult(condition=wanted, holds=not bad, seen=describe_object(found[0]))
    names = ", ".join(object_name(one) for one in bad[:_MAX_LISTED])
    more = f" and {len(bad) - _MAX_LISTED} more" if len(bad) > _MAX_LISTED else ""
    left = f", not {names}{more}" if bad else ""
    seen = f"{len(found) - len(bad)} of {len(found)}{left}"
    return ConditionResult(condition=wanted, holds=not bad, seen=seen)


def describe_object(content: Object) -> str:
    """How far an object is, in few words."""
    match content.get("kind"):
        case "Deployment" | "StatefulSet":
            wanted = number_at(content, "spec", "replicas")
            return f"{number_at(content, 'status', 'readyReplicas')} of {wanted} ready"
        case "DaemonSet":
            wanted = number_at(content, "status", "desiredNumberScheduled")
            return f"{number_at(content, 'status', 'numberReady')} of {wanted} ready"
        case "CustomResourceDefinition":
            return "served" if read_condition(content, "Established").holds else "not served yet"
        case _:
            told = read_condition(content, "Ready")
            return told.message or told.reason or told.status or "it says nothing yet"


@record
class ComponentReady(Gate):
    """A component does what it is for."""

    kind: ClassVar[str] = "kube.working"
    component: str
    conditions: tuple[ObjectCondition, ...]

    @property
    def summary(self) -> str:
        return f"{self.component} works: " + "; ".join(one.says for one in self.conditions)

    async def check(self, ports: Ports) -> Verdict:
        found = await check_conditions(ports.to_kubernetes(), self.conditions)
        waited = [one for one in found if not one.holds]
        told = "; ".join(f"{one.condition.says} ({one.seen})" for one in (waited or found))
        if waited:
            return Verdict(answer=GateAnswer.WAIT, because=f"waits for: {told}")
        return Verdict(answer=GateAnswer.GO, because=told)
