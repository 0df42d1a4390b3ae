"""Requests to Flux: look at something now, not in an hour."""

from __future__ import annotations

from typing import ClassVar

from stockman.model.errors import NotFound, Refused
from stockman.model.record import record
from stockman.ports.kubernetes.kinds import Kind, Ref
from stockman.ports.kubernetes.objects import MergePatch, Object
from stockman.steps import kube_problems as problems
from stockman.steps.base import Action
from stockman.steps.kube_applying import found
from stockman.steps.kube_reading import condition, part, text
from stockman.steps.ports import Ports

_REQUESTED = "reconcile.fluxcd.io/requestedAt"
_PAUSE = 2.0


@record
class Reconcile(Action):
    """Have Flux look at one of its objects, and wait until it did."""

    kind: ClassVar[str] = "kube.reconcile"
    of: Kind
    namespace: str
    name: str
    request: str
    """Another text for each request, such as a moment."""
    seconds: float = 300.0

    @property
    def ref(self) -> Ref:
        return Ref(kind=self.of, name=self.name, namespace=self.namespace)

    @property
    def summary(self) -> str:
        return f"have Flux look at {self.of.name} {self.namespace}/{self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/{self.of.name}/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        there = await found(ports.to_kubernetes(), self.ref)
        return there is not None and self._is_handled(there)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        change = {"metadata": {"annotations": {_REQUESTED: self.request}}}
        try:
            there = await kubernetes.patch(self.ref, MergePatch(changes=change))
        except NotFound as error:
            raise Refused(problems.not_handled(self.ref, 0.0, "there is no such object")) from error
        end = ports.clock.now().timestamp() + self.seconds
        while not self._is_handled(there):
            if ports.clock.now().timestamp() >= end:
                raise Refused(problems.not_handled(self.ref, self.seconds, _why(there)))
            await ports.clock.sleep(_PAUSE)
            there = await kubernetes.get(self.ref)

    def _is_handled(self, content: Object) -> bool:
        return text(content, "status", "lastHandledReconcileAt") == self.request


def _why(content: Object) -> str:
    if part(content, "spec").get("suspend") is True:
        return "it is suspended"
    return condition(content, "Ready").message or "it says nothing of itself"
