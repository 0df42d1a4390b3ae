"""One answer for all who ask at once."""

from __future__ import annotations

import asyncio

import pytest

from stockman.proxmox.calls.base import SharedCall


class Asked:
    """A question that is answered when somebody lets it be."""

    def __init__(self) -> None:
        self.times = 0
        self.may_answer = asyncio.Event()

    async def __call__(self) -> int:
        self.times += 1
        number = self.times
        await self.may_answer.wait()
        return number


async def _others_go_on() -> None:
    ready = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(ready.set_result, None)
    await ready


def test_who_asks_while_a_question_is_on_its_way_gets_its_answer() -> None:
    asyncio.run(_who_asks_while_a_question_is_on_its_way_gets_its_answer())


async def _who_asks_while_a_question_is_on_its_way_gets_its_answer() -> None:
    question, one = Asked(), SharedCall[int]()

    async with asyncio.TaskGroup() as group:
        both = [group.create_task(one.of(question)) for _ in range(2)]
        await _others_go_on()
        question.may_answer.set()

    assert [task.result() for task in both] == [1, 1]


def test_an_answer_is_never_kept() -> None:
    asyncio.run(_an_answer_is_never_kept())


async def _an_answer_is_never_kept() -> None:
    question, one = Asked(), SharedCall[int]()
    question.may_answer.set()

    assert [await one.of(question), await one.of(question)] == [1, 2]


def test_whoever_gives_up_leaves_the_answer_to_the_others() -> None:
    asyncio.run(_whoever_gives_up_leaves_the_answer_to_the_others())


async def _whoever_gives_up_leaves_the_answer_to_the_others() -> None:
    question, one = Asked(), SharedCall[int]()

    async with asyncio.TaskGroup() as group:
        first = group.create_task(one.of(question))
        second = group.create_task(one.of(question))
        await _others_go_on()
        first.cancel()
        question.may_answer.set()

    assert second.result() == 1


def test_all_learn_that_there_is_no_answer() -> None:
    asyncio.run(_all_learn_that_there_is_no_answer())


async def _all_learn_that_there_is_no_answer() -> None:
    one: SharedCall[int] = SharedCall()

    async def no() -> int:
        raise OSError("nobody is there")

    answers = await asyncio.gather(one.of(no), one.of(no), return_exceptions=True)

    assert [str(answer) for answer in answers] == ["nobody is there"] * 2
    with pytest.raises(OSError, match="nobody"):
        await one.of(no)
