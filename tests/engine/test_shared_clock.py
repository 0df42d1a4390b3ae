"""One clock for many sleepers: time passes once for all of them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from stockman.engine.shared_clock import SharedClock
from tests.engine.simulated import MORNING, JumpClock, LoopClock, virtually


async def woken(clock: SharedClock, naps: list[float]) -> list[float]:
    """When each sleeper woke, in the order in which they did."""
    secondses: list[float] = []

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        secondses.append(seconds)

    async with asyncio.TaskGroup() as group:
        for seconds in naps:
            group.create_task(sleeper(seconds))
    return secondses


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0, 7.5, 60.0, 900.0]), min_size=1, max_size=8))
def test_sleepers_on_a_simulated_clock_wake_in_order_after_the_longest_time(
    naps: list[float],
) -> None:
    inner = JumpClock()

    order = asyncio.run(woken(SharedClock(inner), naps))

    assert order == sorted(order)
    assert inner.moment - MORNING <= timedelta(seconds=max(naps) + 1)
    assert inner.moment - MORNING >= timedelta(seconds=max(naps) - 0.001)


def test_whoever_comes_later_and_wakes_earlier_is_not_forgotten() -> None:
    async def story() -> list[str]:
        clock = SharedClock(LoopClock())
        woke: list[str] = []

        async def long() -> None:
            await clock.sleep(100)
            woke.append("long")

        async def late() -> None:
            await LoopClock().sleep(10)
            await clock.sleep(5)
            woke.append(f"late after {asyncio.get_running_loop().time():.0f}")

        async with asyncio.TaskGroup() as group:
            group.create_task(long())
            group.create_task(late())
        return woke

    assert virtually(story()) == ["late after 15", "long"]


def test_others_go_on_sleeping_when_whoever_leads_is_cancelled() -> None:
    async def story() -> float:
        clock = SharedClock(LoopClock())
        leader = asyncio.ensure_future(clock.sleep(50))
        follower = asyncio.ensure_future(clock.sleep(20))
        await LoopClock().sleep(5)
        leader.cancel()
        await follower
        return asyncio.get_running_loop().time()

    assert 19.9 <= virtually(story()) <= 21
