"""Ask Flux to reconcile an object now, not at its interval."""

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
    """Ask Flux to reconcile one of its objects, and wait until it has."""

    kind: ClassVar[str] = "kube.reconcile"
    of: ResourceKind
    namespace: str
    name: str
    request: str
    """Unique text for each request, such as a time."""
    seconds: float = 300.0

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(kind=self.of, name=self.name, namespace=self.namespace)

    @property
    def summary(self) -> str:
        return f"reconcile {self.of.name} {self.namespace}/{self.name}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"object/{self.of.name}/{self.namespace}/{self.name}",)

    async def done(self, ports: Ports) -> bool:
        content = await find_object(ports.to_kubernetes(), self.ref)
        return content is not None and self._is_handled(content)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        change = {"metadata": {"annotations": {_REQUESTED: self.request}}}
        try:
            content = await kubernetes.patch(self.ref, MergePatch(changes=change))
        except NotFound as error:
            raise Refused(
                problems.reconcile_timeout(self.ref, 0.0, "the object does not exist")
            ) from error
        end = ports.clock.now().timestamp() + self.seconds
        while not self._is_handled(content):
            if ports.clock.now().timestamp() >= end:
                raise Refused(
                    problems.reconcile_timeout(self.ref, self.seconds, _condition_reason(content))
                )
            await ports.clock.sleep(_PAUSE)
            content = await kubernetes.get(self.ref)

    def _is_handled(self, content: Object) -> bool:
        return text_at(content, "status", "lastHandledReconcileAt") == self.request


def _condition_reason(content: Object) -> str:
    if mapping_at(content, "spec").get("suspend") is True:
        return "it is suspended"
    return read_condition(content, "Ready").message or "its status gives no reason"


@record
class NoPendingSecrets(Gate):
    """All apps that are installed before Flux are rendered with their secrets.

    A plan does not contain apps that are pending; they need a new plan after rendering.
    """

    kind: ClassVar[str] = "kube.nothing-pending"
    pending: tuple[str, ...]
    """Pending apps, each with what it waits for."""

    @property
    def summary(self) -> str:
        return "no app that is installed before Flux waits for a secret"

    async def check(self, ports: Ports) -> Verdict:
        if not self.pending:
            return Verdict(answer=GateAnswer.GO, because="all of them are rendered")
        apps = "; ".join(self.pending)
        return Verdict(
            answer=GateAnswer.STOP,
            because=f"{apps}: run `stockman render`, commit and push, then apply again",
        )
