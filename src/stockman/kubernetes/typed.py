"""Lists of objects that are read into records."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stockman.kubernetes.objects import ObjectCalls
from stockman.kubernetes.paths import kind_path
from stockman.kubernetes.refusals import odd_answer
from stockman.kubernetes.rows import OddAnswer, Row
from stockman.kubernetes.wire import Request
from stockman.ports.kubernetes.kinds import Kind
from stockman.ports.kubernetes.objects import Selection

T = TypeVar("T")


class TypedCalls(ObjectCalls):
    """Calls on objects that have records."""

    async def _typed(
        self, kind: Kind, selection: Selection | None, read: Callable[[Row], T]
    ) -> tuple[T, ...]:
        """What a read makes of each object that is meant."""
        listed = await self.objects(kind, selection)
        try:
            return tuple(read(one) for one in listed.items)
        except OddAnswer as error:
            why = str(error)
        place = (selection or Selection()).namespace
        raise odd_answer(Request(method="GET", segments=kind_path(kind, place)), why)
