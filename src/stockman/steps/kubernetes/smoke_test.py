"""Smoke tests: create small objects with a component, check the result, and delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    DeleteOptions,
    Object,
    ObjectRef,
    Propagation,
    ResourceKind,
    ServerSideApply,
)
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
from stockman.steps.kubernetes.readiness import ObjectCondition, check_conditions
from stockman.steps.ports import Ports

RESULTS = ObjectRef(kind=CONFIG_MAPS, name="stockman-smoke-tests", namespace="kube-system")
"""ConfigMap with the tested version of each component, or `PENDING`."""
PENDING = "pending"
"""Result of a smoke test that has not passed yet."""
_PAUSE = 2.0
_CRON_JOBS = ResourceKind(api_version="batch/v1", name="CronJob", plural="cronjobs")


@record
class RunSmokeTest(Action):
    """Run the smoke test of a component, and record that it passed."""

    kind: ClassVar[str] = "kube.smoke-test"
    component: str
    version: str
    says: str
    """What is tested."""
    objects: tuple[Mapping[str, object], ...] = ()
    """Objects to create in this order, and to delete in reverse."""
    cron_job: str = ""
    """CronJob to start once, `namespace/name`, as the Job `stockman-NAME-test`. Empty: none."""
    created: tuple[Mapping[str, object], ...] = ()
    """Objects that the component creates for the test; deleted if they have our label."""
    until: tuple[ObjectCondition, ...] = ()
    """Conditions for success."""
    gone: tuple[ObjectCondition, ...] = ()
    """Conditions after the objects are deleted."""
    seconds: float = 300.0

    @property
    def summary(self) -> str:
        return f"test {self.component}: {self.says}"

    @property
    def touches(self) -> tuple[str, ...]:
        return (f"smoke-test/{self.component}",)

    async def done(self, ports: Ports) -> bool:
        results = await find_object(ports.to_kubernetes(), RESULTS)
        return results is not None and text_at(results, "data", self.component) == self.version

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        await record_smoke_test(kubernetes, self.component, PENDING)
        await self.test(ports)
        await record_smoke_test(kubernetes, self.component, self.version)

    async def test(self, ports: Ports) -> None:
        """Run the test without recording it; raises `Rejected` if it fails.

        Its objects are deleted in any case, also when the task is cancelled.
        """
        kubernetes = ports.to_kubernetes()
        contents = [*self.objects]
        if self.cron_job:
            contents.append(await _job_from(kubernetes, self.cron_job))
        refs = [await _ref(kubernetes, content) for content in contents]
        temporary = [*refs, *[await _ref(kubernetes, content) for content in self.created]]
        await self._refuse_foreign_objects(kubernetes, refs)
        await _delete_objects(kubernetes, temporary)
        await self._wait_until_deleted(ports, temporary)
        try:
            for ref, content in zip(refs, contents, strict=True):
                await apply_object(kubernetes, ref.kind, _with_our_label(content))
            await self._wait_for(ports, self.until)
        finally:
            await _delete_objects(kubernetes, temporary)
        await self._wait_until_deleted(ports, temporary)
        await self._wait_for(ports, self.gone)

    async def _refuse_foreign_objects(
        self, kubernetes: KubernetesClient, refs: Sequence[ObjectRef]
    ) -> None:
        for ref in refs:
            content = await find_object(kubernetes, ref)
            if content is not None and not is_managed(content):
                why = f"the smoke test of {self.component} creates an object with this name"
                raise Refused(problems.foreign_object(ref, (), why))

    async def _wait_for(self, ports: Ports, conditions: tuple[ObjectCondition, ...]) -> None:
        end = ports.clock.now().timestamp() + self.seconds
        while True:
            results = await check_conditions(ports.to_kubernetes(), conditions)
            unmet = [
                f"{result.condition.says} ({result.seen})" for result in results if not result.holds
            ]
            if not unmet:
                return
            if ports.clock.now().timestamp() >= end:
                raise Rejected(problems.smoke_test_failure(self.component, self.seconds, unmet))
            await ports.clock.sleep(_PAUSE)

    async def _wait_until_deleted(self, ports: Ports, refs: Sequence[ObjectRef]) -> None:
        end = ports.clock.now().timestamp() + self.seconds
        while remaining := await _managed_objects(ports.to_kubernetes(), refs):
            if ports.clock.now().timestamp() >= end:
                unmet = [f"{ref.shown} is deleted" for ref, _ in remaining]
                raise Rejected(problems.smoke_test_failure(self.component, self.seconds, unmet))
            await ports.clock.sleep(_PAUSE)


async def record_smoke_test(kubernetes: KubernetesClient, component: str, result: str) -> None:
    """Record the result of a component: `PENDING`, or the version that passed.

    Each component has its own field manager, so that parallel tests keep each other's results.
    """
    content = with_owner_labels(
        CONFIG_MAPS, RESULTS.name, RESULTS.namespace, data={component: result}
    )
    manager = f"{MANAGER}-test-{component}"
    await kubernetes.apply(
        CONFIG_MAPS, ServerSideApply(content=content, manager=manager, force=True)
    )


async def _managed_objects(
    kubernetes: KubernetesClient, refs: Sequence[ObjectRef]
) -> list[tuple[ObjectRef, Object]]:
    """Return those of the objects that exist and have our label."""
    contents = [(ref, await find_object(kubernetes, ref)) for ref in refs]
    return [(ref, content) for ref, content in contents if content and is_managed(content)]


async def _delete_objects(kubernetes: KubernetesClient, refs: Sequence[ObjectRef]) -> None:
    for ref, content in reversed(await _managed_objects(kubernetes, refs)):
        options = DeleteOptions(uid=object_uid(content), propagation=Propagation.FOREGROUND)
        try:
            await kubernetes.delete(ref, options)
        except NotFound:
            continue


async def _job_from(kubernetes: KubernetesClient, cron_job: str) -> Object:
    """Return the Job that runs a CronJob once."""
    namespace, _, name = cron_job.partition("/")
    content = await kubernetes.get(ObjectRef(kind=_CRON_JOBS, name=name, namespace=namespace))
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"stockman-{name}-test", "namespace": namespace},
        "spec": mapping_at(content, "spec", "jobTemplate", "spec"),
    }


def _with_our_label(content: Object) -> dict[str, object]:
    metadata = mapping_at(content, "metadata")
    labels = {**mapping_at(metadata, "labels"), MANAGED_BY: MANAGER}
    return {**content, "metadata": {**metadata, "labels": labels}}


async def _ref(kubernetes: KubernetesClient, content: Object) -> ObjectRef:
    api_version, name = text_at(content, "apiVersion"), text_at(content, "kind")
    kind = await find_kind(kubernetes, api_version, name)
    if kind is None:
        raise NotFound(problems.cluster_unreadable(f"{api_version} {name} is not served"))
    namespace = text_at(content, "metadata", "namespace") if kind.is_namespaced else ""
    return ObjectRef(kind=kind, name=object_name(content), namespace=namespace)
