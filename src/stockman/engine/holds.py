"""Holds of a run: taken for steps, and released."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from stockman.engine import problems
from stockman.engine.context import RunContext, retry_delay
from stockman.engine.journal import EntryType, JournalLost
from stockman.engine.state import RunState, TakenHold
from stockman.model.errors import StockmanError, Uncertain, Unreachable
from stockman.model.problem import Problem
from stockman.steps.base import Hold
from stockman.steps.serialization import InvalidValue, UnknownKind, from_json, to_json
from stockman.steps.step import Retry, Step

_RETRY = Retry(attempts=4, first_wait=1.0, longest_wait=10.0)


class Holds:
    """Takes holds for steps, and releases them when no step needs them any more."""

    def __init__(self, context: RunContext, state: RunState) -> None:
        self._context = context
        self._held = dict(state.held)
        """Holds in the journal, by key: of this process, or of an earlier one that was killed."""
        self._taken: set[str] = set()
        """Keys of holds that this process has taken."""
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unfinished = {
            step.id: {hold.part_key for hold in step.holds}
            for step in context.plan.steps
            if not state.is_done(step.id)
        }
        self.problems: list[Problem] = []
        """Why holds could not be released."""

    async def take(self, step: Step) -> None:
        """Take the holds of a step in order, except those that are already taken."""
        for hold in step.holds:
            async with self._locks[hold.part_key]:
                if hold.part_key not in self._taken:
                    await self._take(step, hold)

    async def _take(self, step: Step, hold: Hold) -> None:
        context = self._context
        if hold.part_key not in self._held:
            prior = await hold.prior(context.ports)
            data = {"key": hold.part_key, "hold": to_json(hold), "prior": prior}
            entry = await context.journal.append(EntryType.HELD, step.id, data)
            self._held[hold.part_key] = TakenHold(
                key=hold.part_key, hold={**_mapping(hold)}, prior=prior, since=entry.at
            )
        await context.fence.check()
        await hold.take(context.ports)
        self._taken.add(hold.part_key)

    async def finish(self, step: Step) -> None:
        """Release the holds of a finished step that no unfinished step needs."""
        self._unfinished.pop(step.id, None)
        await self.release_unused()

    async def release_unused(self) -> None:
        """Release holds that no unfinished step needs, in reverse order."""
        needed = {key for keys in self._unfinished.values() for key in keys}
        for key in reversed([key for key in self._held if key not in needed]):
            await self._release(key)

    async def release_all(self) -> None:
        """Release all holds in reverse order."""
        for key in reversed(list(self._held)):
            await self._release(key)

    async def _release(self, key: str) -> None:
        async with self._locks[key]:
            taken = self._held.get(key)
            if taken is None:
                return
            try:
                await self._release_with_retries(_parse_hold(taken), taken)
            except JournalLost:
                raise
            except UnknownKind as error:
                why = f"this version of stockman does not know holds of kind {error.kind!r}"
                self.problems.append(problems.hold_release_failure(key, why))
                return
            except (InvalidValue, StockmanError) as error:
                why = error.problem.why if isinstance(error, StockmanError) else str(error)
                self.problems.append(problems.hold_release_failure(hold_summary(taken), why))
                return
            await self._context.journal.append(EntryType.RELEASED, "", {"key": key})
            self._held.pop(key, None)
            self._taken.discard(key)

    async def _release_with_retries(self, hold: Hold, taken: TakenHold) -> None:
        context = self._context
        for attempt in range(1, _RETRY.attempts + 1):
            try:
                await context.fence.check()
                await hold.give_back(context.ports, taken.prior)
            except (Unreachable, Uncertain) as error:
                if attempt == _RETRY.attempts:
                    raise
                wait = retry_delay(attempt, _RETRY, context.ports.entropy, error)
                await context.ports.clock.sleep(wait)
            else:
                return


def _mapping(hold: Hold) -> dict[str, object]:
    value = to_json(hold)
    return value if isinstance(value, dict) else {}


def _parse_hold(taken: TakenHold) -> Hold:
    return from_json(Hold, dict(taken.hold), "hold")  # type: ignore[type-abstract]  # its kind selects the class


def hold_summary(taken: TakenHold) -> str:
    """Return a summary of a hold; its key if its kind is unknown."""
    try:
        return _parse_hold(taken).summary
    except (InvalidValue, UnknownKind):
        return taken.key
