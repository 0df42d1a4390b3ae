"""Calls on pods."""

from __future__ import annotations

from stockman.kubernetes.conditions import conditions
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.rows import Row, number, part, parts, text, text_or_none, texts, yes
from stockman.kubernetes.typed import TypedCalls
from stockman.ports.kubernetes.kinds import PODS, Ref
from stockman.ports.kubernetes.objects import Selection
from stockman.ports.kubernetes.pods import Container, Owner, Pod


class PodCalls(TypedCalls):
    """`ports.kubernetes.pods.Pods` over a wire."""

    async def pod(self, namespace: str, name: str) -> Pod:
        ref = Ref(kind=PODS, name=name, namespace=namespace)
        return await self._read(object_path(ref), read_pod)

    async def pods(self, selection: Selection | None = None) -> tuple[Pod, ...]:
        return await self._typed(PODS, selection, read_pod)


def read_pod(row: Row) -> Pod:
    """A pod, from the object; raises `OddAnswer`."""
    metadata, spec, status = (part(row, name) for name in ("metadata", "spec", "status"))
    return Pod(
        name=text(metadata, "name"),
        namespace=text(metadata, "namespace"),
        uid=text(metadata, "uid"),
        version=text(metadata, "resourceVersion"),
        labels=texts(metadata, "labels"),
        annotations=texts(metadata, "annotations"),
        node=text_or_none(spec, "nodeName"),
        phase=text_or_none(status, "phase") or "Unknown",
        conditions=conditions(row),
        containers=tuple(_container(one) for one in parts(status, "containerStatuses")),
        owners=tuple(
            Owner(
                kind=text(one, "kind"),
                name=text(one, "name"),
                uid=text(one, "uid"),
                is_controller=yes(one, "controller"),
            )
            for one in parts(metadata, "ownerReferences")
        ),
        is_leaving=bool(text_or_none(metadata, "deletionTimestamp")),
    )


def _container(row: Row) -> Container:
    return Container(
        name=text(row, "name"),
        ready=yes(row, "ready"),
        restarts=number(row, "restartCount"),
        waiting=text_or_none(part(row, "state", "waiting"), "reason"),
    )
