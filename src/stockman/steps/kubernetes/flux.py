"""Requests to Flux: look at something now, not in an hour."""

from __future__ import annotations

from typing import ClassVar

from stockman.kubernetes.objects import MergePatch, Object, ObjectRef, ResourceKind
from stockman.model.errors import NotFound, Refused
from stockman.model.record import record
from stockman.steps.base import Action, Gate, GateAnswer, Verdict
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import find_object, mapping_at, read_condition, text_at
from stockman.steps.ports import Ports

_REQUESTED = "reconcile.fluxcd.io/requestedAt"
_PAUSE = 2.0


@record
class Reconcile(Action):
    """Have Flux look at one of its objects, and wait until it did."""

    kind: ClassVar[str] = "kube.reconcile"
    of: ResourceKind
    namespace: str
    name: str
    request: str
    """Another text for each request, such as a moment."""
    seconds: float = 300.0

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(kind=self.of, name=self.name, namespace=self.namespace)

    @property
    def summary(self) -> str:
        return f"have Flux look at {self.of.name} {self.namespace}/{self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/{self.of.name}/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        there = await find_object(ports.to_kubernetes(), self.ref)
        return there is not None and self._is_handled(there)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        change = {"metadata": {"annotations": {_REQUESTED: self.request}}}
        try:
            there = await kubernetes.patch(self.ref, MergePatch(changes=change))
        except NotFound as error:
            raise Refused(
                problems.reconcile_timeout(self.ref, 0.0, "there is no such object")
            ) from error
        end = ports.clock.now().timestamp() + self.seconds
        while not self._is_handled(there):
            if ports.clock.now().timestamp() >= end:
                raise Refused(
                    problems.reconcile_timeout(self.ref, self.seconds, _condition_reason(there))
                )
            await ports.clock.sleep(_PAUSE)
            there = await kubernetes.get(self.ref)

    def _is_handled(self, content: Object) -> bool:
        return text_at(content, "status", "lastHandledReconcileAt") == self.request


def _condition_reason(content: Object) -> str:
    if mapping_at(content, "spec").get("suspend") is True:
        return "it is suspended"
    return read_condition(content, "Ready").message or "it says nothing of itself"


@record
class NoPendingSecrets(Gate):
    """Everything that comes before Flux was rendered with its secrets.

    The plan was made without what is pending: with its secrets rendered, another one is needed.
    """

    kind: ClassVar[str] = "kube.nothing-pending"
    pending: tuple[str, ...]
    """What waits, and for what."""

    @property
    def summary(self) -> str:
        return "nothing that comes before Flux waits for a secret"

    async def check(self, ports: Ports) -> Verdict:
        if not self.pending:
            return Verdict(answer=GateAnswer.GO, because="all of it was rendered")
        told = "; ".join(self.pending)
        return Verdict(
            answer=GateAnswer.STOP,
            because=f"{told}: run `stockman render`, commit and push, then apply again",
        )
