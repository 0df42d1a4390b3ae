"""Object storage in memory, which can be slow, cut, or the place where a process is killed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable

from stockman.model.errors import Conflict, NotFound, StockmanError, Uncertain, Unreachable
from stockman.model.problem import Problem
from stockman.ports.objects import ObjectMetadata, UnfinishedUpload
from tests.engine.simulated import MORNING, Dice, LoopClock


class Killed(BaseException):
    """The process is gone."""


class Bomb:
    """Kills the process at one of the points that it passes."""

    def __init__(self, at: int = 0) -> None:
        self._at = at
        self.passed = 0
        self._dead = False

    def tick(self) -> None:
        self.passed += 1
        self._dead = self._dead or self.passed == self._at
        if self._dead:
            raise Killed


def trouble(kind: type[StockmanError], key: str) -> StockmanError:
    return kind(Problem(code="objects.unreachable", what="no answer", where=key, why="w", fix="f"))


class Storage:
    """What is stored, and how often each key was written."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}
        self.writes: Counter[str] = Counter()


class Stored:
    """`Objects` on a storage, as one process sees it."""

    def __init__(self, storage: Storage, bomb: Bomb | None = None) -> None:
        self.storage = storage
        self._bomb = bomb or Bomb()
        self.troubles: list[Callable[[str, str], StockmanError | None]] = []
        """Asked before each call with its name and key."""

    async def _before(self, call: str, key: str) -> None:
        self._bomb.tick()
        for trouble in list(self.troubles):
            if (no := trouble(call, key)) is not None:
                raise no

    async def _after(self, call: str, key: str) -> None:
        self._bomb.tick()

    async def put(self, key: str, pieces: AsyncIterator[bytes]) -> None:
        content = b"".join([piece async for piece in pieces])
        await self._before("put", key)
        self.storage.content[key] = content
        self.storage.writes[key] += 1
        await self._after("put", key)

    async def create(self, key: str, content: bytes) -> None:
        await self._before("create", key)
        if key in self.storage.content:
            raise trouble(Conflict, key)
        self.storage.content[key] = content
        self.storage.writes[key] += 1
        await self._after("create", key)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        await self._before("read", key)
        if key not in self.storage.content:
            raise trouble(NotFound, key)
        content = self.storage.content[key]
        await self._after("read", key)
        yield content

    async def head(self, key: str) -> ObjectMetadata:
        await self._before("head", key)
        if key not in self.storage.content:
            raise trouble(NotFound, key)
        return self._facts(key)

    async def list_objects(self, folder: str = "") -> tuple[ObjectMetadata, ...]:
        await self._before("listed", folder)
        prefix = f"{folder}/" if folder else ""
        keys = sorted(key for key in self.storage.content if key.startswith(prefix))
        facts = tuple(self._facts(key) for key in keys)
        await self._after("listed", folder)
        return facts

    async def delete(self, key: str) -> None:
        await self._before("delete", key)
        self.storage.content.pop(key, None)
        await self._after("delete", key)

    async def list_uploads(self, folder: str = "") -> tuple[UnfinishedUpload, ...]:
        return ()

    async def abort_upload(self, upload: UnfinishedUpload) -> None:
        return

    def _facts(self, key: str) -> ObjectMetadata:
        size = len(self.storage.content[key])
        return ObjectMetadata(key=key, size=size, tag=str(size), modified=MORNING)


def times(
    kind: type[StockmanError], call: str, count: int
) -> Callable[[str, str], StockmanError | None]:
    """Trouble of a kind for the first calls of a name."""
    left = [count]

    def asked(name: str, key: str) -> StockmanError | None:
        if name != call or left[0] == 0:
            return None
        left[0] -= 1
        return trouble(kind, key)

    return asked


class SlowStored(Stored):
    """`Objects` over a network that is slow, loses answers, and delivers requests late."""

    def __init__(self, storage: Storage, dice: Dice, clock: LoopClock, loss: float = 0.0) -> None:
        super().__init__(storage)
        self._dice = dice
        self._clock = clock
        self._loss = loss
        self._late: set[asyncio.Task[None]] = set()

    async def _before(self, call: str, key: str) -> None:
        await self._clock.sleep(self._dice.share() * 4)
        if self._dice.share() < self._loss / 2:
            raise trouble(Unreachable, key)

    async def _after(self, call: str, key: str) -> None:
        await self._clock.sleep(self._dice.share() * 4)

    async def create(self, key: str, content: bytes) -> None:
        fate = self._dice.share()
        if fate < self._loss / 3:
            raise trouble(Uncertain, key)
        if fate < self._loss * 2 / 3:
            self._late.add(asyncio.ensure_future(self._lands(key, content)))
            raise trouble(Uncertain, key)
        await super().create(key, content)
        if fate < self._loss:
            raise trouble(Uncertain, key)

    async def _lands(self, key: str, content: bytes) -> None:
        await self._clock.sleep(self._dice.share() * 60)
        self.storage.content.setdefault(key, content)
