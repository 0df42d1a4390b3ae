"""Whether a component works: what its objects have to say, and a gate that waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from stockman.model.errors import NotFound, Unsupported
from stockman.model.record import record
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import Ref
from stockman.ports.kubernetes.objects import Object, Selection
from stockman.steps.base import Answer, Gate, Verdict
from stockman.steps.kube_expressions import holds
from stockman.steps.kube_kinds import kind_of
from stockman.steps.kube_reading import condition, name_of, number
from stockman.steps.ports import Ports

_MANY = 4
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
class Sight:
    """How a condition was found."""

    condition: ObjectCondition
    holds: bool
    seen: str
    """The numbers: `2 of 3 ready`, `there is none`."""


async def sights(
    kubernetes: Kubernetes, conditions: Iterable[ObjectCondition]
) -> tuple[Sight, ...]:
    """Each condition as it is now, in their order."""
    return tuple([await _sight(kubernetes, one) for one in conditions])


async def _sight(kubernetes: Kubernetes, wanted: ObjectCondition) -> Sight:
    kind = await kind_of(kubernetes, wanted.api_version, wanted.kind)
    if kind is None:
        return Sight(condition=wanted, holds=False, seen=f"{wanted.kind} is not served yet")
    try:
        if wanted.name:
            ref = Ref(kind=kind, name=wanted.name, namespace=wanted.namespace)
            found: tuple[Object, ...] = (await kubernetes.get(ref),)
        else:
            found = (await kubernetes.objects(kind, Selection(namespace=wanted.namespace))).items
    except Unsupported:
        return Sight(condition=wanted, holds=False, seen=f"{wanted.kind} is not served yet")
    except NotFound:
        return Sight(condition=wanted, holds=False, seen="there is none yet")
    return judged(wanted, found)


def judged(wanted: ObjectCondition, found: tuple[Object, ...]) -> Sight:
    """How a condition is fulfilled by the objects that it is about."""
    if wanted.name and not found:
        return Sight(condition=wanted, holds=False, seen="there is none yet")
    bad = [one for one in found if not holds(wanted.expr, one)]
    if wanted.name:
        return Sight(condition=wanted, holds=not bad, seen=shown(found[0]))
    names = ", ".join(name_of(one) for one in bad[:_MANY])
    more = f" and {len(bad) - _MANY} more" if len(bad) > _MANY else ""
    left = f", not {names}{more}" if bad else ""
    seen = f"{len(found) - len(bad)} of {len(found)}{left}"
    return Sight(condition=wanted, holds=not bad, seen=seen)


def shown(content: Object) -> str:
    """How far an object is, in few words."""
    match content.get("kind"):
        case "Deployment" | "StatefulSet":
            wanted = number(content, "spec", "replicas")
            return f"{number(content, 'status', 'readyReplicas')} of {wanted} ready"
        case "DaemonSet":
            wanted = number(content, "status", "desiredNumberScheduled")
            return f"{number(content, 'status', 'numberReady')} of {wanted} ready"
        case "CustomResourceDefinition":
            return "served" if condition(content, "Established").holds else "not served yet"
        case _:
            told = condition(content, "Ready")
            return told.message or told.reason or told.status or "it says nothing yet"


@record
class Working(Gate):
    """A component does what it is for."""

    kind: ClassVar[str] = "kube.working"
    component: str
    conditions: tuple[ObjectCondition, ...]

    @property
    def summary(self) -> str:
        return f"{self.component} works: " + "; ".join(one.says for one in self.conditions)

    async def check(self, ports: Ports) -> Verdict:
        found = await sights(ports.to_kubernetes(), self.conditions)
        waited = [one for one in found if not one.holds]
        told = "; ".join(f"{one.condition.says} ({one.seen})" for one in (waited or found))
        if waited:
            return Verdict(answer=Answer.WAIT, because=f"waits for: {told}")
        return Verdict(answer=Answer.GO, because=told)
