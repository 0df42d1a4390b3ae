"""Web servers of tests, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from stockman_lab.images.opening import Question, Reply, Trouble


@dataclass
class Page:
    """What is found at one path."""

    content: bytes = b""
    status: int = 200
    reason: str = "OK"
    headers: dict[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    """Bytes until the connection breaks. None: it does not."""


@dataclass
class Web:
    """A server that answers at one address."""

    pages: dict[str, Page]
    trouble: Trouble | None = None
    """Why it cannot be reached. None: it can."""
    asked: list[Question] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, question: Question) -> AsyncIterator[Reply]:
        self.asked.append(question)
        if not question.target.is_local:
            raise Trouble("No route to host")
        if self.trouble is not None:
            raise self.trouble
        page = self.pages.get(question.target.path, Page(status=404, reason="Not Found"))
        yield Reply(status=page.status, reason=page.reason, headers=page.headers, body=_body(page))


async def _body(page: Page) -> AsyncIterator[bytes]:
    end = len(page.content) if page.cut_after is None else page.cut_after
    for number in range(0, end, 7):
        yield page.content[number : min(number + 7, end)]
    if page.cut_after is not None:
        raise Trouble("Connection closed")
