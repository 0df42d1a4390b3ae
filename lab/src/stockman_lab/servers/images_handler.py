"""Image Factory and registry of a world, for who asks over HTTP and for who asks from inside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import unquote

from stockman_lab.core.dice import Dice
from stockman_lab.factory.handler import FactoryHandler
from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.messages import Outcome, Request
from stockman_lab.http.parsing import split_target
from stockman_lab.registry.registry import Ask, Registry
from stockman_lab.servers.pace import Pace
from stockman_lab.world.world import World

_REGISTRY = "/v2"


def world_registry(world: World) -> Registry:
    """The registry of a world: what machines pull from, whatever host an image's name says."""
    return Registry(
        world.state.registry, world.state.factory, world.state.faults, lambda: world.now
    )


class WorldImages:
    """Answers requests out of a world."""

    def __init__(self, world: World) -> None:
        # Dice of their own: whether anybody asks changes nothing in the world.
        dice = Dice(world.state.dice.seed, 1 << 42)
        self.registry = world_registry(world)
        self._factory = FactoryHandler(
            world.state.factory, world.state.faults, lambda: world.now, dice.random_bytes
        )

    def answer(self, request: Request) -> DelayedOutcome:
        """What becomes of a request."""
        path, query = split_target(request.target)
        if path != _REGISTRY and not path.startswith(f"{_REGISTRY}/"):
            return self._factory.answer(request)
        return self.registry.answer(
            Ask(
                path=unquote(path),
                method=request.method,
                query=query,
                body=request.body,
                headers=request.headers,
            )
        )


class ImagesHandler:
    """Answers HTTP requests out of a world, at the pace of that world."""

    def __init__(
        self, images: WorldImages, pace: Pace, seen: Callable[[str], None] | None = None
    ) -> None:
        self._images = images
        self._pace = pace
        self._seen = seen

    def __call__(self, request: Request) -> Outcome | asyncio.Future[Outcome]:
        """Answer at once, or after the delay of a fault."""
        self._pace.catch_up()
        answer = self._images.answer(request)
        if self._seen is not None:
            self._seen(f"images {request.method} {split_target(request.target)[0]}")
        return asyncio.ensure_future(self._later(answer)) if answer.seconds else answer.outcome

    async def _later(self, answer: DelayedOutcome) -> Outcome:
        await self._pace.wait(answer.seconds)
        return answer.outcome
