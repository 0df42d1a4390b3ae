"""Calls on the scale of workloads."""

from __future__ import annotations

from stockman.kubernetes.calls import Calls, Change
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.rows import Row, number, part, text
from stockman.ports.kubernetes.kinds import Ref
from stockman.ports.kubernetes.scaling import Scale


class ScaleCalls(Calls):
    """`ports.kubernetes.scaling.Scaling` over a wire."""

    async def scale(self, ref: Ref) -> Scale:
        return await self._read(object_path(ref, "scale"), _scale)

    async def set_scale(self, ref: Ref, replicas: int) -> Scale:
        change = Change(
            method="PATCH",
            path=object_path(ref, "scale"),
            content={"spec": {"replicas": replicas}},
            content_type="application/merge-patch+json",
        )
        return await self._change(change, _scale)


def _scale(row: Row) -> Scale:
    return Scale(
        wanted=number(part(row, "spec"), "replicas"),
        there=number(part(row, "status"), "replicas"),
        version=text(part(row, "metadata"), "resourceVersion"),
    )
