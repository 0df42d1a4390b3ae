"""What holds for those who watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    MergePatch,
    Object,
    ObjectRef,
    ResourceKind,
    Selection,
    WatchEvent,
    WatchEventType,
)
from tests.contract.kubernetes.doors import Stage
from tests.contract.kubernetes.stories.made import config_map, map_ref, metadata, names

_SECONDS = 10
EVENTS = ResourceKind(api_version="v1", name="Event", plural="events")


def wool(stage: Stage) -> Selection:
    return Selection(namespace=stage.namespace, labels="what=wool")


async def a_watch_begins_with_all_and_goes_on_with_changes(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    labels = {"what": "wool"}
    await kubernetes.create(CONFIG_MAPS, config_map(stage, "a", labels, grade="fine"))
    watch = kubernetes.watch(CONFIG_MAPS, wool(stage))
    async with aclosing(watch), asyncio.timeout(_SECONDS):
        first = await anext(watch)
        assert (first.type, names(first.items)) == (WatchEventType.LISTED, ["a"])
        await kubernetes.create(CONFIG_MAPS, config_map(stage, "b", labels))
        await kubernetes.create(CONFIG_MAPS, config_map(stage, "unseen"))
        change = MergePatch(changes={"data": {"grade": "rough"}})
        await kubernetes.patch(map_ref(stage, "a"), change)
        shorn = MergePatch(changes={"metadata": {"labels": None}})
        await kubernetes.patch(map_ref(stage, "b"), shorn)
        await kubernetes.delete(map_ref(stage, "a"))
        nexts = [await _next(watch) for _ in range(4)]
    assert [(one.type, *names(one.items)) for one in nexts] == [
        (WatchEventType.ADDED, "b"),
        (WatchEventType.CHANGED, "a"),
        (WatchEventType.DELETED, "b"),
        (WatchEventType.DELETED, "a"),
    ]
    versions = [int(one.version) for one in nexts]
    assert versions == sorted(versions)


async def a_watch_goes_on_behind_a_version(kubernetes: KubernetesClient, stage: Stage) -> None:
    labels = {"what": "wool"}
    made = await kubernetes.create(CONFIG_MAPS, config_map(stage, "a", labels))
    await kubernetes.create(CONFIG_MAPS, config_map(stage, "b", labels))
    watch = kubernetes.watch(CONFIG_MAPS, wool(stage), metadata(made)["resourceVersion"])
    async with aclosing(watch), asyncio.timeout(_SECONDS):
        found = await _next(watch)
    assert (found.type, names(found.items)) == (WatchEventType.ADDED, ["b"])


async def what_is_forgotten_is_listed_anew(kubernetes: KubernetesClient, stage: Stage) -> None:
    first = await kubernetes.create(EVENTS, event(stage, "a"))
    last = await kubernetes.create(EVENTS, event(stage, "b"))
    stage.forget(metadata(last)["resourceVersion"])
    chosen, since = Selection(namespace=stage.namespace), metadata(first)["resourceVersion"]
    watch = kubernetes.watch(EVENTS, chosen, str(int(since) - 1))
    async with aclosing(watch), asyncio.timeout(_SECONDS):
        begun = await _next(watch)
        assert (begun.type, names(begun.items)) == (WatchEventType.LISTED, ["a", "b"])
        await kubernetes.delete(ObjectRef(kind=EVENTS, name="a", namespace=stage.namespace))
        following = await _next(watch)
    assert (following.type, names(following.items)) == (WatchEventType.DELETED, ["a"])


def event(stage: Stage, name: str) -> Object:
    """An event: servers keep no changes of events beside their store."""
    about = {"kind": "ConfigMap", "name": "wool", "namespace": stage.namespace}
    return {
        "metadata": {"name": name, "namespace": stage.namespace},
        "involvedObject": about,
        "reason": "Shorn",
        "message": "it is shorn",
        "type": "Normal",
    }


async def _next(watch: AsyncGenerator[WatchEvent, None]) -> WatchEvent:
    """The next thing that happened to objects."""
    while (watch_event := await anext(watch)).type is WatchEventType.BOOKMARK:
        pass
    return watch_event
