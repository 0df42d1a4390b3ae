"""The controllers of the lab leave the same objects behind as a real controller manager."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real.kube_api.talking import Step, differences
from tests.real.kube_controllers.playing import (
    JOB_QUIET,
    LONG_QUIET,
    QUIET,
    LabSide,
    Side,
    bind_pods,
    controller_manager,
    end_pods,
    make_ready,
    seen,
    waiting_pods,
)
from tests.real.kube_controllers.topics import (
    BIND,
    FAIL,
    READY,
    SUCCEED,
    TOPICS,
    WAIT,
    WAIT_LONG,
    Word,
)
from tests.real.rendered.api_server import api_server
from tools.pytest_plugin import RealTool

SPACE = "NS"
QUIETS = {WAIT: JOB_QUIET, SUCCEED: JOB_QUIET, FAIL: JOB_QUIET, WAIT_LONG: LONG_QUIET}
Rounds = list[dict[str, tuple[list[Step], str]]]
Seen = list[dict[str, Any]]


def placed(step: Step, space: str) -> Step:
    body = json.loads(json.dumps(step.body).replace(SPACE, space))
    return dataclasses.replace(step, path=step.path.replace(SPACE, space), body=body)


def rounds() -> Rounds:
    """What is done together: of every topic some requests, and a word that ends them."""
    every = {topic.__name__: _parts(topic()) for topic in TOPICS}
    longest = max(len(parts) for parts in every.values())
    return [
        {space: parts[number] for space, parts in every.items() if number < len(parts)}
        for number in range(longest)
    ]


def _parts(words: Iterator[Word]) -> list[tuple[list[Step], str]]:
    found: list[tuple[list[Step], str]] = []
    steps: list[Step] = []
    for word in words:
        if isinstance(word, Step):
            steps.append(word)
        else:
            found.append((steps, word))
            steps = []
    return found


def play(side: Side) -> Seen:
    """Do everything to one cluster; returns what was there after every round."""
    for topic in TOPICS:
        body = {"metadata": {"name": topic.__name__}}
        assert side.ask(Step("POST", "/api/v1/namespaces", body)).status == 201
    side.settle()
    seens = []
    for parts in rounds():
        for space, (steps, _) in parts.items():
            for step in steps:
                told = side.ask(placed(step, space))
                assert told.status < 300, told.content
        side.settle()
        words = {space: word for space, (_, word) in parts.items()}
        _be_kubelet(side, words)
        side.settle(max(QUIETS.get(word, QUIET) for word in words.values()))
        seens.append({space: seen(side, space) for space in words})
    return seens


def _be_kubelet(side: Side, words: dict[str, str]) -> None:
    for space, word in words.items():
        if word == BIND:
            bind_pods(side, space)
        elif word in {SUCCEED, FAIL}:
            end_pods(side, space, "Succeeded" if word == SUCCEED else "Failed")
    waiting = {space: waiting_pods(side, space) for space, word in words.items() if word == READY}
    for number in range(max(map(len, waiting.values()), default=0)):
        for space, names in waiting.items():
            if number < len(names):
                make_ready(side, space, names[number], number)
        side.settle()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> tuple[Seen, Seen]:
    mktemp = tmp_path_factory.mktemp("judge")
    with (
        api_server(mktemp, real_tool, accounts=True) as server,
        controller_manager(mktemp, server, real_tool) as real,
    ):
        real.settle(JOB_QUIET)
        return play(real), play(LabSide())


@pytest.mark.parametrize("topic", [topic.__name__ for topic in TOPICS])
def test_controllers_do_the_same(topic: str, both: tuple[Seen, Seen]) -> None:
    found = {}
    for number, (real, lab) in enumerate(zip(*both, strict=True)):
        if topic in real and real[topic] != lab[topic]:
            found[number] = [
                f"{kind}{line}"
                for kind in real[topic]
                for line in differences(real[topic][kind], lab[topic][kind])
            ]

    assert found == {}
