"""What is seen by somebody who watches while others change objects."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from stockman_lab.kube.api.messages import Response

from tests.real.kube_api.bodies import CORE, made
from tests.real.kube_api.conversations import begin
from tests.real.kube_api.talking import MERGE, LabApi, RealApi, Step, plain

MAPS = f"{CORE}/configmaps"
END = "end-of-watch"
"""An object whose appearance ends it: whatever was to be seen comes before."""


@dataclass(frozen=True)
class Watching:
    """Changes before and during a watch, and what it asks for."""

    name: str
    query: dict[str, str]
    before: tuple[Step, ...] = ()
    during: tuple[Step, ...] = ()
    since_before: bool = False
    """Whether it begins where the changes before it ended."""
    accept: str = "application/json"


def _map(name: str, labels: dict[str, str] | None = None, **data: str) -> Step:
    metadata = {"labels": labels} if labels else {}
    return Step("POST", MAPS, made("ConfigMap", "v1", name, data=data, metadata=metadata))


def _labelled(name: str, value: str | None) -> Step:
    return Step("PATCH", f"{MAPS}/{name}", {"metadata": {"labels": {"a": value}}}, MERGE)


CHANGES = (
    _map("x", a="b"),
    Step("PATCH", f"{MAPS}/x", {"data": {"a": "c"}}, MERGE),
    Step("PATCH", f"{MAPS}/x", {"data": {"a": "c"}}, MERGE),
    Step("DELETE", f"{MAPS}/x"),
)
WATCHES = (
    Watching("all-from-now", {}, (_map("old"),), CHANGES),
    Watching("from-a-version", {}, (_map("old"),), CHANGES, since_before=True),
    Watching("from-zero", {"resourceVersion": "0"}, (_map("old"),), CHANGES),
    Watching(
        "by-label",
        {"labelSelector": "a=b"},
        (_map("one"), _map("two", {"a": "b"})),
        (
            _labelled("one", "b"),
            Step("PATCH", f"{MAPS}/one", {"data": {"x": "y"}}, MERGE),
            _labelled("one", "c"),
            _labelled("two", None),
            _labelled("one", "b"),
            Step("DELETE", f"{MAPS}/one"),
        ),
        since_before=True,
    ),
    Watching("by-name", {"fieldSelector": "metadata.name=x"}, (), CHANGES, since_before=True),
    Watching(
        "initial-events",
        {
            "sendInitialEvents": "true",
            "allowWatchBookmarks": "true",
            "resourceVersionMatch": "NotOlderThan",
        },
        (_map("old"),),
        CHANGES,
    ),
    Watching(
        "metadata-alone",
        {},
        (),
        CHANGES,
        since_before=True,
        accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ),
)


def _steps(watching: Watching, space: str) -> Iterator[Step]:
    for step in (*begin(), *watching.before):
        yield placed(step, space)


def placed(step: Step, space: str) -> Step:
    body = json.loads(json.dumps(step.body).replace("NS", space))
    return dataclasses.replace(step, path=step.path.replace("NS", space), body=body)


def _begin(watching: Watching, api: RealApi | LabApi, space: str) -> Step:
    for step in _steps(watching, space):
        api.ask(step)
    query = {"watch": "1", "timeoutSeconds": "20", **watching.query}
    path = MAPS.replace("NS", space)
    if watching.since_before:
        query["resourceVersion"] = api.ask(Step("GET", path)).content["metadata"]["resourceVersion"]
    return Step("GET", f"{path}?{urlencode(query)}", headers={"Accept": watching.accept})


def _is_end(event: Any, watching: Watching) -> bool:
    name = event["object"].get("metadata", {}).get("name", "")
    return bool(name == END)


def _ending(watching: Watching, space: str) -> Step:
    """An object that is certainly seen."""
    labels = {"a": "b"} if "labelSelector" in watching.query else None
    return placed(_map(END, labels), space)


def _told(events: list[Any], watching: Watching) -> list[Any]:
    shown = [event for event in events if event["type"] != "BOOKMARK" or _annotated(event)]
    return [plain(one) for one in shown if not _is_end(one, watching)]


def _annotated(event: Any) -> bool:
    return "annotations" in event["object"].get("metadata", {})


def seen_by_real(watching: Watching, api: RealApi, space: str) -> list[Any]:
    """What a real server tells."""
    question = _begin(watching, api, space)
    with api.watch(question) as lines:
        for step in watching.during:
            api.ask(placed(step, space))
        api.ask(_ending(watching, space))
        events = []
        wanted = len(watching.during) - 1 if "fieldSelector" in watching.query else 1 << 30
        for line in lines:
            events.append(json.loads(line))
            if _is_end(events[-1], watching) or len(events) == wanted:
                break
    return _told(events, watching)


def seen_by_lab(watching: Watching, api: LabApi, space: str) -> list[Any]:
    """What the lab tells."""
    question = _begin(watching, api, space)
    answer = api.respond(question)
    for step in watching.during:
        api.ask(placed(step, space))
    api.ask(_ending(watching, space))
    return _told(asyncio.run(_all(answer)), watching)


async def _all(answer: Response) -> list[Any]:
    """All lines that are there without waiting."""
    assert answer.stream is not None
    events: list[Any] = []
    stream = answer.stream
    while True:
        following = asyncio.ensure_future(anext(stream, None))
        done, _ = await asyncio.wait([following], timeout=0.05)
        if not done:
            following.cancel()
            return events
        line = following.result()
        if line is None:
            return events
        events.append(json.loads(line))
