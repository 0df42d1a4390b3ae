"""One pass over the API of a Kubernetes cluster."""

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
from stockman.steps.kubernetes.smoke_test import RESULTS

_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_READY = {
    "Deployment": "Available",
    "CustomResourceDefinition": "Established",
    "Job": "Complete",
}
"""The condition that shows whether an object is ready; for other kinds `Ready`."""
_REPLICA_KINDS = {
    "DaemonSet": ("status", "desiredNumberScheduled", "numberReady"),
    "StatefulSet": ("spec", "replicas", "readyReplicas"),
}


def parse_node(content: Object) -> ObservedNode:
    """Parse a Node."""
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
            text_at(address, "address")
            for address in mappings_at(content, "status", "addresses")
            if address.get("type") == "InternalIP"
        ),
        taints=tuple(
            f"{text_at(taint, 'key')}:{text_at(taint, 'effect')}"
            for taint in mappings_at(content, "spec", "taints")
        ),
        boot_id=text_at(info, "bootID"),
        machine_id=text_at(info, "machineID"),
        why="" if ready.holds else ready.message or "its kubelet reports no status",
        created=parse_time(text_at(content, "metadata", "creationTimestamp")),
        pressures=tuple(
            pressure for pressure in _PRESSURES if read_condition(content, pressure).holds
        ),
        managers=field_managers(content),
    )


def parse_object(content: Object) -> ObservedObject:
    """Parse an object of any kind."""
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
    """Parse a Secret; values become digests."""
    return ObservedSecret(
        namespace=text_at(content, "metadata", "namespace"),
        name=object_name(content),
        owner=object_owner(content),
        digests=secret_digests(content),
    )


def object_owner(content: Object) -> ObjectOwner:
    """Return the owner of an object."""
    if is_managed_by_flux(content):
        return ObjectOwner.FLUX
    if text_at(content, "metadata", "annotations", HELM_OWNER):
        return ObjectOwner.HELM
    return ObjectOwner.STOCKMAN if is_managed(content) else ObjectOwner.OTHERS


def _is_ready(kind: str, content: Object) -> bool | None:
    if kind in _REPLICA_KINDS:
        section, desired_key, ready_key = _REPLICA_KINDS[kind]
        return number_at(content, "status", ready_key) >= number_at(content, section, desired_key)
    condition = read_condition(content, _READY.get(kind, "Ready"))
    return condition.holds if condition.status else None


T = TypeVar("T")
_PARALLEL_READS = 8
_OURS = Selection(labels=f"{MANAGED_BY}={MANAGER}")


@record
class KubernetesQuery:
    """What to read in addition to the objects that every cluster has."""

    secrets: tuple[ObjectRef, ...] = ()
    config_maps: tuple[ObjectRef, ...] = ()
    conditions: Mapping[str, tuple[ObjectCondition, ...]] = field(default_factory=dict)
    """By component."""


async def observe_kubernetes(
    kubernetes: KubernetesClient,
    clock: Clock,
    query: KubernetesQuery,
    source: str = "Kubernetes API",
) -> ObservedKubernetes:
    """Read what plans and status need from a cluster; records what cannot be read."""
    reader = _KubernetesReader(kubernetes)
    at = clock.now()
    kinds = dict.fromkeys(
        (condition.api_version, condition.kind) for condition in _conditions(query)
    )
    async with asyncio.TaskGroup() as group:
        version = group.create_task(reader.read_part("version", reader.version))
        releases = group.create_task(reader.read_part("releases", reader.releases))
        secrets = group.create_task(
            reader.read_part("secrets", partial(reader.get_all, query.secrets))
        )
        config_maps = group.create_task(
            reader.read_part("config_maps", partial(reader.get_all, (*query.config_maps, RESULTS)))
        )
        installers = group.create_task(
            reader.read_part("installers", partial(reader.list_objects, ROLE_BINDINGS, _OURS))
        )
        lists = {
            kind: group.create_task(
                reader.read_part(kind.plural, partial(reader.list_objects, kind))
            )
            for kind in (NODES, NAMESPACES, *_WORKLOADS, DEFINITIONS, *FLUX)
        }
    known = {(kind.api_version, kind.name): task.result() for kind, task in lists.items()}
    for api_version, name in kinds:
        if (api_version, name) not in known:
            known[api_version, name] = await reader.read_part(
                f"{api_version} {name}", partial(reader.list_kind, api_version, name)
            )
    maps = config_maps.result()
    nodes = lists[NODES].result()
    secret_objects = secrets.result()
    return ObservedKubernetes(
        at=at,
        source=source,
        version=version.result(),
        nodes=None if nodes is None else tuple(parse_node(node) for node in nodes),
        namespaces=_objects(lists[NAMESPACES].result()),
        releases=releases.result(),
        workloads=_join_lists(lists[kind].result() for kind in _WORKLOADS),
        definitions=_objects(lists[DEFINITIONS].result()),
        installers=_objects(installers.result()),
        flux=_join_lists(lists[kind].result() for kind in FLUX),
        secrets=None
        if secret_objects is None
        else tuple(parse_secret(secret) for secret in secret_objects),
        config_maps=_objects(maps),
        smoke_tests=None if maps is None else _smoke_tests(maps),
        working=_working(query, known),
        unknown=reader.unknown | _unknown_groups(reader.unknown),
        calls=reader.calls,
    )


_WORKLOADS = (DEPLOYMENTS, DAEMON_SETS, STATEFUL_SETS)


class _KubernetesReader:
    """Counts the reads of one pass, and limits how many run in parallel."""

    def __init__(self, kubernetes: KubernetesClient) -> None:
        self._kubernetes = kubernetes
        self._slots = asyncio.Semaphore(_PARALLEL_READS)
        self.unknown: dict[str, str] = {}
        self.calls = 0

    async def read_part(self, name: str, read: Callable[[], Awaitable[T]]) -> T | None:
        """Return the result of `read`; None if it fails, with the reason in `unknown`."""
        try:
            async with self._slots:
                return await read()
        except StockmanError as error:
            self.unknown[name] = f"{error.problem.what}: {error.problem.why}"
            return None

    async def version(self) -> str:
        self.calls += 1
        return (await self._kubernetes.server_version()).tag

    async def list_objects(
        self, kind: ResourceKind, selection: Selection | None = None
    ) -> tuple[Object, ...]:
        """List the objects of a kind; empty if the API does not serve the kind."""
        self.calls += 1
        try:
            return (await self._kubernetes.objects(kind, selection)).items
        except (Unsupported, NotFound):
            return ()

    async def list_kind(self, api_version: str, name: str) -> tuple[Object, ...]:
        self.calls += 1
        kind = await find_kind(self._kubernetes, api_version, name)
        return () if kind is None else await self.list_objects(kind)

    async def get_all(self, refs: tuple[ObjectRef, ...]) -> tuple[Object, ...]:
        """Return those of the objects that exist."""
        objects = []
        for ref in refs:
            self.calls += 1
            try:
                objects.append(await self._kubernetes.get(ref))
            except NotFound:
                continue
        return tuple(objects)

    async def releases(self) -> tuple[HelmRelease, ...]:
        secrets = await self.list_objects(SECRETS, Selection(labels=BY_HELM))
        by_name: dict[tuple[str, str], list[HelmRelease]] = {}
        for release in map(parse_release, secrets):
            if release is not None:
                by_name.setdefault((release.namespace, release.name), []).append(release)
        return tuple(
            last
            for revisions in by_name.values()
            if (last := latest_revision(revisions)) is not None
        )


def _conditions(query: KubernetesQuery) -> tuple[ObjectCondition, ...]:
    return tuple(condition for conditions in query.conditions.values() for condition in conditions)


def _objects(contents: tuple[Object, ...] | None) -> tuple[ObservedObject, ...] | None:
    return None if contents is None else tuple(parse_object(content) for content in contents)


def _join_lists(
    lists: Iterable[tuple[Object, ...] | None],
) -> tuple[ObservedObject, ...] | None:
    """Join several lists; None (unknown) if one of them is."""
    objects: list[ObservedObject] = []
    for contents in lists:
        if contents is None:
            return None
        objects += (parse_object(content) for content in contents)
    return tuple(objects)


def _unknown_groups(unknown: Mapping[str, str]) -> dict[str, str]:
    """Return why parts that consist of several lists are unknown."""
    groups = {"workloads": _WORKLOADS, "flux": FLUX, "definitions": (DEFINITIONS,)}
    return {
        name: unknown[kind.plural]
        for name, kinds in groups.items()
        for kind in kinds
        if kind.plural in unknown
    }


def _smoke_tests(config_maps: tuple[Object, ...]) -> dict[str, str]:
    for config_map in config_maps:
        if (text_at(config_map, "metadata", "namespace"), object_name(config_map)) == (
            RESULTS.namespace,
            RESULTS.name,
        ):
            return {key: str(value) for key, value in mapping_at(config_map, "data").items()}
    return {}


def _working(
    query: KubernetesQuery, known: Mapping[tuple[str, str], tuple[Object, ...] | None]
) -> dict[str, tuple[ConditionResult, ...]]:
    results: dict[str, tuple[ConditionResult, ...]] = {}
    for component, conditions in query.conditions.items():
        component_results = []
        for condition in conditions:
            contents = known[condition.api_version, condition.kind]
            if contents is None:
                break
            component_results.append(
                judge_condition(
                    condition,
                    tuple(
                        content for content in contents if _matches_condition(condition, content)
                    ),
                )
            )
        else:
            results[component] = tuple(component_results)
    return results


def _matches_condition(condition: ObjectCondition, content: Object) -> bool:
    if condition.name and object_name(content) != condition.name:
        return False
    namespace = text_at(content, "metadata", "namespace")
    return not condition.namespace or namespace == condition.namespace
