"""Calls on pods."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.kubernetes.calls.base import READ_SECONDS, Calls, split_lines
from stockman.kubernetes.calls.nodes import read_conditions
from stockman.kubernetes.calls.objects import TypedCalls
from stockman.kubernetes.objects import PODS, ObjectRef, Selection, object_path
from stockman.kubernetes.pods import ContainerStatus, OwnerReference, Pod, PodLogRequest
from stockman.kubernetes.rows import (
    Row,
    boolean,
    mapping,
    mappings,
    number,
    optional_text,
    text,
    text_map,
)
from stockman.kubernetes.transport import Request


class PodCalls(TypedCalls):
    """`ports.kubernetes.pods.Pods` over a wire."""

    async def pod(self, namespace: str, name: str) -> Pod:
        ref = ObjectRef(kind=PODS, name=name, namespace=namespace)
        return await self._read(object_path(ref), read_pod)

    async def pods(self, selection: Selection | None = None) -> tuple[Pod, ...]:
        return await self._typed(PODS, selection, read_pod)


def read_pod(row: Row) -> Pod:
    """A pod, from the object; raises `OddAnswer`."""
    metadata, spec, status = (mapping(row, name) for name in ("metadata", "spec", "status"))
    return Pod(
        name=text(metadata, "name"),
        namespace=text(metadata, "namespace"),
        uid=text(metadata, "uid"),
        version=text(metadata, "resourceVersion"),
        labels=text_map(metadata, "labels"),
        annotations=text_map(metadata, "annotations"),
        node=optional_text(spec, "nodeName"),
        phase=optional_text(status, "phase") or "Unknown",
        conditions=read_conditions(row),
        containers=tuple(_read_container(one) for one in mappings(status, "containerStatuses")),
        owners=tuple(
            OwnerReference(
                kind=text(one, "kind"),
                name=text(one, "name"),
                uid=text(one, "uid"),
                is_controller=boolean(one, "controller"),
            )
            for one in mappings(metadata, "ownerReferences")
        ),
        is_leaving=bool(optional_text(metadata, "deletionTimestamp")),
    )


def _read_container(row: Row) -> ContainerStatus:
    return ContainerStatus(
        name=text(row, "name"),
        ready=boolean(row, "ready"),
        restarts=number(row, "restartCount"),
        waiting=optional_text(mapping(row, "state", "waiting"), "reason"),
    )


_FOLLOWED_SECONDS = 4 * 3600.0
"""Silence after which a log is given up: containers may have nothing to say for long."""


class LogCalls(Calls):
    """`ports.kubernetes.logs.Logs` over a wire."""

    async def log(self, wish: PodLogRequest) -> AsyncGenerator[str, None]:
        request = Request(
            method="GET",
            segments=object_path(
                ObjectRef(kind=PODS, name=wish.pod, namespace=wish.namespace), "log"
            ),
            query=tuple(_parameters(wish)),
            accepts="*/*",
            seconds=_FOLLOWED_SECONDS if wish.follow else READ_SECONDS,
        )
        found = split_lines(request, self._wire.stream(request))
        async with aclosing(found):
            async for line in found:
                yield line.decode("utf-8", "replace")


def _parameters(wish: PodLogRequest) -> list[tuple[str, str]]:
    found = [("container", wish.container)] if wish.container else []
    if wish.last is not None:
        found.append(("tailLines", str(wish.last)))
    if wish.since is not None:
        found.append(("sinceSeconds", str(wish.since)))
    if wish.previous:
        found.append(("previous", "true"))
    if wish.follow:
        found.append(("follow", "true"))
    return found
