"""Calls on pods."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from stockman.kubernetes.calls.base import READ_SECONDS, Calls, split_lines
from stockman.kubernetes.calls.nodes import read_conditions
from stockman.kubernetes.calls.objects import TypedCalls
from stockman.kubernetes.objects import PODS, ObjectRef, Selection, object_path
from stockman.kubernetes.pods import ContainerStatus, OwnerReference, Pod, PodLogRequest, Toleration
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
    """Pods calls."""

    async def pod(self, namespace: str, name: str) -> Pod:
        """Return a pod; raises `NotFound`."""
        ref = ObjectRef(kind=PODS, name=name, namespace=namespace)
        return await self._read(object_path(ref), read_pod)

    async def pods(self, selection: Selection | None = None) -> tuple[Pod, ...]:
        """List pods, sorted by namespace and name."""
        return await self._list_records(PODS, selection, read_pod)


def read_pod(row: Row) -> Pod:
    """Parse a pod; raises `UnexpectedAnswer`."""
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
        containers=tuple(_read_container(item) for item in mappings(status, "containerStatuses")),
        owners=tuple(
            OwnerReference(
                kind=text(item, "kind"),
                name=text(item, "name"),
                uid=text(item, "uid"),
                is_controller=boolean(item, "controller"),
            )
            for item in mappings(metadata, "ownerReferences")
        ),
        is_leaving=bool(optional_text(metadata, "deletionTimestamp")),
        tolerations=tuple(
            Toleration(
                key=optional_text(item, "key"),
                operator=optional_text(item, "operator") or "Equal",
                value=optional_text(item, "value"),
                effect=optional_text(item, "effect"),
            )
            for item in mappings(spec, "tolerations")
        ),
        created=optional_text(metadata, "creationTimestamp"),
    )


def _read_container(row: Row) -> ContainerStatus:
    return ContainerStatus(
        name=text(row, "name"),
        ready=boolean(row, "ready"),
        restarts=number(row, "restartCount"),
        waiting=optional_text(mapping(row, "state", "waiting"), "reason"),
    )


_FOLLOWED_SECONDS = 4 * 3600.0
"""Timeout between lines of a followed log: containers may be silent for long."""


class LogCalls(Calls):
    """Logs calls."""

    async def log(self, log: PodLogRequest) -> AsyncGenerator[str, None]:
        """Yield the lines of a log as the caller reads them."""
        request = Request(
            method="GET",
            segments=object_path(
                ObjectRef(kind=PODS, name=log.pod, namespace=log.namespace), "log"
            ),
            query=tuple(_parameters(log)),
            accepts="*/*",
            seconds=_FOLLOWED_SECONDS if log.follow else READ_SECONDS,
        )
        lines = split_lines(request, self._transport.stream(request))
        async with aclosing(lines):
            async for line in lines:
                yield line.decode("utf-8", "replace")


def _parameters(log: PodLogRequest) -> list[tuple[str, str]]:
    parameters = [("container", log.container)] if log.container else []
    if log.last is not None:
        parameters.append(("tailLines", str(log.last)))
    if log.since is not None:
        parameters.append(("sinceSeconds", str(log.since)))
    if log.previous:
        parameters.append(("previous", "true"))
    if log.follow:
        parameters.append(("follow", "true"))
    return parameters
