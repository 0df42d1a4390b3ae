"""Trials: make something small with a component, see that it works, clean up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stockman.model.errors import NotFound, Refused, Rejected
from stockman.model.record import record
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import CONFIG_MAPS, Ref
from stockman.ports.kubernetes.objects import Deletion, Object, Propagation
from stockman.steps import kube_problems as problems
from stockman.steps.base import Action
from stockman.steps.kube_applying import found, ours, put
from stockman.steps.kube_kinds import kind_of
from stockman.steps.kube_reading import MANAGED_BY, MANAGER, is_ours, name_of, part, text, uid_of
from stockman.steps.kube_working import ObjectCondition, Sight, sights
from stockman.steps.ports import Ports

PASSED = Ref(kind=CONFIG_MAPS, name="stockman-trials", namespace="kube-system")
"""Where trials that succeeded are written down, by component, with what was tried."""
BEGUN = "begun"
"""Stands there for a trial that did not succeed yet."""
_PAUSE = 2.0


@record
class TryComponent(Action):
    """Prove that a component does what it is for."""

    kind: ClassVar[str] = "kube.trial"
    component: str
    version: str
    says: str
    """What is tried."""
    objects: tuple[Mapping[str, object], ...] = ()
    """Made in order, removed in reverse."""
    until: tuple[ObjectCondition, ...] = ()
    gone: tuple[ObjectCondition, ...] = ()
    """What holds once the objects are removed."""
    seconds: float = 300.0

    @property
    def summary(self) -> str:
        return f"try {self.component}: {self.says}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"trial/{self.component}",)

    async def done(self, ports: Ports) -> bool:
        there = await found(ports.to_kubernetes(), PASSED)
        return there is not None and text(there, "data", self.component) == self.version

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        await note_trial(kubernetes, self.component, BEGUN)
        for one in self.objects:
            await self._make(kubernetes, one)
        left = await self._waited(ports, self.until)
        for one in reversed(self.objects):
            await self._remove(kubernetes, one)
        if not left:
            left = await self._waited(ports, self.gone)
        if left:
            told = [f"{one.condition.says} ({one.seen})" for one in left]
            raise Rejected(problems.trial_failed(self.component, self.seconds, told))
        await note_trial(kubernetes, self.component, self.version)

    async def _waited(self, ports: Ports, conditions: tuple[ObjectCondition, ...]) -> list[Sight]:
        """What did not become true in time."""
        end = ports.clock.now().timestamp() + self.seconds
        while True:
            seen = await sights(ports.to_kubernetes(), conditions)
            left = [one for one in seen if not one.holds]
            if not left or ports.clock.now().timestamp() >= end:
                return left
            await ports.clock.sleep(_PAUSE)

    async def _make(self, kubernetes: Kubernetes, content: Object) -> None:
        ref = await _ref(kubernetes, content)
        there = await found(kubernetes, ref)
        if there is not None and not is_ours(there):
            raise Refused(problems.foreign(ref, (), "it has the name of what is tried with"))
        metadata = part(content, "metadata")
        labels = {**part(metadata, "labels"), MANAGED_BY: MANAGER}
        await put(kubernetes, ref.kind, {**content, "metadata": {**metadata, "labels": labels}})

    async def _remove(self, kubernetes: Kubernetes, content: Object) -> None:
        ref = await _ref(kubernetes, content)
        there = await found(kubernetes, ref)
        if there is None or not is_ours(there):
            return
        how = Deletion(uid=uid_of(there), propagation=Propagation.BACKGROUND)
        try:
            await kubernetes.delete(ref, how)
        except NotFound:
            return


async def note_trial(kubernetes: Kubernetes, component: str, how: str) -> None:
    """Write down how far the trial of a component is: begun, or the version that passed."""
    there = await found(kubernetes, PASSED)
    known = {key: str(value) for key, value in part(there or {}, "data").items()}
    if known.get(component) == how:
        return
    content = ours(CONFIG_MAPS, PASSED.name, PASSED.namespace, data={**known, component: how})
    await put(kubernetes, CONFIG_MAPS, content)


async def _ref(kubernetes: Kubernetes, content: Object) -> Ref:
    api_version, name = text(content, "apiVersion"), text(content, "kind")
    kind = await kind_of(kubernetes, api_version, name)
    if kind is None:
        raise NotFound(problems.unknown(f"{api_version} {name} is not served"))
    namespace = text(content, "metadata", "namespace") if kind.is_namespaced else ""
    return Ref(kind=kind, name=name_of(content), namespace=namespace)
