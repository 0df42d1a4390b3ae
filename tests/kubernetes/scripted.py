"""A wire that answers as it is told to, and writes down what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import reply_error
from stockman.kubernetes.transport import Reply, Request
from stockman.model.errors import StockmanError

Answer = Mapping[str, object] | Reply | StockmanError | list[object]
"""An object, a whole reply, an error of the wire, or pieces of a stream and errors among them."""


class StandingClock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def later(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class ScriptedWire:
    """Answers one after the other."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = deque(answers)
        self.asked: list[Request] = []

    async def call(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self._answers.popleft()
        if isinstance(answer, StockmanError):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(status=200, body=json.dumps(answer).encode())

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        self.asked.append(request)
        answer = self._answers.popleft() if self._answers else None
        if isinstance(answer, StockmanError):
            raise answer
        if isinstance(answer, Reply):
            raise reply_error(request, answer)
        for piece in answer if isinstance(answer, list) else []:
            if isinstance(piece, StockmanError):
                raise piece
            yield piece if isinstance(piece, bytes) else json.dumps(piece).encode() + b"\n"
        if answer is None:
            await asyncio.Event().wait()

    def queries(self) -> list[dict[str, str]]:
        """The parameters of everything that was asked."""
        return [dict(one.query) for one in self.asked]


def told(*answers: Answer) -> KubernetesClient:
    """The port, with answers behind it."""
    return KubernetesClient(ScriptedWire(*answers), StandingClock())
