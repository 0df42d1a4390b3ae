"""Objects of Kubernetes as plans and status see them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import TypeVar

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    DAEMON_SETS,
    DEPLOYMENTS,
    NAMESPACES,
    NODES,
    SECRETS,
    STATEFUL_SETS,
    Object,
    ObjectRef,
    ResourceKind,
    Selection,
)
from stockman.model.errors import NotFound, StockmanError, Unsupported
from stockman.model.record import record
from stockman.planning.observed.kubernetes import (
    ObjectOwner,
    ObservedKubernetes,
    ObservedNode,
    ObservedObject,
    ObservedSecret,
)
from stockman.ports.system import Clock
from stockman.steps.kubernetes.objects import (
    DEFINITIONS,
    FLUX,
    HELM_OWNER,
    MANAGED_BY,
    MANAGER,
    ROLE_BINDINGS,
    field_managers,
    find_kind,
    is_managed,
    is_managed_by_flux,
    mapping_at,
    mappings_at,
    number_at,
    object_name,
    object_uid,
    parse_time,
    read_condition,
    text_at,
)
from stockman.steps.kubernetes.readiness import (
    ConditionResult,
    ObjectCondition,
    describe_object,
    judge_condition,
)
from stockman.steps.kubernetes.releases import BY_HELM, HelmRelease, latest_revision, parse_release
from stockman.steps.kubernetes.resources import secret_digests
from stockman.steps.kubernetes.smoke_test import PASSED

_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_READY = {
    "Deployment": "Available",
    "CustomResourceDefinition": "Established",
    "Job": "Complete",
}
"""The condition that tells that an object is as it should be; others have `Ready`."""
_REPLICA_KINDS = {
    "DaemonSet": ("status", "desiredNumberScheduled", "numberReady"),
    "StatefulSet": ("spec", "replicas", "readyReplicas"),
}


def parse_node(content: Object) -> ObservedNode:
    """A Node."""
    labels = mapping_at(content, "metadata", "labels")
    info = mapping_at(content, "status", "nodeInfo")
    ready = read_condition(content, "Ready")
    return ObservedNode(
        name=object_name(content),
        uid=object_uid(content),
        is_ready=ready.holds,
        unschedulable=mapping_at(content, "spec").get("unschedulable") is True,
        is_controller=_CONTROL_PLANE in labels,
        kubelet=text_at(info, "kubeletVersion"),
        system=text_at(info, "osImage"),
        provider_id=text_at(content, "spec", "providerID"),
        region=str(labels.get("topology.kubernetes.io/region", "")),
        zone=str(labels.get("topology.kubernetes.io/zone", "")),
        addresses=tuple(
            text_at(one, "address")
            for one in mappings_at(content, "status", "addresses")
            if one.get("type") == "InternalIP"
        ),
        taints=tuple(
            f"{text_at(one, 'key')}:{text_at(one, 'effect')}"
            for one in mappings_at(content, "spec", "taints")
        ),
        boot_id=text_at(info, "bootID"),
        machine_id=text_at(info, "machineID"),
        why="" if ready.holds else ready.message or "its kubelet says nothing",
        created=parse_time(text_at(content, "metadata", "creationTimestamp")),
        pressures=tuple(one for one in _PRESSURES if read_condition(content, one).holds),
        managers=field_managers(content),
    )


def parse_object(content: Object) -> ObservedObject:
    """An object of any kind."""
    kind = text_at(content, "kind")
    status = mapping_at(content, "status")
    return ObservedObject(
        kind=kind,
        namespace=text_at(content, "metadata", "namespace"),
        name=object_name(content),
        uid=object_uid(content),
        owner=object_owner(content),
        release=text_at(content, "metadata", "annotations", HELM_OWNER),
        ready=_is_ready(kind, content),
        seen=describe_object(content) if status else "",
        suspended=mapping_at(content, "spec").get("suspend") is True,
        revision=text_at(status, "lastAppliedRevision") or text_at(status, "artifact", "revision"),
        managers=field_managers(content),
    )


def parse_secret(content: Object) -> ObservedSecret:
    """A Secret, by digests."""
    return ObservedSecret(
        namespace=text_at(content, "metadata", "namespace"),
        name=object_name(content),
        owner=object_owner(content),
        digests=secret_digests(content),
    )


def object_owner(content: Object) -> ObjectOwner:
    """Who keeps an object as it is."""
    if is_managed_by_flux(content):
        return ObjectOwner.FLUX
    if text_at(content, "metadata", "annotations", HELM_OWNER):
        return ObjectOwner.HELM
    return ObjectOwner.STOCKMAN if is_managed(content) else ObjectOwner.OTHERS


def _is_ready(kind: str, content: Object) -> bool | None:
    if kind in _REPLICA_KINDS:
        place, wanted, there = _REPLICA_KINDS[kind]
        return number_at(content, "status", there) >= number_at(content, place, wanted)
    told = read_condition(content, _READY.get(kind, "Ready"))
    return told.holds if told.status else None


T = TypeVar("T")
_AT_ONCE = 8
_OURS = Selection(labels=f"{MANAGED_BY}={MANAGER}")


@record
class KubernetesQuery:
    """What is looked at besides what every cluster has."""

    secrets: tuple[ObjectRef, ...] = ()
    config_maps: tuple[ObjectRef, ...] = ()
    conditions: Mapping[str, tuple[ObjectCondition, ...]] = field(default_factory=dict)
    """By component."""


async def observe_kubernetes(
    kubernetes: KubernetesClient,
    clock: Clock,
    interest: KubernetesQuery,
    source: str = "Kubernetes API",
) -> ObservedKubernetes:
    """Everything that plans and status need of a cluster; what cannot be read is told."""
    looking = _KubernetesReader(kubernetes)
    at = clock.now()
    wanted = dict.fromkeys((one.api_version, one.kind) for one in _conditions(interest))
    async with asyncio.TaskGroup() as group:
        version = group.create_task(looking.part("version", looking.version))
        releases = group.create_task(looking.part("releases", looking.releases))
        secrets = group.create_task(
            looking.part("secrets", partial(looking.every, interest.secrets))
        )
        config_maps = group.create_task(
            looking.part("config_maps", partial(looking.every, (*interest.config_maps, PASSED)))
        )
        installers = group.create_task(
            looking.part("installers", partial(looking.listed, ROLE_BINDINGS, _OURS))
        )
        lists = {
            kind: group.create_task(looking.part(kind.plural, partial(looking.listed, kind)))
            for kind in (NODES, NAMESPACES, *_WORKLOADS, DEFINITIONS, *FLUX)
        }
    known = {(kind.api_version, kind.name): task.result() for kind, task in lists.items()}
    for api_version, name in wanted:
        if (api_version, name) not in known:
            known[api_version, name] = await looking.part(
                f"{api_version} {name}", partial(looking.of_kind, api_version, name)
            )
    maps = config_maps.result()
    nodes = lists[NODES].result()
    found = secrets.result()
    return ObservedKubernetes(
        at=at,
        source=source,
        version=version.result(),
        nodes=None if nodes is None else tuple(parse_node(one) for one in nodes),
        namespaces=_objects(lists[NAMESPACES].result()),
        releases=releases.result(),
        workloads=_join_lists(lists[kind].result() for kind in _WORKLOADS),
        definitions=_objects(lists[DEFINITIONS].result()),
        installers=_objects(installers.result()),
        flux=_join_lists(lists[kind].result() for kind in FLUX),
        secrets=None if found is None else tuple(parse_secret(one) for one in found),
        config_maps=_objects(maps),
        trials=None if maps is None else _smoke_tests(maps),
        working=_working(interest, known),
        unknown=looking.unknown | _unknown_groups(looking.unknown),
        calls=looking.calls,
    )


_WORKLOADS = (DEPLOYMENTS, DAEMON_SETS, STATEFUL_SETS)


class _KubernetesReader:
    """Reads of one pass, not too many at once, each counted."""

    def __init__(self, kubernetes: KubernetesClient) -> None:
        self._kubernetes = kubernetes
        self._places = asyncio.Semaphore(_AT_ONCE)
        self.unknown: dict[str, str] = {}
        self.calls = 0

    async def part(self, name: str, read: Callable[[], Awaitable[T]]) -> T | None:
        """What is read; None: it could not be, and it is noted why."""
        try:
            async with self._places:
                return await read()
        except StockmanError as error:
            self.unknown[name] = f"{error.problem.what}: {error.problem.why}"
            return None

    async def version(self) -> str:
        self.calls += 1
        return (await self._kubernetes.server_version()).tag

    async def listed(
        self, kind: ResourceKind, selection: Selection | None = None
    ) -> tuple[Object, ...]:
        """All objects of a kind; none where the kind is not served."""
        self.calls += 1
        try:
            return (await self._kubernetes.objects(kind, selection)).items
        except (Unsupported, NotFound):
            return ()

    async def of_kind(self, api_version: str, name: str) -> tuple[Object, ...]:
        self.calls += 1
        kind = await find_kind(self._kubernetes, api_version, name)
        return () if kind is None else await self.listed(kind)

    async def every(self, refs: tuple[ObjectRef, ...]) -> tuple[Object, ...]:
        """Those that are there."""
        found = []
        for ref in refs:
            self.calls += 1
            try:
                found.append(await self._kubernetes.get(ref))
            except NotFound:
                continue
        return tuple(found)

    async def releases(self) -> tuple[HelmRelease, ...]:
        there = await self.listed(SECRETS, Selection(labels=BY_HELM))
        by_name: dict[tuple[str, str], list[HelmRelease]] = {}
        for one in map(parse_release, there):
            if one is not None:
                by_name.setdefault((one.namespace, one.name), []).append(one)
        return tuple(last for one in by_name.values() if (last := latest_revision(one)) is not None)


def _conditions(interest: KubernetesQuery) -> tuple[ObjectCondition, ...]:
    return tuple(one for found in interest.conditions.values() for one in found)


def _objects(found: tuple[Object, ...] | None) -> tuple[ObservedObject, ...] | None:
    return None if found is None else tuple(parse_object(one) for one in found)


def _join_lists(
    lists: Iterable[tuple[Object, ...] | None],
) -> tuple[ObservedObject, ...] | None:
    """All of several lists; unknown where one of them is."""
    made: list[ObservedObject] = []
    for found in lists:
        if found is None:
            return None
        made += (parse_object(one) for one in found)
    return tuple(made)


def _unknown_groups(unknown: Mapping[str, str]) -> dict[str, str]:
    """Why a part that is made of several lists is unknown."""
    groups = {"workloads": _WORKLOADS, "flux": FLUX, "definitions": (DEFINITIONS,)}
    return {
        name: unknown[kind.plural]
        for name, kinds in groups.items()
        for kind in kinds
        if kind.plural in unknown
    }


def _smoke_tests(maps: tuple[Object, ...]) -> dict[str, str]:
    for one in maps:
        if (text_at(one, "metadata", "namespace"), object_name(one)) == (
            PASSED.namespace,
            PASSED.name,
        ):
            return {key: str(value) for key, value in mapping_at(one, "data").items()}
    return {}


def _working(
    interest: KubernetesQuery, known: Mapping[tuple[str, str], tuple[Object, ...] | None]
) -> dict[str, tuple[ConditionResult, ...]]:
    found: dict[str, tuple[ConditionResult, ...]] = {}
    for component, conditions in interest.conditions.items():
        made = []
        for one in conditions:
            there = known[one.api_version, one.kind]
            if there is None:
                break
            made.append(
                judge_condition(one, tuple(item for item in there if _matches_condition(one, item)))
            )
        else:
            found[component] = tuple(made)
    return found


def _matches_condition(condition: ObjectCondition, content: Object) -> bool:
    if condition.name and object_name(content) != condition.name:
        return False
    place = text_at(content, "metadata", "namespace")
    return not condition.namespace or place == condition.namespace
