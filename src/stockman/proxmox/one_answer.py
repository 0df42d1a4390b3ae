"""One answer for all who ask the same at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OneAnswer(Generic[T]):
    """A question that many steps ask: whoever asks while it is on its way gets the same answer.

    An answer is never kept, so it is as old as one call takes at the most.
    """

    def __init__(self) -> None:
        self._asked: asyncio.Task[T] | None = None
        """None: nobody waits for an answer."""

    async def of(self, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer to a question that is asked now, or was asked a moment ago."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(question())
        return await asyncio.shield(self._asked)
