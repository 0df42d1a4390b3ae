"""Logs that go on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from stockman_lab.talos.following import followed
from stockman_lab.talos.state import LogLine


class Turning:
    """A log that is another one after every change, until the machine is down."""

    def __init__(self, *logs: list[str]) -> None:
        self._logs: Iterator[list[str]] = iter(logs)
        self.now: list[LogLine] = []
        self.machine = SimpleNamespace(state=SimpleNamespace(boot=1, api="secured"))

    async def changed(self) -> None:
        log = next(self._logs, None)
        if log is None:
            self.machine.state.boot += 1
            return
        self.now = [LogLine(float(text[0]), text) for text in log]


def seen(begin: list[str], *logs: list[str]) -> list[str]:
    turning: Any = Turning(*logs)
    before = [LogLine(float(text[0]), text) for text in begin]

    async def collected() -> list[str]:
        return [text.text async for text in followed(turning, lambda: turning.now, before)]

    return asyncio.run(collected())


def test_only_new_lines_are_told() -> None:
    assert seen(["1a"], ["1a", "2b"], ["1a", "2b"], ["1a", "2b", "2c"]) == ["2b", "2c"]


def test_lines_that_fell_out_of_the_log_do_not_bring_others_back() -> None:
    assert seen(["1a", "2b"], ["2b", "3c"], ["4d", "5e"]) == ["3c", "4d", "5e"]


def test_an_empty_log_begins_with_its_first_line() -> None:
    assert seen([], [], ["1a"]) == ["1a"]
