"""Trials: make something small with a component, see that it works, clean up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import CONFIG_MAPS, DeleteOptions, Object, ObjectRef, Propagation
from stockman.model.errors import NotFound, Refused, Rejected
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import (
    MANAGED_BY,
    MANAGER,
    apply_object,
    find_kind,
    find_object,
    is_managed,
    mapping_at,
    object_name,
    object_uid,
    text_at,
    with_owner_labels,
)
from stockman.steps.kubernetes.readiness import ConditionResult, ObjectCondition, check_conditions
from stockman.steps.ports import Ports

PASSED = ObjectRef(kind=CONFIG_MAPS, name="stockman-trials", namespace="kube-system")
"""Where trials that succeeded are written down, by component, with what was tried."""
STARTED = "begun"
"""Stands there for a trial that did not succeed yet."""
_PAUSE = 2.0


@record
class RunSmokeTest(Action):
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
        there = await find_object(ports.to_kubernetes(), PASSED)
        return there is not None and text_at(there, "data", self.component) == self.version

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        await record_smoke_test(kubernetes, self.component, STARTED)
        for one in self.objects:
            await self._make(kubernetes, one)
        left = await self._waited(ports, self.until)
        for one in reversed(self.objects):
            await self._remove(kubernetes, one)
        if not left:
            left = await self._waited(ports, self.gone)
        if left:
            told = [f"{one.condition.says} ({one.seen})" for one in left]
            raise Rejected(problems.smoke_test_failure(self.component, self.seconds, told))
        await record_smoke_test(kubernetes, self.component, self.version)

    async def _waited(
        self, ports: Ports, conditions: tuple[ObjectCondition, ...]
    ) -> list[ConditionResult]:
        """What did not become true in time."""
        end = ports.clock.now().timestamp() + self.seconds
        while True:
            seen = await check_conditions(ports.to_kubernetes(), conditions)
            left = [one for one in seen if not one.holds]
            if not left or ports.clock.now().timestamp() >= end:
                return left
            await ports.clock.sleep(_PAUSE)

    async def _make(self, kubernetes: KubernetesClient, content: Object) -> None:
        ref = await _ref(kubernetes, content)
        there = await find_object(kubernetes, ref)
        if there is not None and not is_managed(there):
            raise Refused(problems.foreign_object(ref, (), "it has the name of what is tried with"))
        metadata = mapping_at(content, "metadata")
        labels = {**mapping_at(metadata, "labels"), MANAGED_BY: MANAGER}
        await apply_object(
            kubernetes, ref.kind, {**content, "metadata": {**metadata, "labels": labels}}
        )

    async def _remove(self, kubernetes: KubernetesClient, content: Object) -> None:
        ref = await _ref(kubernetes, content)
        there = await find_object(kubernetes, ref)
        if there is None or not is_managed(there):
            return
        how = DeleteOptions(uid=object_uid(there), propagation=Propagation.BACKGROUND)
        try:
            await kubernetes.delete(ref, how)
        except NotFound:
            return


async def record_smoke_test(kubernetes: KubernetesClient, component: str, how: str) -> None:
    """Write down how far the trial of a component is: begun, or the version that passed."""
    there = await find_object(kubernetes, PASSED)
    known = {key: str(value) for key, value in mapping_at(there or {}, "data").items()}
    if known.get(component) == how:
        return
    content = with_owner_labels(
        CONFIG_MAPS, PASSED.name, PASSED.namespace, data={**known, component: how}
    )
    await apply_object(kubernetes, CONFIG_MAPS, content)


async def _ref(kubernetes: KubernetesClient, content: Object) -> ObjectRef:
    api_version, name = text_at(content, "apiVersion"), text_at(content, "kind")
    kind = await find_kind(kubernetes, api_version, name)
    if kind is None:
        raise NotFound(problems.cluster_unreadable(f"{api_version} {name} is not served"))
    namespace = text_at(content, "metadata", "namespace") if kind.is_namespaced else ""
    return ObjectRef(kind=kind, name=object_name(content), namespace=namespace)
