"""Doors that are closed after use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class AsyncCloseable(ABC):
    """Something for `async with`: whoever leaves it closes it."""

    @abstractmethod
    async def close(self) -> None:
        """Give back what it holds; nothing can be asked of it any more."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
