"""The scale of workloads."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record
from stockman.ports.kubernetes.kinds import Ref


@record
class Scale:
    """How many there shall be, and are."""

    wanted: int
    there: int
    version: str
    """The resourceVersion of what is scaled."""


class Scaling(Protocol):
    """Workloads of any kind that has a scale."""

    async def scale(self, ref: Ref) -> Scale:
        """The scale of a workload."""
        ...

    async def set_scale(self, ref: Ref, replicas: int) -> Scale:
        """Say how many there shall be; whoever else owns the number is not asked."""
        ...
