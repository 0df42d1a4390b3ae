"""One look at a cluster: every kind is listed once, whatever the number of its objects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import TypeVar

from stockman.engine.observe.kubernetes_rows import (
    seen_node,
    seen_object,
    seen_secret,
)
from stockman.model.errors import NotFound, StockmanError, Unsupported
from stockman.model.record import record
from stockman.planning.observed_kubernetes import ObservedKubernetes, SeenObject
from stockman.ports.clock import Clock
from stockman.ports.kubernetes import Kubernetes
from stockman.ports.kubernetes.kinds import (
    DAEMON_SETS,
    DEPLOYMENTS,
    NAMESPACES,
    NODES,
    SECRETS,
    STATEFUL_SETS,
    Kind,
    Ref,
)
from stockman.ports.kubernetes.objects import Object, Selection
from stockman.steps.kube_kinds import DEFINITIONS, FLUX, ROLE_BINDINGS, kind_of
from stockman.steps.kube_reading import MANAGED_BY, MANAGER, name_of, part, text
from stockman.steps.kube_release import BY_HELM, Release, newest, release_in
from stockman.steps.kube_trial import PASSED
from stockman.steps.kube_working import ObjectCondition, Sight, judged

T = TypeVar("T")
_AT_ONCE = 8
_OURS = Selection(labels=f"{MANAGED_BY}={MANAGER}")


@record
class Interest:
    """What is looked at besides what every cluster has."""

    secrets: tuple[Ref, ...] = ()
    config_maps: tuple[Ref, ...] = ()
    conditions: Mapping[str, tuple[ObjectCondition, ...]] = field(default_factory=dict)
    """By component."""


async def observe_kubernetes(
    kubernetes: Kubernetes, clock: Clock, interest: Interest, source: str = "Kubernetes API"
) -> ObservedKubernetes:
    """Everything that plans and status need of a cluster; what cannot be read is told."""
    looking = _Looking(kubernetes)
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
        nodes=None if nodes is None else tuple(seen_node(one) for one in nodes),
        namespaces=_objects(lists[NAMESPACES].result()),
        releases=releases.result(),
        workloads=_joined(lists[kind].result() for kind in _WORKLOADS),
        definitions=_objects(lists[DEFINITIONS].result()),
        installers=_objects(installers.result()),
        flux=_joined(lists[kind].result() for kind in FLUX),
        secrets=None if found is None else tuple(seen_secret(one) for one in found),
        config_maps=_objects(maps),
        trials=None if maps is None else _trials(maps),
        working=_working(interest, known),
        unknown=looking.unknown | _unknown_groups(looking.unknown),
        calls=looking.calls,
    )


_WORKLOADS = (DEPLOYMENTS, DAEMON_SETS, STATEFUL_SETS)


class _Looking:
    """Reads of one pass, not too many at once, each counted."""

    def __init__(self, kubernetes: Kubernetes) -> None:
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

    async def listed(self, kind: Kind, selection: Selection | None = None) -> tuple[Object, ...]:
        """All objects of a kind; none where the kind is not served."""
        self.calls += 1
        try:
            return (await self._kubernetes.objects(kind, selection)).items
        except (Unsupported, NotFound):
            return ()

    async def of_kind(self, api_version: str, name: str) -> tuple[Object, ...]:
        self.calls += 1
        kind = await kind_of(self._kubernetes, api_version, name)
        return () if kind is None else await self.listed(kind)

    async def every(self, refs: tuple[Ref, ...]) -> tuple[Object, ...]:
        """Those that are there."""
        found = []
        for ref in refs:
            self.calls += 1
            try:
                found.append(await self._kubernetes.get(ref))
            except NotFound:
                continue
        return tuple(found)

    async def releases(self) -> tuple[Release, ...]:
        there = await self.listed(SECRETS, Selection(labels=BY_HELM))
        by_name: dict[tuple[str, str], list[Release]] = {}
        for one in map(release_in, there):
            if one is not None:
                by_name.setdefault((one.namespace, one.name), []).append(one)
        return tuple(last for one in by_name.values() if (last := newest(one)) is not None)


def _conditions(interest: Interest) -> tuple[ObjectCondition, ...]:
    return tuple(one for found in interest.conditions.values() for one in found)


def _objects(found: tuple[Object, ...] | None) -> tuple[SeenObject, ...] | None:
    return None if found is None else tuple(seen_object(one) for one in found)


def _joined(
    lists: Iterable[tuple[Object, ...] | None],
) -> tuple[SeenObject, ...] | None:
    """All of several lists; unknown where one of them is."""
    made: list[SeenObject] = []
    for found in lists:
        if found is None:
            return None
        made += (seen_object(one) for one in found)
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


def _trials(maps: tuple[Object, ...]) -> dict[str, str]:
    for one in maps:
        if (text(one, "metadata", "namespace"), name_of(one)) == (PASSED.namespace, PASSED.name):
            return {key: str(value) for key, value in part(one, "data").items()}
    return {}


def _working(
    interest: Interest, known: Mapping[tuple[str, str], tuple[Object, ...] | None]
) -> dict[str, tuple[Sight, ...]]:
    found: dict[str, tuple[Sight, ...]] = {}
    for component, conditions in interest.conditions.items():
        made = []
        for one in conditions:
            there = known[one.api_version, one.kind]
            if there is None:
                break
            made.append(judged(one, tuple(item for item in there if _is_meant(one, item))))
        else:
            found[component] = tuple(made)
    return found


def _is_meant(condition: ObjectCondition, content: Object) -> bool:
    if condition.name and name_of(content) != condition.name:
        return False
    place = text(content, "metadata", "namespace")
    return not condition.namespace or place == condition.namespace
